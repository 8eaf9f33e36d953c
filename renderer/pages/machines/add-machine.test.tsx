// @vitest-environment jsdom
import { fireEvent, screen, waitFor, within } from '@testing-library/react';
import { describe, expect, it } from 'vitest';
import { findViolations } from '../../../test/harness/axe.js';
import { FakeHost } from '../../../test/harness/fake-host.js';
import { fakeChecks } from '../../../test/harness/fake-machines.js';
import { renderInWindow } from '../../../test/harness/render-window.js';
import { nameFor } from './add-machine.js';
import { MachinesPage } from './machines-page.js';

const fingerprint = 'SHA256:p2QAMXNIC1TJYWeIOttrVc98/R1BUFWu3/LiyKgUfQM';

async function open(host: FakeHost): Promise<HTMLElement> {
  renderInWindow(<MachinesPage />, { host });
  await screen.findByRole('listitem', { name: 'ws-1' });
  fireEvent.keyDown(document.body, { key: 'a' });
  return screen.findByRole('dialog', { name: 'Add a workstation' });
}

function check(dialog: HTMLElement, address: string): void {
  const field = within(dialog).getByRole('textbox', { name: 'Address' });
  fireEvent.change(field, { target: { value: address } });
  const form = field.closest('form');
  if (form !== null) fireEvent.submit(form);
}

describe('Add a workstation', () => {
  it('looks at it step by step, proposes a name, and adds it', async () => {
    const host = new FakeHost();
    const dialog = await open(host);
    check(dialog, 'ann@ws-9.lab:2222');
    const steps = await within(dialog).findByRole('list', { name: 'What was looked at' });
    expect(within(steps).getAllByRole('listitem')).toHaveLength(9);
    expect(steps.textContent).toContain('Install Docker on it if containers are wanted.');
    expect(await findViolations(steps)).toEqual([]);
    const name = within(dialog).getByRole<HTMLInputElement>('textbox', { name: 'Name' });
    await waitFor(() => expect(document.activeElement).toBe(name));
    expect(name.value).toBe('ws-9');
    fireEvent.click(within(dialog).getByRole('button', { name: 'Add ws-9' }));
    await screen.findByRole('listitem', { name: 'ws-9' });
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
    expect(host.callsOf('machine.add')).toMatchObject([
      { name: 'ws-9', address: 'ann@ws-9.lab:2222', acceptKey: null },
    ]);
  });

  it('shows an unknown host key and goes on only after it was compared by hand', async () => {
    const host = new FakeHost();
    host.lab.unknownKeys.set('ws-9', fingerprint);
    const dialog = await open(host);
    check(dialog, 'ws-9');
    await within(dialog).findByText(fingerprint);
    expect(within(dialog).queryByRole('textbox', { name: 'Name' })).toBeNull();
    const accept = within(dialog).getByRole('button', { name: 'Accept the key and check again' });
    expect(accept.hasAttribute('disabled')).toBe(true);
    const box = within(dialog).getByRole('checkbox', { name: 'I compared it: this is the key of ws-9' });
    await waitFor(() => expect(document.activeElement).toBe(box));
    fireEvent.click(box);
    fireEvent.click(accept);
    await within(dialog).findByRole('textbox', { name: 'Name' });
    expect(host.callsOf('machine.check').map(({ acceptKey }) => acceptKey)).toEqual([null, fingerprint]);
    fireEvent.click(within(dialog).getByRole('button', { name: 'Add ws-9' }));
    await screen.findByRole('listitem', { name: 'ws-9' });
    expect(host.callsOf('machine.add')[0]?.acceptKey).toBe(fingerprint);
  });

  it('says where a key is accepted that it is not the one known, though the steps may be out of sight there', async () => {
    const host = new FakeHost();
    const message = 'The host key of ws-9 has changed.';
    const advice = 'Ask who administers it why.';
    host.lab.checks.set('ws-9', [
      ...fakeChecks('ws-9').slice(0, 1),
      { step: 'host-key', outcome: 'FAILED', message, advice, fingerprint },
    ]);
    const dialog = await open(host);
    check(dialog, 'ws-9');
    const box = await within(dialog).findByRole('checkbox', { name: /^I compared it/ });
    expect(box.closest('form')?.textContent).toContain(message);
    expect(box.closest('form')?.textContent).toContain(advice);
    expect(host.callsOf('machine.check')).toHaveLength(1);
    expect(within(dialog).getByRole('button', { name: 'Add' }).hasAttribute('disabled')).toBe(true);
  });

  it('says what to do about each failure and offers no name while it cannot be added', async () => {
    const host = new FakeHost();
    const checks = fakeChecks('ws-9').map((item) =>
      item.step === 'login'
        ? {
            ...item,
            outcome: 'FAILED' as const,
            message: 'ws-9 refused every key.',
            advice: 'Type ssh-copy-id ws-9.',
          }
        : item,
    );
    host.lab.checks.set('ws-9', checks);
    const dialog = await open(host);
    check(dialog, 'ws-9');
    await within(dialog).findByText('Type ssh-copy-id ws-9.');
    expect(within(dialog).getByText(/^It cannot be added yet/)).toBeTruthy();
    expect(within(dialog).queryByRole('textbox', { name: 'Name' })).toBeNull();
  });

  it('refuses a wrong address and a name that is taken beside their fields', async () => {
    const host = new FakeHost();
    const dialog = await open(host);
    check(dialog, '-oProxyCommand=x');
    await within(dialog).findByText(/^-oProxyCommand=x: expected an address/);
    expect(host.callsOf('machine.check')).toEqual([]);
    check(dialog, 'ws-1');
    await within(dialog).findByText('There is a machine ws-1 already.');
    expect(within(dialog).getByRole('button', { name: /^Add/ }).hasAttribute('disabled')).toBe(true);
  });

  it('shows what was found of the address that stands there, in whatever order the answers come', async () => {
    const host = new FakeHost();
    const dialog = await open(host);
    host.hold();
    check(dialog, 'ws-8');
    await waitFor(() => expect(host.held).toHaveLength(1));
    check(dialog, 'ws-9');
    await waitFor(() => expect(host.held).toHaveLength(2));
    host.held?.reverse();
    host.release();
    const name = await within(dialog).findByRole<HTMLInputElement>('textbox', { name: 'Name' });
    await waitFor(() => expect(document.activeElement).toBe(name));
    fireEvent.click(within(dialog).getByRole('button', { name: 'Add ws-9' }));
    await screen.findByRole('listitem', { name: 'ws-9' });
    expect(host.callsOf('machine.add')).toMatchObject([{ name: 'ws-9', address: 'ws-9' }]);
  });

  it('proposes another name for another address, but keeps one that was typed', async () => {
    const host = new FakeHost();
    const dialog = await open(host);
    const name = () => within(dialog).findByRole<HTMLInputElement>('textbox', { name: 'Name' });
    check(dialog, 'ws-8');
    expect((await name()).value).toBe('ws-8');
    check(dialog, 'ws-9');
    expect((await name()).value).toBe('ws-9');
    fireEvent.change(await name(), { target: { value: 'big-one' } });
    check(dialog, 'ws-7');
    expect((await name()).value).toBe('big-one');
  });

  it('proposes the first part of the host’s name', () => {
    expect(nameFor('ssh://ann@ws-2.lab:2222')).toBe('ws-2');
    expect(nameFor('10.0.0.7')).toBe('10.0.0.7');
    expect(nameFor('[fe80::1]')).toBe('');
  });
});
