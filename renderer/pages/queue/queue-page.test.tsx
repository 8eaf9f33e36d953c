// @vitest-environment jsdom
import { fireEvent, screen, waitFor, within } from '@testing-library/react';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { refusal } from '../../../core/contract/errors.js';
import { findViolations } from '../../../test/harness/axe.js';
import { fakeSummary } from '../../../test/harness/fake-data.js';
import { FakeHost } from '../../../test/harness/fake-host.js';
import { renderInWindow } from '../../../test/harness/render-window.js';
import { currentRoute } from '../../app/router.js';
import { QueuePage } from './queue-page.js';

const nowMs = Date.now();
const minute = 60_000;

const waits = (id: string, minutes: number, part: Parameters<typeof fakeSummary>[0] | object = {}) =>
  fakeSummary({ id, state: 'PENDING', submittedAtMs: nowMs - minutes * minute, ...part });

/** Anna has three waiting, Clara one, Bert (over his limit) one that asked for more; one runs. */
function lab(): FakeHost {
  return new FakeHost({
    nowMs,
    jobs: [
      waits('/anna/first', 50),
      waits('/anna/second', 40, { gpuCount: 2 }),
      waits('/anna/third', 30, { numTasks: 4, taskCounts: { PENDING: 3, SUCCEEDED: 1 } }),
      waits('/clara/hers', 20),
      waits('/bert/much', 10),
      fakeSummary({ id: '/anna/busy', submittedAtMs: nowMs - 20 * minute, startedAtMs: nowMs - 15 * minute }),
    ],
  });
}

const grid = () => screen.findByRole('grid', { name: /^Waiting jobs by band/ });
const rowOf = async (name: string) => {
  const cell = await within(await grid()).findByText(name);
  const row = cell.closest<HTMLElement>('[role="row"]');
  if (row === null) throw new Error(`no row of ${name}`);
  return row;
};
const lines = async () =>
  within(await grid())
    .getAllByRole('row')
    .slice(1)
    .map((row) => {
      const cells = within(row).queryAllByRole('gridcell');
      return cells.length < 2
        ? row.textContent
        : [cells[0], cells[2], cells[3]].map((cell) => cell?.textContent ?? '').join(' ');
    });
// The menu hides itself where it has no place, as everything has none in jsdom.
const menuItem = (name: string | RegExp) => screen.findByRole('menuitem', { name, hidden: true });
const press = (key: string, more: object = {}) => {
  fireEvent.keyDown(document.activeElement ?? document.body, { key, ...more });
};

beforeAll(() => {
  // Nothing is painted in jsdom; what would be painted is tested by its rows.
  Object.defineProperty(HTMLCanvasElement.prototype, 'getContext', { configurable: true, value: () => null });
});

beforeEach(() => {
  window.location.hash = '#/queue';
});

