// @vitest-environment jsdom
import { fireEvent, screen, waitFor, within } from '@testing-library/react';
import { describe, expect, it } from 'vitest';
import { findViolations } from '../../../test/harness/axe.js';
import { FakeHost } from '../../../test/harness/fake-host.js';
import { fakeLab } from '../../../test/harness/fake-lab.js';
import { renderInWindow } from '../../../test/harness/render-window.js';
import { OverviewPage } from './overview-page.js';

describe('Overview page', () => {
  it('shows the machine live and the jobs that run, wait and have ended', async () => {
    const { host, view } = renderInWindow(<OverviewPage />);
    const machine = await screen.findByRole('article', { name: 'ws-1' });
    expect(within(machine).getByText('34% busy')).toBeTruthy();
    expect(within(machine).getByText('85 GiB of 256 GiB used')).toBeTruthy();
    expect(within(machine).getByText('Nearly full: 310 GiB left')).toBeTruthy();
    expect(within(machine).getAllByText('Held by a job')).toHaveLength(2);
    expect(within(machine).getByText('Used by others')).toBeTruthy();
    expect(within(machine).getByRole('meter', { name: 'Processors' }).getAttribute('aria-valuenow')).toBe(
      '34',
    );
    const waiting = screen.getByRole('region', { name: 'Waiting' });
    expect(within(waiting).getAllByText('Needs 1 GPU: 3 jobs ahead, all 4 in use.')).toHaveLength(2);

    host.machines = host.machines.map((known) => ({ ...known, cpuBusyPercent: 71 }));
    host.publishOverview();
    await within(machine).findByText('71% busy');
    expect(await findViolations(view.container)).toEqual([]);
  });

  it('says in words what is not measured and why there is no GPU', async () => {
    renderInWindow(<OverviewPage />, {
      machine: { cpuBusyPercent: null, gpus: [], gpuNote: 'nvidia-smi is not installed.' },
    });
    const machine = await screen.findByRole('article', { name: 'ws-1' });
    expect(within(machine).getByText('Not measured yet')).toBeTruthy();
    expect(within(machine).getByText('nvidia-smi is not installed.')).toBeTruthy();
    expect(machine.textContent).not.toMatch(/undefined|NaN|null/);
  });

  it('calls machines and cards as their own page does, and shows no figures of one that does not answer', async () => {
    const host = new FakeHost();
    host.machines = fakeLab(host.nowMs);
    renderInWindow(<OverviewPage />, { host });
    const server = await screen.findByRole('article', { name: 'h100-1' });
    expect(within(server).getByText('Trouble')).toBeTruthy();
    expect(within(server).getByText('Sick')).toBeTruthy();
    expect(within(server).getByText('Silent')).toBeTruthy();
    expect(within(server).getAllByText('Free')).toHaveLength(3);
    const lost = screen.getByRole('article', { name: 'ws-2' });
    expect(within(lost).getByText('Unreachable')).toBeTruthy();
    expect(lost.textContent).toContain('No route to ws-2.lab');
    expect(within(lost).queryByRole('meter')).toBeNull();
    expect(within(screen.getByRole('article', { name: 'ws-3' })).getByText('Cordoned')).toBeTruthy();
  });

  it('names who has a card and links to the job', async () => {
    renderInWindow(<OverviewPage />);
    const machine = await screen.findByRole('article', { name: 'ws-1' });
    await waitFor(() => expect(within(machine).getAllByRole('link', { name: /^\w+: / })).toHaveLength(2));
    const [holder] = within(machine).getAllByRole('link', { name: /^\w+: / });
    expect(holder?.getAttribute('href')).toMatch(/^#\/job\//);
  });

  it('draws the cards of a machine over a time that is chosen, and stands still when paused', async () => {
    const { host } = renderInWindow(<OverviewPage />);
    await screen.findByRole('img', { name: /^GPU use\. GPU 0: / });
    expect(screen.getByRole('img', { name: /^GPU memory\. GPU 0: / })).toBeTruthy();
    const asked = () => host.callsOf('machine.history').at(-1)?.sinceMs;
    expect(asked()).toBeGreaterThan(Date.now() - 700_000);
    fireEvent.click(screen.getByRole('radio', { name: '24 h' }));
    await waitFor(() => expect(asked()).toBeLessThan(Date.now() - 86_000_000));
    await screen.findByRole('region', { name: 'ws-1 in the last 24 h' });
    fireEvent.click(screen.getByRole('button', { name: 'Pause' }));
    expect(screen.getByRole('button', { name: 'Go on' }).getAttribute('aria-pressed')).toBe('true');
    expect(screen.getByRole('img', { name: /^GPU use\. GPU 0: / })).toBeTruthy();
  });

  it('draws a machine among many when it is told to, and never one that does not answer', async () => {
    const host = new FakeHost();
    host.machines = fakeLab(host.nowMs);
    renderInWindow(<OverviewPage />, { host });
    const opens = await screen.findByRole('button', { name: 'Graphs of h100-1' });
    expect(screen.queryByRole('button', { name: 'Graphs of ws-2' })).toBeNull();
    expect(host.callsOf('machine.history')).toEqual([]);
    fireEvent.click(opens);
    expect(opens.getAttribute('aria-expanded')).toBe('true');
    await screen.findByRole('img', { name: /^GPU use\. GPU 0: .* GPU 7/ });
    expect(new Set(host.callsOf('machine.history').map(({ machineId }) => machineId))).toEqual(
      new Set(['h100-1']),
    );
    fireEvent.click(opens);
    expect(screen.queryByRole('img', { name: /^GPU use/ })).toBeNull();
  });

  it('shows the layout while it loads and teaches when there is no job', async () => {
    const host = new FakeHost({ jobs: 0 });
    host.hold();
    renderInWindow(<OverviewPage />, { host });
    expect(screen.getByRole('status').textContent).toBe('Loading');
    host.release();
    await screen.findByText('Launch a first job');
  });
});
