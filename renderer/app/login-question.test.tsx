// @vitest-environment jsdom
import { act, fireEvent, screen, waitFor, within } from '@testing-library/react';
import { expect, it, vi } from 'vitest';
import { refusal } from '../../core/contract/errors.js';
import type { Question } from '../../core/contract/questions.js';
import { findViolations } from '../../test/harness/axe.js';
import { FakeHost } from '../../test/harness/fake-host.js';
import { askFake } from '../../test/harness/fake-machines.js';
import { renderInWindow } from '../../test/harness/render-window.js';
import { Dialog } from '../components/dialog.js';
import { LoginQuestion } from './login-question.js';
import { openPalette, Palette } from './palette.js';

const passphrase: Question = {
  id: 'q1',
  machine: 'two',
  address: 'ssh://ws-2',
  kind: 'passphrase',
  subject: '/home/ann/.ssh/id_ed25519',
  text: "Enter passphrase for key '/home/ann/.ssh/id_ed25519':",
  mayKeep: true,
  wrongBefore: false,
  expiresAtMs: 100_000,
};

async function open(question: Question): Promise<{ host: FakeHost; dialog: HTMLElement }> {
  const host = new FakeHost();
  host.lab.question = question;
  renderInWindow(<LoginQuestion />, { host });
  return { host, dialog: await screen.findByRole('dialog') };
}

const ask = (host: FakeHost, question: Question | null) => {
  act(() => {
    askFake(host, question);
  });
};

it('names machine and key, hides what is typed, and keeps it only when told', async () => {
  const { host, dialog } = await open(passphrase);
  expect(dialog.textContent).toContain('Log in to two');
  expect(dialog.textContent).toContain('/home/ann/.ssh/id_ed25519 is used to log in to two (ssh://ws-2)');
  expect(within(dialog).queryByRole('alert')).toBeNull();
  expect(await findViolations(dialog)).toEqual([]);
  const field = within(dialog).getByLabelText<HTMLInputElement>('Passphrase');
  expect(field.type).toBe('password');
  expect(within(dialog).getByRole<HTMLInputElement>('checkbox').checked).toBe(false);
  fireEvent.change(field, { target: { value: 'open sesame' } });
  fireEvent.click(within(dialog).getByRole('button', { name: 'Log in' }));
  await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
  expect(host.callsOf('question.answer')).toEqual([{ questionId: 'q1', answer: 'open sesame', keep: false }]);
  ask(host, { ...passphrase, id: 'q2', wrongBefore: true });
  const again = await screen.findByRole('dialog');
  expect(within(again).getByRole('alert').textContent).toBe('That was not right.');
  expect(within(again).getByLabelText<HTMLInputElement>('Passphrase').value).toBe('');
  fireEvent.click(within(again).getByRole('checkbox'));
  fireEvent.change(within(again).getByLabelText('Passphrase'), { target: { value: 'right' } });
  fireEvent.click(within(again).getByRole('button', { name: 'Log in' }));
  await waitFor(() => expect(host.callsOf('question.answer')).toHaveLength(2));
  expect(host.callsOf('question.answer').at(-1)).toEqual({ questionId: 'q2', answer: 'right', keep: true });
});

it('Cancel answers nothing, and a question that is over goes by itself', async () => {
  const { host, dialog } = await open({
    ...passphrase,
    kind: 'code',
    mayKeep: false,
    text: 'One-time code:',
  });
  expect(dialog.textContent).toContain('two (ssh://ws-2) itself asks:One-time code:');
  expect(within(dialog).queryByRole('checkbox')).toBeNull();
  fireEvent.click(within(dialog).getByRole('button', { name: 'Cancel' }));
  await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
  expect(host.callsOf('question.answer')).toEqual([{ questionId: 'q1', answer: null, keep: false }]);
  ask(host, { ...passphrase, id: 'q2' });
  await screen.findByRole('dialog');
  ask(host, null);
  await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
  expect(host.callsOf('question.answer')).toHaveLength(1);
});

