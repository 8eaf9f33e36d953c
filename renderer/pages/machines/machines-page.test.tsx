// @vitest-environment jsdom
import { fireEvent, screen, waitFor, within } from '@testing-library/react';
import { beforeEach, describe, expect, it } from 'vitest';
import { refusal } from '../../../core/contract/errors.js';
import { findViolations } from '../../../test/harness/axe.js';
import { fakeAttemptUid } from '../../../test/harness/fake-data.js';
import { FakeHost } from '../../../test/harness/fake-host.js';
import { fakeLab, manyMachines } from '../../../test/harness/fake-lab.js';
import { renderInWindow } from '../../../test/harness/render-window.js';
import { MachinesPage } from './machines-page.js';

const press = (key: string) => fireEvent.keyDown(document.activeElement ?? document.body, { key });
const card = (name: string) => screen.findByRole('listitem', { name });

function lab(): FakeHost {
  const host = new FakeHost();
  host.machines = fakeLab(host.nowMs);
  return host;
}

async function choose(name: string, item: string): Promise<void> {
  fireEvent.click(await screen.findByRole('button', { name: `Actions on ${name}` }));
  fireEvent.click(await screen.findByRole('menuitem', { name: item }));
}

beforeEach(() => {
  localStorage.clear();
});

describe('Machines page', () => {
  it('shows each machine as it is, each card with its state and who uses it', async () => {
    const { host, view } = renderInWindow(<MachinesPage />, { host: lab() });
    const h100 = await card('h100-1');
    expect(screen.getByText('3 of 5 machines answer')).toBeTruthy();
    const tile = (index: number) =>
      within(h100).getByRole('listitem', { name: new RegExp(`^GPU ${index},`) });
    await waitFor(() => expect(tile(0).textContent).toContain('anna: lr-sweep'));
    expect(within(tile(0)).getByRole('link').getAttribute('href')).toBe('#/job/%2Fanna%2Flr-sweep');
    expect(tile(0).textContent).toContain('Held by a job');
    expect(tile(1).textContent).toContain('Free');
    expect(tile(2).textContent).toContain('Used by others');
    expect(tile(2).textContent).toContain('bert computes on it');
    expect(tile(3).textContent).toContain('Sick');
    expect(tile(4).textContent).toContain('Silent');
    expect(tile(6).textContent).toContain('MIG 6');
    const lost = await card('ws-2');
    expect(lost.textContent).toContain('Unreachable');
    expect(lost.textContent).toContain('No route to ws-2.lab');
    expect(within(lost).queryByRole('meter')).toBeNull();
    expect((await card('ws-3')).textContent).toContain('Cordoned');
    expect((await card('spark')).textContent).toContain('Draining: what runs is requeued in 25m');
    expect(view.container.textContent).not.toMatch(/undefined|NaN|null/);
    expect(await findViolations(view.container)).toEqual([]);

    host.machines = host.machines.map((machine) => ({ ...machine, cpuBusyPercent: 99 }));
    host.publishOverview();
    await within(h100).findByText('99%');
  });

  it('shows a machine whose login waits for an answer as that, lost or not', async () => {
    const host = lab();
    const message = 'ws-2 asks for something, and nobody is there to answer.';
    host.machines = host.machines.map((machine) =>
      machine.id === 'ws-2'
        ? { ...machine, contact: { ...machine.contact, state: 'ANSWER_NEEDED', message } }
        : machine,
    );
    renderInWindow(<MachinesPage />, { host });
    const waits = await card('ws-2');
    expect(waits.textContent).toContain('Waits for your answer');
    expect(waits.textContent).toContain(message);
    expect(waits.textContent).not.toMatch(/Unreachable|Lost/);
    expect(within(waits).queryByRole('meter')).toBeNull();
  });

  it('says on one line of a card what jobs of other controllers have of the machine', async () => {
    const host = lab();
    host.machines = host.machines.map((machine) => ({
      ...machine,
      others: { cpuMillicores: machine.id === 'spark' ? 0 : 1500, memoryBytes: 2 ** 31 },
    }));
    renderInWindow(<MachinesPage />, { host });
    within(await card('h100-1')).getByText('1.5 cores and 2 GiB of memory with jobs of other controllers');
    within(await card('spark')).getByText('2 GiB of memory with jobs of other controllers');
  });

  it('names each task that shares a card on a line of its own', async () => {
    const host = lab();
    host.machines = host.machines.map((machine) =>
      machine.id !== 'h100-1'
        ? machine
        : {
            ...machine,
            gpus: machine.gpus.map((gpu) =>
              gpu.index === 0 ? { ...gpu, sharedWith: [fakeAttemptUid('/anna/eval-mmlu/0', 0)] } : gpu,
            ),
          },
    );
    renderInWindow(<MachinesPage />, { host });
    const tile = within(await card('h100-1')).getByRole('listitem', { name: /^GPU 0,/ });
    await waitFor(() => expect(within(tile).getAllByRole('link')).toHaveLength(2));
    const [first, second] = within(tile).getAllByRole('link');
    expect([first?.textContent, second?.textContent]).toEqual(['anna: lr-sweep', 'anna: eval-mmlu']);
    expect(first?.parentElement).not.toBe(second?.parentElement);
  });

  it('cordons and takes tasks again, in the menu and by key', async () => {
    const { host } = renderInWindow(<MachinesPage />, { host: lab() });
    await choose('ws-1', 'Cordon');
    await within(await card('ws-1')).findByText('Cordoned');
    screen.getByRole('link', { name: 'ws-1' }).focus();
    press('c');
    await waitFor(() =>
      expect(screen.getByRole('listitem', { name: 'ws-1' }).textContent).not.toContain('Cordoned'),
    );
    press('j');
    press('k');
    expect(document.activeElement?.textContent).toBe('ws-1');
    press('j');
    expect(document.activeElement?.textContent).toBe('h100-1');
    press('c');
    await within(await card('h100-1')).findByText('Cordoned');
    expect(host.callsOf('machine.change').map(({ machineId, change }) => [machineId, change.kind])).toEqual([
      ['ws-1', 'cordon'],
      ['ws-1', 'uncordon'],
      ['h100-1', 'cordon'],
    ]);
  });

  it('drains after a choice: let run, or requeue after a time that must be one', async () => {
    const { host } = renderInWindow(<MachinesPage />, { host: lab() });
    await card('ws-1');
    press('j');
    press('d');
    const dialog = await screen.findByRole('dialog', { name: 'Drain ws-1?' });
    expect(dialog.textContent).toContain('6 tasks run there now.');
    const after = within(dialog).getByRole('textbox', { name: 'After how long it is requeued' });
    fireEvent.focus(after);
    fireEvent.change(after, { target: { value: 'soon' } });
    fireEvent.click(within(dialog).getByRole('button', { name: 'Drain ws-1' }));
    await within(dialog).findByText(/^soon: expected a duration/);
    expect(host.callsOf('machine.change')).toEqual([]);
    fireEvent.change(after, { target: { value: '15m' } });
    fireEvent.click(within(dialog).getByRole('button', { name: 'Drain ws-1' }));
    await within(await card('ws-1')).findByText(/^Draining/);
    expect(host.callsOf('machine.change')).toMatchObject([
      { machineId: 'ws-1', change: { kind: 'drain', deadlineMs: 900_000 } },
    ]);
  });

  it('asks before it removes, names what is lost, and never offers it for its own machine', async () => {
    const { host } = renderInWindow(<MachinesPage />, { host: lab() });
    host.lab.notStopped = 'ws-2 is not in contact: /ann/a/0.';
    await choose('ws-2', 'Remove');
    const dialog = await screen.findByRole('dialog', { name: 'Remove ws-2?' });
    expect(dialog.textContent).toContain('2 tasks run there. They are stopped, count as lost');
    fireEvent.click(within(dialog).getByRole('button', { name: 'Remove and lose 2 tasks' }));
    await waitFor(() => expect(screen.queryByRole('listitem', { name: 'ws-2' })).toBeNull());
    expect(host.callsOf('machine.remove')).toMatchObject([{ machineId: 'ws-2', force: true }]);
    await screen.findByText('ws-2 is not in contact: /ann/a/0.');
    fireEvent.click(screen.getByRole('button', { name: 'Actions on ws-1' }));
    const remove = await screen.findByRole('menuitem', { name: 'Remove' });
    expect(remove.hasAttribute('disabled') || remove.dataset['disabled'] !== undefined).toBe(true);
  });

  it('wakes what is off, releases a sick card, and shows a refusal where it happened', async () => {
    const { host } = renderInWindow(<MachinesPage />, { host: lab() });
    await choose('ws-3', 'Wake');
    await within(await card('ws-3')).findByText('Connecting');
    expect(host.lab.woken).toEqual(['ws-3']);
    host.refuseNext('machine.change', refusal('FAILED_PRECONDITION', 'The card still falls off the bus.'));
    fireEvent.click(screen.getByRole('button', { name: 'Release GPU 3' }));
    const alert = await within(await card('h100-1')).findByRole('alert');
    expect(alert.textContent).toBe('The card still falls off the bus.');
    fireEvent.click(screen.getByRole('button', { name: 'Release GPU 3' }));
    await waitFor(() => expect(screen.queryByRole('button', { name: 'Release GPU 3' })).toBeNull());
    expect(within(await card('h100-1')).queryByRole('alert')).toBeNull();
  });

  it('wakes and removes the machine that has the focus by key, and only where it can be', async () => {
    const { host } = renderInWindow(<MachinesPage />, { host: lab() });
    await card('ws-3');
    const focus = (name: string) => {
      screen.getByRole('link', { name }).focus();
    };
    // On and connected; this controller's own.
    focus('ws-1');
    press('w');
    press('Delete');
    focus('ws-3');
    press('w');
    await within(await card('ws-3')).findByText('Connecting');
    expect(host.callsOf('machine.wake')).toMatchObject([{ machineId: 'ws-3' }]);
    focus('ws-2');
    press('Delete');
    const dialog = await screen.findByRole('dialog');
    expect(dialog.textContent).toContain('Remove ws-2?');
    fireEvent.click(within(dialog).getByRole('button', { name: 'Remove and lose 2 tasks' }));
    await waitFor(() => expect(screen.queryByRole('listitem', { name: 'ws-2' })).toBeNull());
    expect(host.callsOf('machine.remove')).toMatchObject([{ machineId: 'ws-2', force: true }]);
  });

  it('is a table by key, and for many machines; the view that was chosen is kept', async () => {
    const host = new FakeHost();
    host.machines = manyMachines(host.nowMs, 20);
    const { view } = renderInWindow(<MachinesPage />, { host });
    const table = await screen.findByRole('table', { name: 'Machines' });
    expect(within(table).getAllByRole('row')).toHaveLength(21);
    expect(await findViolations(view.container)).toEqual([]);
    press('v');
    await card('ws-01');
    expect(screen.queryByRole('table')).toBeNull();
    expect(localStorage.getItem('iris.machines.view')).toBe('cards');
  });

  it('shows the layout while it loads, teaches with one machine, and says what failed', async () => {
    const host = new FakeHost();
    host.hold();
    renderInWindow(<MachinesPage />, { host });
    expect(screen.getAllByRole('status')[0]?.textContent).toBe('Loading');
    host.release();
    await screen.findByText('Only this machine so far');
  });
});
