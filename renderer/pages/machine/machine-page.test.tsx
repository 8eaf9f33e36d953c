// @vitest-environment jsdom
import { fireEvent, screen, waitFor, within } from '@testing-library/react';
import { describe, expect, it } from 'vitest';
import { formatSize } from '../../../core/formats/sizes.js';
import { findViolations } from '../../../test/harness/axe.js';
import { FakeHost } from '../../../test/harness/fake-host.js';
import { fakeLab } from '../../../test/harness/fake-lab.js';
import { renderInWindow } from '../../../test/harness/render-window.js';
import { MachinePage } from './machine-page.js';

function lab(): FakeHost {
  const host = new FakeHost();
  host.machines = fakeLab(host.nowMs);
  return host;
}

describe('Machine page', () => {
  it('draws the load, asks for more of the past, and stands still when paused', async () => {
    const { host, view } = renderInWindow(<MachinePage machineId="h100-1" tab={null} />, { host: lab() });
    const use = await screen.findByRole('img', { name: /^GPU use\. GPU 0: .* now, at most .*GPU 7/ });
    expect(use).toBeTruthy();
    expect(screen.getByRole('img', { name: /^Processors\. \d+% now, at most \d+%\.$/ })).toBeTruthy();
    expect(await findViolations(view.container)).toEqual([]);
    const asked = () => host.callsOf('machine.history');
    expect(asked()[0]?.sinceMs).toBeGreaterThan(Date.now() - 3_600_000);
    fireEvent.click(screen.getByRole('radio', { name: '7 days' }));
    await waitFor(() => expect(asked().at(-1)?.sinceMs).toBeLessThan(Date.now() - 500_000_000));
    fireEvent.keyDown(document.body, { key: 'p' });
    expect((await screen.findByRole('button', { name: 'Go on' })).getAttribute('aria-pressed')).toBe('true');
    expect(screen.getByRole('img', { name: /^Processors/ })).toBeTruthy();
  });

  it('lists every value of a card, why one is not known, and whose processes are on it', async () => {
    const { view } = renderInWindow(<MachinePage machineId="h100-1" tab="devices" />, { host: lab() });
    const busy = await screen.findByRole('region', { name: 'GPU 2' });
    expect(within(busy).getByText('31 GiB of 80 GiB')).toBeTruthy();
    expect(within(busy).getByText('512 W of 700 W')).toBeTruthy();
    const processes = within(busy).getByRole('table', { name: 'Processes on GPU 2' });
    expect(processes.textContent).toContain('bert');
    expect(processes.textContent).toContain('Draws the desktop');
    const sick = screen.getByRole('region', { name: 'GPU 3' });
    expect(within(sick).getAllByText('The tool answers ERR! about this card.').length).toBeGreaterThan(2);
    expect(sick.textContent).toContain('Xid 79');
    const computer = screen.getByRole('region', { name: 'Computer' });
    expect(computer.textContent).toContain('27.3.1, containers can have GPUs');
    expect(computer.textContent).toContain('42 ms behind');
    expect(view.container.textContent).not.toMatch(/undefined|NaN/);
    expect(await findViolations(view.container)).toEqual([]);
  });

  it('says what jobs of other controllers have of the computer', async () => {
    const host = lab();
    host.machines = host.machines.map((machine) => ({
      ...machine,
      others: { cpuMillicores: 1500, memoryBytes: 0 },
    }));
    renderInWindow(<MachinePage machineId="h100-1" tab="devices" />, { host });
    const computer = await screen.findByRole('region', { name: 'Computer' });
    expect(computer.textContent).toMatch(/cores free for jobs, 1\.5 with jobs of other controllers/);
    expect(computer.textContent.split('other controllers').length).toBe(2);
  });

  it('says of a machine that does not answer what it has, and nothing of what was free of it', async () => {
    const host = lab();
    const [one] = host.machines;
    if (one === undefined) throw new Error('there is no machine');
    const contact = { state: 'OFF', sinceMs: 1, lastContactMs: null, message: 'Off.' } as const;
    const off = { ...one, contact, memoryAvailableBytes: 0 };
    const unseen = { cpuMillicoresTotal: 0, cpuMillicoresFree: 0, memoryTotalBytes: 0 };
    host.machines = [off, { ...off, ...unseen, id: 'new-1' }];
    const { view } = renderInWindow(<MachinePage machineId={one.id} tab="devices" />, { host });
    const valueOf = async (name: string) => {
      const computer = await screen.findByRole('region', { name: 'Computer' });
      const term = within(computer).getByText(name, { selector: 'dt' });
      return term.parentElement?.querySelector('dd')?.textContent;
    };
    expect(await valueOf('Processors')).toBe(`${one.cpuMillicoresTotal / 1000} cores`);
    expect(await valueOf('Memory')).toBe(formatSize(one.memoryTotalBytes));
    view.unmount();
    renderInWindow(<MachinePage machineId="new-1" tab="devices" />, { host });
    const unknown = '–Not known: the machine does not answer.';
    expect([await valueOf('Processors'), await valueOf('Memory')]).toEqual([unknown, unknown]);
  });

  it('sets and removes attributes and taints', async () => {
    const { host } = renderInWindow(<MachinePage machineId="h100-1" tab="devices" />, { host: lab() });
    const field = await screen.findByRole('textbox', { name: 'New attribute, as name=value' });
    fireEvent.change(field, { target: { value: 'rack' } });
    fireEvent.click(screen.getByRole('button', { name: 'Add attribute' }));
    await screen.findByText('rack: expected a name, = and a value.');
    fireEvent.change(field, { target: { value: 'rack = 7' } });
    fireEvent.click(screen.getByRole('button', { name: 'Add attribute' }));
    await screen.findByText('rack=7');
    // What it says of itself cannot be taken away.
    expect(screen.getByText('device-type=gpu')).toBeTruthy();
    expect(screen.queryByRole('button', { name: 'Remove device-type=gpu' })).toBeNull();
    expect(screen.getByRole('button', { name: 'Remove rack=7' })).toBeTruthy();
    fireEvent.click(screen.getByRole('button', { name: 'Remove team=vision' }));
    await waitFor(() => expect(screen.queryByText('team=vision')).toBeNull());
    expect(host.callsOf('machine.change').map(({ change }) => change)).toEqual([
      { kind: 'attributes', attributes: { rack: '7' } },
      { kind: 'taints', taints: [] },
    ]);
  });

  it('goes through its parts by keys: the tasks there, then what happened to it', async () => {
    const host = lab();
    host.lab.audit = [
      {
        id: 7,
        atMs: host.nowMs,
        actor: 'anna',
        action: 'worker_changed',
        entity: 'machine/ws-1',
        detail: { before: { scheduling: 'OPEN' }, after: { scheduling: 'CORDONED' } },
      },
      { id: 6, atMs: host.nowMs, actor: 'anna', action: 'job_submitted', entity: '/anna/x', detail: {} },
    ];
    const { view } = renderInWindow(<MachinePage machineId="ws-1" tab="tasks" />, { host });
    const tasks = await screen.findByRole('table', { name: 'Tasks here' });
    expect(within(tasks).getByRole('link', { name: 'eval-mmlu' }).getAttribute('href')).toContain('#/job/');
    expect(await findViolations(view.container)).toEqual([]);
    fireEvent.keyDown(document.body, { key: '4' });
    expect(window.location.hash).toBe('#/machine/ws-1?tab=events');
    view.unmount();
    renderInWindow(<MachinePage machineId="ws-1" tab="events" />, { host });
    await screen.findByText('Machine changed');
    expect(screen.getByText('state takes tasks becomes cordoned')).toBeTruthy();
    expect(screen.queryByText('Job submitted')).toBeNull();
  });

  it('leads to load and tasks and drains by keys', async () => {
    const { host } = renderInWindow(<MachinePage machineId="ws-1" tab="devices" />, { host: lab() });
    await screen.findByRole('tab', { name: 'Load' });
    fireEvent.keyDown(document.body, { key: '3' });
    expect(window.location.hash).toBe('#/machine/ws-1?tab=tasks');
    fireEvent.keyDown(document.body, { key: '1' });
    expect(window.location.hash).toBe('#/machine/ws-1');
    fireEvent.keyDown(document.body, { key: 'd' });
    const dialog = await screen.findByRole('dialog', { name: /ws-1/ });
    fireEvent.click(within(dialog).getByRole('button', { name: 'Drain ws-1' }));
    await waitFor(() =>
      expect(host.callsOf('machine.change')).toMatchObject([
        { machineId: 'ws-1', change: { kind: 'drain' } },
      ]),
    );
  });

  it('says when there is no such machine, and what is wrong with one that is lost', async () => {
    const { view } = renderInWindow(<MachinePage machineId="ws-9" tab={null} />, { host: lab() });
    await screen.findByText('There is no machine ws-9. It may have been removed.');
    view.unmount();
    renderInWindow(<MachinePage machineId="ws-3" tab="devices" />, { host: lab() });
    await screen.findByText(/Nothing answers at ws-3\.lab/);
    fireEvent.click(screen.getByRole('button', { name: 'Wake' }));
    await screen.findByText('Connecting');
  });
});
