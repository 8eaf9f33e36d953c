// @vitest-environment jsdom
import { act, fireEvent, screen, waitFor, within } from '@testing-library/react';
import { Profiler } from 'react';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { refusal } from '../../../core/contract/errors.js';
import { currentRoute, useRoute } from '../../app/router.js';
import { findViolations } from '../../../test/harness/axe.js';
import { fakeSummary } from '../../../test/harness/fake-data.js';
import { FakeHost, type FakeHostOptions } from '../../../test/harness/fake-host.js';
import { renderInWindow } from '../../../test/harness/render-window.js';
import { SelectionBar } from './filter-bar.js';
import { JobsPage } from './jobs-page.js';

function RoutedJobs() {
  const route = useRoute();
  return <JobsPage query={route.page === 'jobs' ? route.query : ''} />;
}

function show(options: FakeHostOptions & { readonly host?: FakeHost } = {}) {
  return renderInWindow(<RoutedJobs />, options);
}

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
const active = () => {
  const id = screen.getByRole('treegrid').getAttribute('aria-activedescendant');
  return id === null ? null : id.replace('job-row-/anna/', '');
};
const loaded = () => screen.findByText('train-llm');

describe('Jobs page', () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  it('shows each job with its state, its reason, its tasks and where it is', async () => {
    show();
    await loaded();
    expect(within(rowOf('train-llm')).getByText('Waiting')).toBeTruthy();
    expect(within(rowOf('train-llm')).getByText('Needs 1 GPU: 3 jobs ahead, all 4 in use.')).toBeTruthy();
    expect(within(rowOf('lr-sweep')).getByText('12/20')).toBeTruthy();
    expect(within(rowOf('lr-sweep')).getByText('1 failed')).toBeTruthy();
    expect(within(rowOf('preprocess')).getByText('The command ended with exit code 1.')).toBeTruthy();
    expect(within(rowOf('lr-sweep')).getByText('ws-1, ws-2')).toBeTruthy();
    expect(within(rowOf('train-llm')).getByText('It has not been on a machine.')).toBeTruthy();
    expect(screen.getByRole('treegrid').textContent).not.toMatch(/undefined|NaN|null|(?<!\w)-1\b/);
  });

  it('moves by J, K and arrows, and opens with Enter', async () => {
    show();
    await loaded();
    press('j');
    expect(active()).toBe('train-llm');
    press('ArrowDown');
    press('j');
    press('k');
    expect(active()).toBe('eval-mmlu');
    press('End');
    expect(active()).toContain('train-llm-');
    press('Home');
    press('Enter');
    expect(currentRoute()).toEqual({ page: 'job', jobId: '/anna/train-llm', tab: null });
  });

  it.each([
    [10_000, 100_000, '10,000 of 100,000 selected'],
    [10_000, 10_000, '10,000 selected'],
    [3, 100_000, '3 selected'],
  ])('says of %i selected of %i when more were found than can be selected', (count, total, said) => {
    const none = () => undefined;
    const done = { onStop: none, onRunAgain: none, onClear: none };
    renderInWindow(
      <SelectionBar count={count} total={total} busy={false} stoppable={0} endable={0} {...done} />,
    );
    expect(screen.getByText(said)).toBeTruthy();
    expect(screen.getByRole('toolbar', { name: said })).toBeTruthy();
  });

  it('selects with Space, a range with Shift, everything with Ctrl+A, and lets go with Esc', async () => {
    show();
    await loaded();
    press('j');
    press(' ');
    expect(screen.getByText('1 selected')).toBeTruthy();
    press('ArrowDown', { shiftKey: true });
    press('ArrowDown', { shiftKey: true });
    expect(screen.getByText('3 selected')).toBeTruthy();
    expect(rowOf('lr-sweep').getAttribute('aria-selected')).toBe('true');
    press('a', { ctrlKey: true });
    await screen.findByText('12 selected');
    press('Escape');
    expect(screen.queryByText('12 selected')).toBeNull();
    fireEvent.click(rowOf('eval-mmlu'), { ctrlKey: true });
    fireEvent.click(rowOf('preprocess'), { shiftKey: true });
    expect(screen.getByText('4 selected')).toBeTruthy();
  });

  it('stops several after one question that names them, and only those that can be stopped', async () => {
    const { host } = show();
    await loaded();
    fireEvent.click(rowOf('train-llm'), { ctrlKey: true });
    fireEvent.click(rowOf('eval-mmlu'), { ctrlKey: true });
    fireEvent.click(rowOf('preprocess'), { ctrlKey: true });
    press('x');
    const dialog = await screen.findByRole('dialog', { name: 'Stop 2 jobs?' });
    expect(dialog.textContent).toContain('train-llm, eval-mmlu');
    fireEvent.click(within(dialog).getByRole('button', { name: 'Stop 2 jobs' }));
    await waitFor(() => {
      expect(within(rowOf('eval-mmlu')).getByText('Killed')).toBeTruthy();
    });
    expect(host.callsOf('job.stop').map((params) => params.jobIds)).toEqual([
      ['/anna/train-llm', '/anna/eval-mmlu'],
    ]);
    await waitFor(() => {
      expect(screen.queryByText('3 selected')).toBeNull();
    });
  });

  it('stops nothing when the question is answered with Cancel', async () => {
    const { host } = show();
    await loaded();
    press('j');
    press('x');
    const dialog = await screen.findByRole('dialog', { name: 'Stop train-llm?' });
    fireEvent.click(within(dialog).getByRole('button', { name: 'Cancel' }));
    await waitFor(() => {
      expect(screen.queryByRole('dialog')).toBeNull();
    });
    expect(host.callsOf('job.stop')).toEqual([]);
  });

  it('shows Stopping until the row itself says so, and the reason when it was refused', async () => {
    const host = new FakeHost();
    show({ host });
    await loaded();
    host.refuseNext('job.stop', refusal('UNAVAILABLE', 'The controller is stopping.'));
    host.hold();
    fireEvent.click(within(hover('eval-mmlu')).getByRole('button', { name: 'Stop eval-mmlu' }));
    const dialog = await screen.findByRole('dialog', { name: 'Stop eval-mmlu?' });
    fireEvent.click(within(dialog).getByRole('button', { name: 'Stop' }));
    expect(await within(rowOf('eval-mmlu')).findByText('Stopping')).toBeTruthy();
    host.release();
    await screen.findByText('eval-mmlu was not stopped: The controller is stopping.');
    await within(rowOf('eval-mmlu')).findByText('Running');
  });

  it('runs an ended job again at once, several after one question', async () => {
    const { host } = show();
    await loaded();
    fireEvent.click(within(hover('preprocess')).getByRole('button', { name: 'Run again: preprocess' }));
    await screen.findByText('preprocess-r1 submitted');
    expect(host.callsOf('job.retry')[0]?.jobIds).toEqual(['/anna/preprocess']);
    await screen.findByText('preprocess-r1');

    fireEvent.click(rowOf('preprocess'), { ctrlKey: true });
    fireEvent.click(rowOf('plot-figures'), { ctrlKey: true });
    press('r');
    const dialog = await screen.findByRole('dialog', { name: 'Run 2 jobs again?' });
    fireEvent.click(within(dialog).getByRole('button', { name: 'Run 2 jobs again' }));
    await screen.findByText('2 jobs submitted');
  });

  it('says so when there is nothing to stop', async () => {
    const { host } = show();
    await loaded();
    fireEvent.click(rowOf('preprocess'), { ctrlKey: true });
    press('x');
    await screen.findByText('It has ended; there is nothing to stop.');
    expect(host.callsOf('job.stop')).toEqual([]);
  });

  it('renders one row for one changed job, and keeps the place of the others', async () => {
    // Ages on the screen render by the second: the clock stands still, so that what differs comes from the change.
    vi.useFakeTimers({ toFake: ['Date'] });
    const { host } = show({ jobs: 2000 });
    await loaded();
    const before = rowOf('eval-mmlu');
    const untouched = rowOf('plot-figures');
    const html = untouched.innerHTML;
    host.change('/anna/eval-mmlu', {
      state: 'SUCCEEDED',
      finishedAtMs: host.nowMs,
      taskCounts: { SUCCEEDED: 1 },
    });
    host.publish();
    await within(rowOf('eval-mmlu')).findByText('Succeeded');
    expect(rowOf('eval-mmlu')).toBe(before);
    expect(rowOf('plot-figures').innerHTML).toBe(html);
    expect(host.callsOf('job.list')).toHaveLength(1);
  });

  it('shows the rows it is scrolled to, in elements used again, and hints only under the pointer', async () => {
    const { host } = show({ jobs: 2000 });
    await loaded();
    const roots = [...host.jobs.values()].filter((row) => row.parentId === null);
    const scroller = screen.getByRole('treegrid').firstElementChild;
    const link = hover('preprocess').querySelector('a');
    expect(link?.title).toBe('/anna/preprocess\npython preprocess.py --input /data/raw --output /data/clean');
    fireEvent.mouseLeave(rowOf('preprocess').parentElement ?? document.body);
    expect(link?.title).toBe('');
    // The head, the 21 lines of the view, and the 16 beyond it, which come some a frame.
    await waitFor(() => {
      expect(screen.getAllByRole('row')).toHaveLength(1 + 21 + 16);
    });
    const elements = new Set(screen.getAllByRole('row'));
    if (scroller === null) throw new Error('no scroller');
    scroller.scrollTop = 100 * 30;
    fireEvent.scroll(scroller);
    // At once what is in view; of what is not, only what this frame has time for.
    const nameAt = (line: number) => roots[line]?.name ?? '';
    for (let line = 100; line <= 120; line += 1) expect(screen.getByText(nameAt(line))).toBeTruthy();
    expect(screen.queryByText(nameAt(133))).toBe(null);
    await screen.findByText(nameAt(133));
    const name = nameAt(102);
    const row = rowOf(name);
    expect(row.getAttribute('aria-rowindex')).toBe('104');
    expect(elements.has(row)).toBe(true);
    expect(screen.queryByText('train-llm')).toBe(null);
    expect(row.querySelector('[title]')).toBe(null);
  });

  it('does not render the list for batches of rows that are not in view', async () => {
    // Ages on the screen render by the second: the clock stands still.
    vi.useFakeTimers({ toFake: ['Date'] });
    let commits = 0;
    const { host } = renderInWindow(
      <Profiler id="jobs" onRender={() => (commits += 1)}>
        <RoutedJobs />
      </Profiler>,
      { jobs: 2000 },
    );
    await loaded();
    await waitFor(() => {
      expect(commits).toBeGreaterThan(0);
    });
    commits = 0;
    const far = [...host.jobs.values()].filter((row) => row.parentId === null).slice(500, 1000);
    const batches = 40;
    for (let batch = 0; batch < batches; batch += 1) {
      for (const row of far) host.change(row.id, { failureCount: batch + 1 });
      await act(async () => {
        host.publish();
        await Promise.resolve();
      });
    }
    // What the page itself still had to draw may come in between; a render for each batch would be forty.
    expect(commits).toBeLessThan(batches / 2);
    host.change('/anna/eval-mmlu', { failureCount: 7, taskCounts: { RUNNING: 1, FAILED: 7 } });
    host.publish();
    await within(rowOf('eval-mmlu')).findByText('7 failed');
    // That the counter counts: another filter is the page's business.
    commits = 0;
    fireEvent.click(screen.getByRole('button', { name: 'Ended' }));
    expect(commits).toBeGreaterThan(0);
  });

  it('opens and closes child jobs by key and by click', async () => {
    show();
    await loaded();
    fireEvent.click(screen.getByRole('button', { name: 'Show the child jobs of lr-sweep' }));
    await screen.findByText('fold-1');
    expect(rowOf('fold-1').getAttribute('aria-level')).toBe('2');
    expect(rowOf('lr-sweep').getAttribute('aria-expanded')).toBe('true');
    press('j');
    press('ArrowLeft');
    expect(active()).toBe('lr-sweep');
    press('ArrowLeft');
    expect(screen.queryByText('fold-1')).toBeNull();
    press('ArrowRight');
    await screen.findByText('fold-1');
  });

  it('keeps filter, search and order in the address', async () => {
    show();
    await loaded();
    fireEvent.click(screen.getByRole('button', { name: 'Ended' }));
    expect(window.location.hash).toBe('#/jobs?show=ended');
    await waitFor(() => {
      expect(screen.queryByText('train-llm')).toBeNull();
    });
    fireEvent.click(screen.getByRole('button', { name: 'Name' }));
    expect(window.location.hash).toBe('#/jobs?show=ended&sort=name');
    expect(screen.getByRole('columnheader', { name: 'Name' }).getAttribute('aria-sort')).toBe('ascending');
    press('/');
    const search = screen.getByRole('textbox', { name: 'Search name or command' });
    expect(document.activeElement).toBe(search);
    fireEvent.change(search, { target: { value: 'rscript' } });
    await waitFor(() => {
      expect(window.location.hash).toBe('#/jobs?show=ended&q=rscript&sort=name');
    });
    await screen.findByText('2 jobs found');
  });

  it('reads the address it starts with', async () => {
    window.location.hash = '#/jobs?show=waiting';
    show();
    await screen.findByText('2 jobs found');
    expect(screen.getByRole('button', { name: 'Waiting' }).getAttribute('aria-pressed')).toBe('true');
  });

  it('shows skeletons first, then teaches when there is nothing', async () => {
    const host = new FakeHost({ jobs: 0 });
    host.hold();
    show({ host });
    expect((await screen.findByRole('treegrid')).getAttribute('aria-busy')).toBe('true');
    host.release();
    await screen.findByText('No jobs yet');
    // What happens from now on is told to the list.
    await waitFor(() => {
      expect(host.subscriptionsOf('jobs')).toBe(1);
    });
    expect(screen.getByText('irisctl job run --gpu 1 -- python train.py')).toBeTruthy();
    host.put(fakeSummary({ id: '/anna/first', submittedAtMs: host.nowMs }));
    host.publish();
    await screen.findByText('first');
  });

  it('says when nothing passes the filter and leads back to all', async () => {
    window.location.hash = '#/jobs?q=no-such-thing';
    show();
    await screen.findByText('No job matches');
    fireEvent.click(screen.getByRole('button', { name: 'Show all jobs' }));
    await loaded();
    expect(window.location.hash).toBe('#/jobs');
  });

  it('says what failed and tries again', async () => {
    const host = new FakeHost();
    host.refuseNext('job.list', refusal('STORAGE_FAILED', 'The database could not be read.'));
    show({ host });
    const alert = await screen.findByRole('alert');
    expect(alert.textContent).toContain('The list of jobs could not be loaded');
    expect(alert.textContent).toContain('The database could not be read.');
    fireEvent.click(within(alert).getByRole('button', { name: 'Try again' }));
    await loaded();
  });

  it('offers the same actions in the context menu', async () => {
    show();
    await loaded();
    fireEvent.contextMenu(rowOf('preprocess'), { clientX: 100, clientY: 100 });
    const menu = await screen.findByRole('menu');
    expect(
      within(menu)
        .getAllByRole('menuitem', { hidden: true })
        .map((item) => item.textContent),
    ).toEqual(['OpenEnter', 'Run againR', 'Edit and runE', 'Copy name', 'Copy path']);
    fireEvent.click(within(menu).getByText('Edit and run'));
    expect(currentRoute()).toEqual({ page: 'new', from: '/anna/preprocess', mode: 'edit' });
  });

  it('holds a waiting job and lets a held one go from its menu', async () => {
    const { host } = show();
    await loaded();
    const waiting = [...host.jobs.values()].find((job) => job.state === 'PENDING');
    if (waiting === undefined) throw new Error('no job of the example waits');
    // The menu is about the row as it was when it was opened.
    const choose = async (label: string) => {
      const item = await waitFor(() => {
        fireEvent.contextMenu(rowOf(waiting.name), { clientX: 100, clientY: 100 });
        return within(screen.getByRole('menu')).getByText(label);
      });
      fireEvent.click(item);
    };
    await choose('Hold');
    await waitFor(() => {
      expect(host.calls.filter(({ method }) => method === 'job.change')).toMatchObject([
        { params: { jobIds: [waiting.id], change: { kind: 'hold' } } },
      ]);
    });
    await waitFor(() => {
      expect(host.jobs.get(waiting.id)?.held).toBe(true);
    });
    host.refuseNext('job.change', refusal('FAILED_PRECONDITION', 'It has ended already.'));
    await choose('Release');
    await screen.findByText(`${waiting.name} was not changed: It has ended already.`);
  });

  it('has no violation that axe can see', async () => {
    const { view } = show();
    await loaded();
    expect(await findViolations(view.container)).toEqual([]);
  });
});
