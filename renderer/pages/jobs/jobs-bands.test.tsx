// @vitest-environment jsdom
import { fireEvent, screen, waitFor, within } from '@testing-library/react';
import { describe, expect, it } from 'vitest';
import { fakeSummary } from '../../../test/harness/fake-data.js';
import type { FakeHostOptions } from '../../../test/harness/fake-host.js';
import { renderInWindow } from '../../../test/harness/render-window.js';
import { localTimes } from '../../strings/common.js';
import { JobsPage } from './jobs-page.js';

const show = (options: FakeHostOptions) => renderInWindow(<JobsPage query="" />, options);
const rowOf = (name: string): HTMLElement => {
  const row = screen.getByText(name, { exact: true }).closest('[role="row"]');
  if (!(row instanceof HTMLElement)) throw new Error(`no row ${name}`);
  return row;
};
const hover = (name: string): HTMLElement => {
  fireEvent.mouseEnter(rowOf(name));
  return rowOf(name);
};
const press = (key: string, init: KeyboardEventInit = {}) => {
  fireEvent.keyDown(document.activeElement ?? document.body, { key, ...init });
};

describe('bands and places in the list', () => {
  it('marks a band that is not the usual one while it matters, and a demotion with its numbers', async () => {
    const demoted = {
      requested: 'INTERACTIVE',
      effective: 'BATCH',
      user: 'anna',
      spend: 812,
      limit: 800,
      atMs: Date.now(),
    } as const;
    show({
      jobs: [
        fakeSummary({ id: '/anna/usual', state: 'RUNNING' }),
        fakeSummary({ id: '/anna/urgent', state: 'RUNNING', band: 'PRODUCTION' }),
        fakeSummary({ id: '/anna/over-limit', state: 'RUNNING', demoted }),
        fakeSummary({ id: '/anna/waits', state: 'PENDING', band: 'BATCH' }),
        fakeSummary({ id: '/anna/over', state: 'SUCCEEDED', band: 'BATCH' }),
      ],
    });
    await screen.findByText('usual');
    const markOf = (name: string) =>
      /Production|Demoted|Batch|Interactive/.exec(rowOf(name).textContent)?.[0];
    expect(['usual', 'urgent', 'over-limit', 'waits', 'over'].map(markOf)).toEqual([
      undefined,
      'Production',
      'Demoted',
      'Batch',
      undefined,
    ]);
    expect(within(hover('over-limit')).getByText('Demoted').title).toBe(
      'Demoted to batch, asked for interactive, because anna had 812 of 800 in use when it was placed.',
    );
  });

  it('shows the times of a reason by the reader’s clock', async () => {
    const message = 'Starts no earlier than 2099-12-01 20:00:00 UTC.';
    show({
      jobs: [
        fakeSummary({ id: '/anna/later', state: 'PENDING', waiting: { code: 'WAITS_FOR_TIME', message } }),
      ],
    });
    await screen.findByText('later');
    expect(rowOf('later').textContent).not.toContain('UTC');
    expect(within(rowOf('later')).getByText(localTimes(message))).toBeTruthy();
  });

  it('says of a started job none of which runs now what it does instead, and why', async () => {
    const waiting = { code: 'WAITS_FOR_CAPACITY', message: 'Waits: needs 1 GPU.' } as const;
    show({
      jobs: [
        fakeSummary({ id: '/anna/evicted', state: 'RUNNING', taskCounts: { PENDING: 1 }, waiting }),
        fakeSummary({ id: '/anna/fetches', state: 'RUNNING', taskCounts: { BUILDING: 1 } }),
        fakeSummary({ id: '/anna/half', state: 'RUNNING', taskCounts: { PENDING: 1, RUNNING: 1 }, waiting }),
      ],
    });
    await screen.findByText('evicted');
    expect(rowOf('evicted').textContent).toContain('Waiting');
    expect(within(rowOf('evicted')).getByText('Waits: needs 1 GPU.')).toBeTruthy();
    expect(rowOf('evicted').textContent).not.toContain('Running');
    expect(rowOf('fetches').textContent).toContain('Building');
    expect(rowOf('half').textContent).toContain('Running');
    expect(rowOf('half').textContent).not.toContain('Waits');
  });

  it('changes band and place from the menu and by key, several after one question', async () => {
    const jobs = ['a', 'b', 'c'].map((name) => fakeSummary({ id: `/anna/${name}`, state: 'PENDING' }));
    const { host } = show({ jobs });
    await screen.findByText('a');
    const asked = () => host.callsOf('job.change').map(({ jobIds, change }) => [[...jobIds].sort(), change]);
    fireEvent.contextMenu(rowOf('a'));
    fireEvent.click(await screen.findByRole('menuitem', { name: 'Batch', hidden: true }));
    await waitFor(() => {
      expect(asked()).toEqual([[['/anna/a'], { kind: 'band', band: 'BATCH' }]]);
    });
    await waitFor(() => {
      expect(screen.queryByRole('menu')).toBeNull();
    });
    press('a', { ctrlKey: true });
    await screen.findByText('3 selected');
    press('ArrowUp', { altKey: true });
    const dialog = await screen.findByRole('dialog', { name: 'Move 3 jobs to the front?' });
    expect(dialog.textContent).toMatch(/a, b|b, a|c/);
    expect(dialog.textContent).not.toContain('What runs');
    fireEvent.click(within(dialog).getByRole('button', { name: 'Move' }));
    await waitFor(() => {
      expect(asked().at(-1)).toEqual([['/anna/a', '/anna/b', '/anna/c'], { kind: 'move', to: 'first' }]);
    });
    await waitFor(() => {
      expect(screen.queryByRole('dialog')).toBeNull();
    });
    press('h');
    const hold = await screen.findByRole('dialog', { name: 'Hold 3 jobs?' });
    expect(hold.textContent).toContain('What runs goes on; nothing more of them starts.');
  });
});
