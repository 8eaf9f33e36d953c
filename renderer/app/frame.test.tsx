// @vitest-environment jsdom
import { fireEvent, screen, waitFor, within } from '@testing-library/react';
import { describe, expect, it, vi } from 'vitest';
import { refusal } from '../../core/contract/errors.js';
import { fakeSummary } from '../../test/harness/fake-data.js';
import { findViolations } from '../../test/harness/axe.js';
import { FakeHost, type FakeHostOptions } from '../../test/harness/fake-host.js';
import { manyMachines } from '../../test/harness/fake-lab.js';
import { renderInWindow } from '../../test/harness/render-window.js';
import { Frame } from './frame.js';
import { currentRoute } from './router.js';

const press = (key: string, init: KeyboardEventInit = {}) => {
  fireEvent.keyDown(document.activeElement ?? document.body, { key, ...init });
};

async function show(options: FakeHostOptions & { readonly host?: FakeHost } = {}) {
  const rendered = renderInWindow(<Frame />, options);
  await screen.findByText(/running$/);
  return rendered;
}

describe('frame', () => {
  it('tells what runs and waits, what is free, the health and the runtime', async () => {
    await show();
    const status = screen.getByRole('contentinfo');
    await within(status).findByText('GPU 1/4 free');
    for (const text of [
      '4 running',
      '2 waiting',
      '2 failed',
      'CPU 34%',
      '19.5 of 32 cores free',
      'Healthy',
    ]) {
      expect(await within(status).findByText(text)).toBeTruthy();
    }
    expect(await within(status).findByText('Electron 45.5.0')).toBeTruthy();
    expect(await findViolations(document.body)).toEqual([]);
  });

  it('counts live', async () => {
    const { host } = await show();
    host.change('/anna/eval-mmlu', { state: 'SUCCEEDED' });
    host.publish();
    await screen.findByText('3 running');
  });

  it('leads to each page by key', async () => {
    await show();
    press('g');
    press('o');
    expect(window.location.hash).toBe('#/overview');
    await screen.findByRole('heading', { name: 'Overview' });
    press('g');
    press('j');
    expect(window.location.hash).toBe('#/jobs');
    press('n');
    expect(window.location.hash).toBe('#/new');
    const command = await screen.findByRole('textbox', { name: 'Command' });
    await waitFor(() => {
      expect(document.activeElement).toBe(command);
    });
    // The first leaves the field, the second the page.
    press('Escape');
    press('Escape');
    expect(window.location.hash).toBe('#/jobs');
  });

  it('finds actions and jobs in the palette, the first one chosen, and runs it with Enter', async () => {
    const { host } = await show();
    press('k', { ctrlKey: true });
    const field = await screen.findByRole('combobox');
    fireEvent.change(field, { target: { value: 'theme dark' } });
    expect(screen.getAllByRole('option')).toHaveLength(1);
    fireEvent.keyDown(field, { key: 'Enter' });
    await waitFor(() => {
      expect(host.settings.theme).toBe('dark');
    });
    await waitFor(() => {
      expect(screen.queryByRole('combobox')).toBeNull();
      expect(document.documentElement.getAttribute('data-mantine-color-scheme')).toBe('dark');
    });

    press('k', { ctrlKey: true });
    const again = await screen.findByRole('combobox');
    fireEvent.change(again, { target: { value: 'fold-2' } });
    await waitFor(() => {
      expect(screen.getAllByRole('option').map((option) => option.textContent)).toEqual([
        expect.stringContaining('fold-2'),
      ]);
    });
    fireEvent.keyDown(again, { key: 'Enter' });
    expect(currentRoute()).toMatchObject({ page: 'job', jobId: '/anna/lr-sweep/fold-2' });
  });

  it('finds a machine in the palette by its name', async () => {
    await show();
    press('k', { ctrlKey: true });
    const field = await screen.findByRole('combobox');
    fireEvent.change(field, { target: { value: 'ws-1' } });
    await waitFor(() => {
      expect(screen.getAllByRole('option').map((option) => option.textContent)).toContain('ws-1');
    });
    fireEvent.click(screen.getByRole('option', { name: 'ws-1' }));
    expect(currentRoute()).toMatchObject({ page: 'machine', machineId: 'ws-1' });
  });

  it('shows the first of many machines that match', async () => {
    const host = new FakeHost();
    host.machines = manyMachines(host.nowMs, 60);
    await show({ host });
    press('k', { ctrlKey: true });
    fireEvent.change(await screen.findByRole('combobox'), { target: { value: 'ws-' } });
    await waitFor(() => expect(screen.getAllByRole('option', { name: /^ws-\d+$/ }).length).toBe(8));
  });

  it('shows every key that works here with ?', async () => {
    await show();
    press('?');
    const dialog = await screen.findByRole('dialog', { name: 'Keyboard shortcuts' });
    for (const text of ['Command palette', 'Stop', 'Run again', 'Show and hide child jobs']) {
      expect(within(dialog).getByText(text)).toBeTruthy();
    }
  });

  it('says that the connection is lost and that it tries again, and goes on when it is back', async () => {
    const { host, desktop } = await show();
    await screen.findByText('train-llm');
    host.reachable = false;
    host.disconnect();
    await screen.findByText(/Connection to the controller lost/);
    expect(screen.getByText('Reconnecting')).toBeTruthy();
    // What was known stays on the screen.
    expect(screen.getByText('train-llm')).toBeTruthy();
    expect(screen.getByText('local')).toBeTruthy();
    host.put(fakeSummary({ id: '/anna/meanwhile', submittedAtMs: host.nowMs }));
    host.reachable = true;
    fireEvent.click(screen.getByRole('button', { name: 'Connect now' }));
    await waitFor(() => {
      expect(desktop.host.connection.get().kind).toBe('connected');
    });
    await screen.findByText('Healthy');
    // What happened meanwhile is there without anybody asking.
    await screen.findByText('meanwhile');
  });

  it('says why the controller refuses and offers to reload', async () => {
    const host = new FakeHost();
    host.refuseNext('hello', refusal('VERSION_MISMATCH', 'The controller is newer than this window.'));
    renderInWindow(<Frame />, { host });
    await screen.findByText(/The controller is newer than this window/);
    expect(screen.getByRole('button', { name: 'Reload the window' })).toBeTruthy();
  });

  it('says what to do where there is no controller to be had', async () => {
    const { host } = await show();
    host.refuseNext(
      'hello',
      refusal('UNAVAILABLE', 'Another controller does not answer. End its process.'),
      100,
    );
    host.disconnect();
    await screen.findByText(
      'Connection to the controller lost. Trying again. Another controller does not answer. End its process. What is shown may be out of date.',
    );
  });

  it('shows what is wrong while the controller is not healthy', async () => {
    const { host } = await show();
    host.publishStatus({ healthy: false, health: 'The disk of /home is full: 0 B left.' });
    await screen.findByText('The disk of /home is full: 0 B left.');
    expect(screen.getByText('Trouble')).toBeTruthy();
    host.publishStatus({ healthy: true, health: 'All is well.' });
    await screen.findByText('Healthy');
  });

  it('asks once what closing means and gives the answer', async () => {
    const { host } = await show();
    host.command({ kind: 'closing-asks', trayAvailable: true, runningJobs: 3 });
    const dialog = await screen.findByRole('dialog', { name: 'Keep Iris Desktop in the tray?' });
    expect(dialog.textContent).toContain('3 jobs run and will go on either way.');
    fireEvent.click(within(dialog).getByRole('button', { name: 'Keep in tray' }));
    expect(host.closingAnswers).toEqual([{ choice: 'tray', remember: true }]);
  });

  it('says what could not be kept of a setting, wherever it was changed', async () => {
    const host = new FakeHost();
    vi.spyOn(host.bridge, 'setSettings').mockRejectedValue(new Error('ENOSPC: no space left on device'));
    await show({ host });
    press('k', { ctrlKey: true });
    const field = await screen.findByRole('combobox');
    fireEvent.change(field, { target: { value: 'theme dark' } });
    fireEvent.keyDown(field, { key: 'Enter' });
    await screen.findByText('Not saved. ENOSPC: no space left on device');
    fireEvent.click(await screen.findByRole('button', { name: 'Notifications' }));
    fireEvent.click(await screen.findByRole('switch', { name: 'Pause desktop notifications' }));
    await waitFor(() => {
      expect(screen.getAllByText('Not saved. ENOSPC: no space left on device')).toHaveLength(2);
    });
  });

  it('leads from the failed of a day to all of them, also those from before midnight', async () => {
    await show();
    fireEvent.click(await screen.findByRole('link', { name: '2 failed' }));
    await waitFor(() => {
      expect(currentRoute()).toEqual({ page: 'jobs', query: 'states=FAILED,WORKER_FAILED' });
    });
  });

  it('counts as free what is free of the machines that answer', async () => {
    const host = new FakeHost();
    const [here] = host.machines;
    if (here === undefined) throw new Error('no machine');
    host.machines.push({
      ...here,
      id: 'ws-9',
      contact: { state: 'OFF', sinceMs: host.nowMs, lastContactMs: host.nowMs, message: 'Off.' },
    });
    await show({ host });
    await screen.findByText('GPU 1/4 free');
    expect(screen.getByText('19.5 of 32 cores free')).toBeTruthy();
  });

  it('says how many GPUs there are also where only machines that do not answer have any', async () => {
    const host = new FakeHost({ machine: { state: 'DEAD' } });
    await show({ host });
    await screen.findByText('GPU 0/4 free');
  });

  it('opens what main asks for', async () => {
    const { host } = await show();
    host.command({ kind: 'open-job', jobId: '/anna/train-llm' });
    expect(currentRoute()).toMatchObject({ page: 'job', jobId: '/anna/train-llm' });
    host.command({ kind: 'ended-jobs' });
    expect(currentRoute()).toEqual({ page: 'jobs', query: 'show=ended' });
    host.command({ kind: 'new-job' });
    expect(currentRoute()).toMatchObject({ page: 'new' });
  });

  it('keeps what ended behind the bell, unread until opened', async () => {
    const host = new FakeHost();
    host.inbox.push({
      id: 1,
      jobId: '/anna/preprocess',
      jobName: 'preprocess',
      state: 'FAILED',
      cause: { code: 'EXIT_CODE', message: 'The command ended with exit code 1.' },
      atMs: host.nowMs - 60_000,
      durationMs: 4000,
      read: false,
    });
    await show({ host });
    fireEvent.click(await screen.findByRole('button', { name: '1 unread notification' }));
    const inbox = await screen.findByRole('dialog', { name: 'Notifications' });
    const line = await within(inbox).findByText('preprocess');
    host.addInbox({
      id: 2,
      jobId: '/anna/finetune-lora',
      jobName: 'just-ended',
      state: 'SUCCEEDED',
      cause: null,
      atMs: host.nowMs,
      durationMs: 61_000,
      read: false,
    });
    await screen.findByText('Succeeded after 1m 01s');
    fireEvent.click(line);
    expect(currentRoute()).toMatchObject({ page: 'job', jobId: '/anna/preprocess' });
    await waitFor(() => {
      expect(host.inbox.find((item) => item.id === 1)?.read).toBe(true);
    });
    expect(host.inbox.find((item) => item.id === 2)?.read).toBe(false);
  });

  it('pauses while hidden and takes one snapshot on return', async () => {
    const { host } = await show();
    Object.defineProperty(document, 'visibilityState', { configurable: true, value: 'hidden' });
    document.dispatchEvent(new Event('visibilitychange'));
    expect(host.subscriptionsOf('jobs')).toBe(0);
    expect(host.subscriptionsOf('overview')).toBe(0);
    host.change('/anna/eval-mmlu', { state: 'SUCCEEDED' });
    host.publish();
    Object.defineProperty(document, 'visibilityState', { configurable: true, value: 'visible' });
    document.dispatchEvent(new Event('visibilitychange'));
    await screen.findByText('3 running');
  });
});