describe('Queue page', () => {
  it('shows the bands as lanes in order, users in turn, empty ones as one line', async () => {
    const { view } = renderInWindow(<QueuePage />, { host: lab() });
    await rowOf('first');
    expect(await lines()).toEqual([
      'System: nothing waits',
      'Production: nothing waits',
      'Interactive 4 jobs',
      '1 anna first',
      '2 clara hers',
      '3 anna second',
      '4 anna third',
      'Batch 1 job',
      '1 bert much',
    ]);
    expect(screen.getByText('5 waiting, 1 running')).toBeTruthy();
    expect(await findViolations(view.container)).toEqual([]);
  });

  it('tells tasks, GPUs, and that a job asked for a better band than its user’s budget gives', async () => {
    renderInWindow(<QueuePage />, { host: lab() });
    const cells = async (name: string) =>
      within(await rowOf(name))
        .getAllByRole('gridcell')
        .map((cell) => cell.textContent);
    expect((await cells('second')).slice(4, 6)).toEqual(['1', '2']);
    expect((await cells('third')).slice(4, 6)).toEqual(['3 of 4', '–No GPU was asked for.']);
    expect((await cells('much')).at(-1)).toMatch(/^Demoted from interactive/);
    expect((await cells('first')).at(-1)).not.toContain('Demoted');
  });

  it('says how many are not shown', async () => {
    const jobs = Array.from({ length: 230 }, (_item, at) => waits(`/anna/job-${at}`, 500 - at));
    renderInWindow(<QueuePage />, { host: new FakeHost({ nowMs, jobs }) });
    await rowOf('job-0');
    (await grid()).focus();
    press('End');
    // A browser tells of it by itself.
    fireEvent.scroll((await grid()).firstElementChild ?? document);
    await waitFor(async () => {
      expect(await lines()).toContain('30 more not shown');
    });
    // Only what is in view is in the page.
    expect((await lines()).length).toBeLessThan(80);
  });

  it('holds and releases by key, and shows it', async () => {
    const { host } = renderInWindow(<QueuePage />, { host: lab() });
    fireEvent.click(await rowOf('first'));
    expect(document.activeElement).toBe(await grid());
    press('h');
    await within(await rowOf('first')).findByText('Held');
    press('h');
    await waitFor(async () => {
      expect(within(await rowOf('first')).queryByText('Held')).toBeNull();
    });
    expect(host.callsOf('job.change').map(({ jobIds, change }) => [jobIds, change])).toEqual([
      [['/anna/first'], { kind: 'hold' }],
      [['/anna/first'], { kind: 'release' }],
    ]);
  });

  it.each([
    ['j', 2],
    ['k', 0],
  ])('goes on by %s beside a job that has started', async (key, neighbour) => {
    const { host } = renderInWindow(<QueuePage />, { host: lab() });
    await rowOf('first');
    const names = (await lines()).flatMap((line) => /^\d+ \S+ (\w+)/.exec(line)?.[1] ?? []);
    press('j');
    press('j');
    const gone = [...host.jobs.values()].find((row) => row.name === names[1]);
    host.change(gone?.id ?? '', { state: 'RUNNING', startedAtMs: nowMs, waiting: null });
    host.publish();
    await waitFor(async () => {
      expect(within(await grid()).queryByText(names[1] ?? '')).toBe(null);
    });
    press(key);
    const wanted = (await rowOf(names[neighbour] ?? '')).id;
    await waitFor(async () => {
      expect((await grid()).getAttribute('aria-activedescendant')).toBe(wanted);
    });
  });

  it('goes through the list by keys and moves among one’s own jobs', async () => {
    const { host } = renderInWindow(<QueuePage />, { host: lab() });
    await rowOf('first');
    for (const key of ['j', 'j', 'j', 'k', 'ArrowDown', 'ArrowDown']) press(key);
    await waitFor(async () => {
      expect((await grid()).getAttribute('aria-activedescendant')).toBe((await rowOf('third')).id);
    });
    press('ArrowUp', { altKey: true });
    await within(await rowOf('third')).findByText('Moved up');
    expect((await lines()).slice(3, 7)).toEqual([
      '1 anna thirdMoved up',
      '2 clara hers',
      '3 anna first',
      '4 anna second',
    ]);
    press('u');
    await waitFor(async () => {
      expect((await lines())[3]).toBe('1 anna first');
    });
    expect(host.callsOf('job.change').map((call) => call.change)).toEqual([
      { kind: 'move', to: 'first' },
      { kind: 'move', to: 'usual' },
    ]);
    press('Enter');
    await waitFor(() => {
      expect(currentRoute()).toMatchObject({ page: 'job', jobId: '/anna/third' });
    });
  });

  it('changes several at once, each answered by itself, the refusal beside its row', async () => {
    const host = lab();
    host.budgets.mayManage = false;
    renderInWindow(<QueuePage />, { host });
    fireEvent.click(await rowOf('hers'));
    // Who one is, is known by then.
    await screen.findByText(/^Only its owner/);
    fireEvent.click(await rowOf('first'));
    fireEvent.click(await rowOf('hers'), { ctrlKey: true });
    fireEvent.click(await rowOf('second'), { ctrlKey: true });
    await screen.findByText('2 selected');
    fireEvent.click(screen.getByRole('button', { name: 'Hold' }));
    expect((await within(await rowOf('hers')).findByRole('alert')).textContent).toBe(
      'Not changed. Only its owner, or who administers the cluster, may change it.',
    );
    await within(await rowOf('second')).findByText('Held');
    expect(host.callsOf('job.change').map((call) => call.jobIds)).toEqual([['/anna/second']]);
  });

  it('shows a refusal of the controller beside its row until the next change', async () => {
    const { host } = renderInWindow(<QueuePage />, { host: lab() });
    host.refuseNext('job.change', refusal('STORAGE_FAILED', 'The disk is full.'));
    fireEvent.click(await rowOf('first'));
    fireEvent.click(screen.getByRole('button', { name: 'To back' }));
    const row = await rowOf('first');
    expect((await within(row).findByRole('alert')).textContent).toBe('Not changed. The disk is full.');
    fireEvent.click(screen.getByRole('button', { name: 'To back' }));
    await within(await rowOf('first')).findByText('Moved down');
    expect(within(await rowOf('first')).queryByRole('alert')).toBeNull();
  });

  it('offers the bands the budget allows', async () => {
    const { host } = renderInWindow(<QueuePage />, { host: lab() });
    fireEvent.click(await rowOf('first'));
    press('b');
    const closed = await menuItem(/^Production \(needs a right/);
    expect(closed.hasAttribute('disabled')).toBe(true);
    expect((await menuItem('Interactive (now)')).hasAttribute('disabled')).toBe(true);
    fireEvent.click(await menuItem('Batch'));
    await waitFor(async () => {
      expect((await lines()).slice(-2)).toEqual(['1 anna first', '2 bert much']);
    });
    expect(host.callsOf('job.change').map((call) => call.change)).toEqual([{ kind: 'band', band: 'BATCH' }]);
  });

  it('has the same by the context menu, and stops after its question', async () => {
    const { host } = renderInWindow(<QueuePage />, { host: lab() });
    fireEvent.contextMenu(await rowOf('second'), { clientX: 200, clientY: 100 });
    fireEvent.click(await menuItem(/^Hold/));
    await within(await rowOf('second')).findByText('Held');
    fireEvent.contextMenu(await rowOf('second'), { clientX: 200, clientY: 100 });
    expect(await menuItem(/^Release/)).toBeTruthy();
    fireEvent.click(await menuItem(/^Stop/));
    const dialog = await screen.findByRole('dialog');
    expect(dialog.textContent).toContain('Stop second?');
    expect(host.callsOf('job.stop')).toEqual([]);
    fireEvent.click(within(dialog).getByRole('button', { name: /^Stop/ }));
    await waitFor(() => {
      expect(host.callsOf('job.stop').map((call) => call.jobIds)).toEqual([['/anna/second']]);
    });
  });

  it('has what runs where as a table too', async () => {
    const host = lab();
    host.queue.history = [
      {
        uid: 'done',
        taskId: '/clara/done/0',
        jobId: '/clara/done',
        jobName: 'done',
        user: 'clara',
        band: 'BATCH',
        workerId: 'ws-1',
        devices: [host.machines[0]?.gpus[1]?.uuid ?? ''],
        state: 'FAILED',
        fromMs: nowMs - 30 * minute,
        toMs: nowMs - 25 * minute,
      },
    ];
    const { view } = renderInWindow(<QueuePage />, { host });
    fireEvent.click(await screen.findByRole('radio', { name: 'Table' }));
    const table = await screen.findByRole('table', { name: 'What runs where' });
    const rows = () =>
      within(table)
        .getAllByRole('row')
        .slice(1)
        .map((row) => [...row.children].slice(0, 5).map((cell) => cell.textContent));
    await waitFor(() => {
      expect(rows()).toEqual([
        ['ws-1, processors', 'busy', 'Running', 'anna', 'Interactive'],
        ['ws-1, GPU 1 rtx-4090', 'done', 'Failed', 'clara', 'Batch'],
      ]);
    });
    expect(await findViolations(view.container)).toEqual([]);
  });

  it('goes through the drawing by keys and opens a job from it', async () => {
    renderInWindow(<QueuePage />, { host: lab() });
    const drawing = await screen.findByRole('application');
    drawing.focus();
    await screen.findByText(/^busy, Running, anna, Interactive, ws-1, processors\. From .* No time limit/);
    fireEvent.keyDown(drawing, { key: 'Enter' });
    await waitFor(() => {
      expect(currentRoute()).toMatchObject({ page: 'job', jobId: '/anna/busy' });
    });
  });

  it('zooms by buttons and keys and asks for more of the past', async () => {
    const { host } = renderInWindow(<QueuePage />, { host: lab() });
    await screen.findByText('1h 30m');
    fireEvent.click(screen.getByRole('button', { name: 'Zoom out' }));
    await screen.findByText('3h 00m');
    press('-');
    await screen.findByText('6h 00m');
    await waitFor(() => {
      const since = Math.min(...host.callsOf('queue.history').map((call) => call.sinceMs));
      expect(since).toBeLessThanOrEqual(nowMs - 4 * 60 * minute);
    });
    press('+');
    await screen.findByText('3h 00m');
  });

  it('teaches what it shows when nothing waits', async () => {
    const { view } = renderInWindow(<QueuePage />, { host: new FakeHost({ nowMs, jobs: [] }) });
    await screen.findByText('Nothing waits');
    await screen.findByText('Nothing ran or runs in this time.');
    expect(await findViolations(view.container)).toEqual([]);
  });
});