it('asks again what was answered in vain', async () => {
  const { host, dialog } = await open(passphrase);
  host.refuseNext('question.answer', refusal('UNAVAILABLE', 'The controller is not reachable.'));
  fireEvent.change(within(dialog).getByLabelText('Passphrase'), { target: { value: 'open sesame' } });
  fireEvent.click(within(dialog).getByRole('button', { name: 'Log in' }));
  await screen.findByText('The controller is not reachable.');
  const again = await screen.findByRole('dialog');
  expect(within(again).getByLabelText<HTMLInputElement>('Passphrase').value).toBe('');
});

/** How far in front of the page a dialog lies: `calc(200 + 1 + 1)`. */
const layerOf = (dialog: HTMLElement): number => {
  const style = dialog.closest<HTMLElement>('[style*="--mb-z-index"]')?.style;
  return (style?.getPropertyValue('--mb-z-index').match(/\d+/g) ?? []).reduce(
    (sum, part) => sum + Number(part),
    0,
  );
};

it('lies over a dialog that was open before, to which Esc does nothing meanwhile', async () => {
  const host = new FakeHost();
  const closed = vi.fn();
  renderInWindow(
    <>
      <LoginQuestion />
      <Dialog opened onClose={closed} title="Add a workstation">
        <p>Looking</p>
      </Dialog>
    </>,
    { host },
  );
  const below = await screen.findByRole('dialog', { name: 'Add a workstation' });
  ask(host, passphrase);
  const question = await screen.findByRole('dialog', { name: 'Log in to two' });
  await waitFor(() => expect(layerOf(question)).toBeGreaterThan(layerOf(below)));
  await waitFor(() => expect(document.activeElement).toBe(within(question).getByLabelText('Passphrase')));
  fireEvent.keyDown(document.activeElement ?? document.body, { key: 'Escape' });
  await waitFor(() => expect(screen.queryByRole('dialog', { name: 'Log in to two' })).toBeNull());
  expect(closed).not.toHaveBeenCalled();
  fireEvent.keyDown(document.activeElement ?? document.body, { key: 'Escape' });
  expect(closed).toHaveBeenCalledTimes(1);
});

it('leaves the command palette that was open before as it was when Esc cancels the login', async () => {
  const host = new FakeHost();
  renderInWindow(
    <>
      <LoginQuestion />
      <Palette onHelp={vi.fn()} />
    </>,
    { host },
  );
  act(openPalette);
  await screen.findByRole('dialog', { name: 'Command palette' });
  fireEvent.change(screen.getByRole('combobox'), { target: { value: 'theme' } });
  ask(host, passphrase);
  const question = await screen.findByRole('dialog', { name: 'Log in to two' });
  await waitFor(() => expect(document.activeElement).toBe(within(question).getByLabelText('Passphrase')));
  fireEvent.keyDown(document.activeElement ?? document.body, { key: 'Escape' });
  await waitFor(() => expect(screen.queryByRole('dialog', { name: 'Log in to two' })).toBeNull());
  expect(host.callsOf('question.answer')).toHaveLength(1);
  await waitFor(() => expect(document.activeElement).toBe(screen.getByRole('combobox')));
  expect(screen.getByRole<HTMLInputElement>('combobox').value).toBe('theme');
});

it('keeps its question while Esc closes the command palette that was opened over it', async () => {
  const host = new FakeHost();
  host.lab.question = passphrase;
  renderInWindow(
    <>
      <LoginQuestion />
      <Palette onHelp={vi.fn()} />
    </>,
    { host },
  );
  await screen.findByRole('dialog', { name: 'Log in to two' });
  act(openPalette);
  const field = await screen.findByRole('combobox');
  await waitFor(() => expect(document.activeElement).toBe(field));
  fireEvent.keyDown(field, { key: 'Escape' });
  await waitFor(() => expect(screen.queryByRole('combobox')).toBeNull());
  expect(host.callsOf('question.answer')).toEqual([]);
  const question = await screen.findByRole('dialog', { name: 'Log in to two' });
  await waitFor(() => expect(question.contains(document.activeElement)).toBe(true));
});
