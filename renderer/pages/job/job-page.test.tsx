// @vitest-environment jsdom
import { fireEvent, screen, waitFor, within } from '@testing-library/react';
import { describe, expect, it, onTestFinished } from 'vitest';
import { refusal } from '../../../core/contract/errors.js';
import { parseJobRequest } from '../../../core/contract/job-request.js';
import { currentRoute, jobRoute, navigate, useRoute } from '../../app/router.js';
import { findViolations } from '../../../test/harness/axe.js';
import { fakeAttemptUid, fakeCauses, fakeSummary } from '../../../test/harness/fake-data.js';
import { FakeHost } from '../../../test/harness/fake-host.js';
import { renderInWindow } from '../../../test/harness/render-window.js';
import { FailureCallout } from './failure-callout.js';
import { JobPage } from './job-page.js';
import { jobPlaceText, parseJobPlace } from './job-tab.js';

function RoutedJob() {
  const route = useRoute();
  return route.page === 'job' ? <JobPage jobId={route.jobId} tab={route.tab} /> : null;
}

function show(host: FakeHost, id: string, tab: string | null = null) {
  navigate(jobRoute(id, tab));
  return renderInWindow(<RoutedJob />, { host });
}

const failedHost = () =>
  new FakeHost({
    jobs: [
      fakeSummary({
        id: '/anna/sweep',
        state: 'FAILED',
        numTasks: 3,
        taskCounts: { SUCCEEDED: 1, FAILED: 1, KILLED: 1 },
        cause: fakeCauses.memory,
      }),
    ],
  });

describe('Job page', () => {
  it('opens a failed job on its cause, the attempt, the last error lines and what to try', async () => {
    const host = failedHost();
    const uid = fakeAttemptUid('/anna/sweep/1', 1);
    host.log(uid, 'out', 'step 1\n');
    host.log(uid, 'err', 'Traceback\n\x1b[31mMemoryError\x1b[0m\n', true);
    const summary = host.jobs.get('/anna/sweep');
    if (summary === undefined) throw new Error('no job');
    const shown: number[][] = [];
    renderInWindow(
      <FailureCallout
        summary={summary}
        tasks={host.tasksOf('/anna/sweep')}
        compact={false}
        onShowLog={(task, attempt) => shown.push([task, attempt])}
        onRunAgain={() => undefined}
      />,
      { host },
    );
    await screen.findByText('Why it failed: task 1, attempt 2');
    expect((await screen.findByText(/MemoryError/)).textContent).toBe('Traceback\nMemoryError');
    expect(screen.getByText('Last lines of stderr')).toBeTruthy();
    expect(screen.getByText(/the highest seen was 1.8 GiB/)).toBeTruthy();
    fireEvent.click(screen.getByRole('button', { name: 'Show the log there' }));
    expect(shown).toEqual([[1, 1]]);
  });

  it.each([false, true])(
    'says what it said last once: in its last lines, or in the cause where these cannot be read (%s)',
    async (isUnreadable) => {
      const host = failedHost();
      const uid = fakeAttemptUid('/anna/sweep/1', 1);
      host.log(uid, 'err', 'MemoryError\n', true);
      const [summary, tasks] = [host.jobs.get('/anna/sweep'), host.tasksOf('/anna/sweep')];
      if (summary === undefined) throw new Error('no job');
      const message = 'python ended with exit code 1. It said last: MemoryError';
      const cause = { code: 'EXIT_CODE', message } as const;
      const said = tasks.map((task) => ({
        ...task,
        attempts: task.attempts.map((attempt) => ({ ...attempt, cause })),
      }));
      if (isUnreadable) host.refuseNext('log.merged', refusal('NOT_FOUND', 'The log is not there.'), 9);
      const nothing = () => undefined;
      renderInWindow(
        <FailureCallout
          summary={summary}
          tasks={said}
          compact={false}
          onShowLog={nothing}
          onRunAgain={nothing}
        />,
        { host },
      );
      if (isUnreadable) await screen.findByText(/It said last: MemoryError/);
      else {
        await screen.findByText('MemoryError');
        expect(screen.queryByText(/It said last/)).toBeNull();
      }
    },
  );

  it('lists tasks with attempts, exit code in words and cause, and leads to their log', async () => {
    show(failedHost(), '/anna/sweep', 'tasks.1');
    await screen.findByRole('table', { name: 'Tasks' });
    expect(screen.getByRole('tab', { name: 'Tasks' }).getAttribute('aria-selected')).toBe('true');
  });

  it('tells beside an attempt what was noticed of it', async () => {
    const host = failedHost();
    const [first, second, ...others] = host.tasksOf('/anna/sweep');
    if (first === undefined || second === undefined) throw new Error('no tasks');
    const warning = { code: 'GPU_STILL_USED', message: 'GPU 0 is still used.' } as const;
    const noticed = second.attempts.map((attempt) => ({ ...attempt, warnings: [warning] }));
    host.tasks.set('/anna/sweep', [first, { ...second, attempts: noticed.slice(-1) }, ...others]);
    show(host, '/anna/sweep', 'tasks');
    fireEvent.click(await screen.findByRole('button', { name: 'Show the attempts of task 1' }));
    await screen.findByText('Warning: GPU 0 is still used.');
    fireEvent.click(screen.getByRole('button', { name: 'Show the attempts of task 0' }));
    expect(screen.getAllByText(/^Warning: /)).toHaveLength(1);
  });

  it('tells above the tabs what was noticed of an attempt that goes on, and of no other', async () => {
    const host = failedHost();
    const [first, second, ...others] = host.tasksOf('/anna/sweep');
    if (first === undefined || second === undefined) throw new Error('no tasks');
    const message = 'Other processes compute on its GPU.';
    const noticed = (finishedAtMs: number | null) => (attempt: (typeof first.attempts)[number]) => ({
      ...attempt,
      finishedAtMs,
      warnings: [{ code: 'GPU_INTRUDER', message } as const],
    });
    const ended = { ...first, attempts: first.attempts.map(noticed(1)) };
    host.tasks.set('/anna/sweep', [
      ended,
      { ...second, attempts: second.attempts.map(noticed(null)) },
      ...others,
    ]);
    show(host, '/anna/sweep', 'tasks');
    const callout = await screen.findByRole('region', { name: 'What was noticed' });
    expect(within(callout).getByText(message)).toBeTruthy();
    expect(callout.textContent).not.toContain('tasks');
  });

  it('explains why a job that had started waits, and since when', async () => {
    const host = failedHost();
    const job = host.jobs.get('/anna/sweep');
    const [first] = host.tasksOf('/anna/sweep');
    if (job === undefined || first === undefined) throw new Error('no job');
    const attempts = first.attempts.map((attempt) => ({ ...attempt, finishedAtMs: Date.now() - 90_000 }));
    host.tasks.set('/anna/sweep', [{ ...first, state: 'PENDING', finishedAtMs: null, attempts }]);
    host.jobs.set('/anna/sweep', {
      ...job,
      state: 'RUNNING',
      submittedAtMs: Date.now() - 3_600_000,
      finishedAtMs: null,
      taskCounts: { PENDING: 1 },
      cause: null,
    });
    show(host, '/anna/sweep', 'tasks');
    const callout = await screen.findByRole('region', { name: 'Why it waits' });
    expect(callout.textContent).toContain('Waiting for 1m 3');
  });

  it('shows the request as fields, command line and YAML', async () => {
    const { view } = show(failedHost(), '/anna/sweep', 'details');
    await screen.findByText('As YAML');
    expect(
      screen.getByText(/^irisctl job run --job-name sweep --cpu 4 --memory 8GiB --replicas 3/),
    ).toBeTruthy();
    expect(await findViolations(view.container)).toEqual([]);
  });

  it('shows of a container what was asked for, and says what a command line cannot carry', async () => {
    const host = failedHost();
    const spec = parseJobRequest({
      command: ['python', 'train.py'],
      workingDirectory: '/w',
      machine: 'ws-1',
      gpu: 1,
      shareGpu: true,
      gpuMemory: '8GiB',
      priority: 'batch',
      maxTaskFailures: 2,
      maxRetriesPreemption: 5,
      stopSignal: 'SIGUSR1',
      image: 'pytorch:2.9',
      pull: 'ALWAYS',
      containerProfile: 'RESTRICTED',
      mounts: [{ source: '/data/sets', target: '/data', readOnly: true }],
      setup: ['pip install x'],
      shm: '8GiB',
      pidsLimit: 512,
      tty: true,
    });
    if (!spec.ok) throw new Error(spec.refusal.message);
    host.specs.set('/anna/sweep', spec.value);
    const copied: string[] = [];
    Object.defineProperty(navigator, 'clipboard', {
      configurable: true,
      value: { writeText: (text: string) => Promise.resolve(void copied.push(text)) },
    });
    onTestFinished(() => {
      Reflect.deleteProperty(navigator, 'clipboard');
    });
    const { view } = show(host, '/anna/sweep', 'details');
    await screen.findByText('As YAML');
    const fields = new Map(
      [...view.container.querySelectorAll('dl > div')].map((row) => [
        row.querySelector('dt')?.textContent,
        row.querySelector('dd')?.textContent,
      ]),
    );
    expect(Object.fromEntries(fields)).toMatchObject({
      Machine: 'ws-1',
      'Shares its GPUs': 'uses up to 8 GiB of each',
      'Asked for band': 'Batch',
      'Tasks that may fail': '2',
      'Starts again when preempted or lost': '5',
      'Stop signal': 'SIGUSR1',
      Image: 'pytorch:2.9',
      'Pull the image': 'Each time',
      'What the container may do': 'Less: no capabilities at all',
      'Mounted folders': '/data/sets → /data (read only)',
      'Setup script 1': 'pip install x',
      'Shared memory': '8 GiB',
      'Processes at most': '512',
      Terminal: 'Yes: its two outputs are one.',
    });
    fireEvent.click(screen.getByRole('button', { name: 'More actions' }));
    fireEvent.click(await screen.findByRole('menuitem', { name: 'Copy as command' }));
    await screen.findByText('Command copied. A command line cannot carry stopSignal; the YAML does.');
    expect(copied[0]).toContain('--task-image pytorch:2.9');
  });

  it('has all tasks of a job, also beyond those that come with it', async () => {
    const host = new FakeHost({
      jobs: [
        fakeSummary({
          id: '/anna/wide',
          state: 'RUNNING',
          numTasks: 1203,
          taskCounts: { RUNNING: 1203 },
        }),
      ],
    });
    show(host, '/anna/wide', 'tasks');
    const table = await screen.findByRole('table', { name: 'Tasks' });
    await waitFor(() => {
      expect(table.getAttribute('aria-rowcount')).toBe('1204');
    });
    expect(screen.queryByText(/^The first /)).toBe(null);
    expect(host.callsOf('task.list').map(({ offset }) => offset)).toEqual([500, 1000]);
  });

  it('says why a job waits, and follows it live', async () => {
    const host = new FakeHost({ jobs: [fakeSummary({ id: '/anna/wait', state: 'PENDING' })] });
    show(host, '/anna/wait', 'details');
    await screen.findByText('Why it waits');
    expect(screen.getAllByText(fakeCauses.capacity.message).length).toBeGreaterThan(0);
    host.change('/anna/wait', {
      state: 'KILLED',
      waiting: null,
      cause: fakeCauses.stopped,
      taskCounts: { KILLED: 1 },
    });
    host.publish();
    await screen.findByText(/^Stopped by anna\./);
    expect(screen.queryByText('Why it waits')).toBe(null);
    expect(screen.getByRole('button', { name: 'Run again' })).toBeTruthy();
  });

  it('answers keys: tabs, edit', async () => {
    const host = failedHost();
    show(host, '/anna/sweep', 'details');
    await screen.findByText('As YAML');
    fireEvent.keyDown(document.body, { key: 't' });
    await screen.findByRole('table', { name: 'Tasks' });
    fireEvent.keyDown(document.body, { key: 'e' });
    expect(currentRoute()).toEqual({ page: 'new', from: '/anna/sweep', mode: 'edit' });
  });

  it('runs again and leads to the new job', async () => {
    const host = failedHost();
    show(host, '/anna/sweep', 'details');
    await screen.findByText('As YAML');
    fireEvent.keyDown(document.body, { key: 'r' });
    await screen.findByRole('heading', { name: 'sweep-r1', level: 1 });
    expect(currentRoute()).toMatchObject({ page: 'job', jobId: '/anna/sweep-r1' });
    expect(host.callsOf('job.retry').map((call) => call.jobIds)).toEqual([['/anna/sweep']]);
  });

  it('stays and says why when it cannot be run again', async () => {
    const host = failedHost();
    show(host, '/anna/sweep', 'details');
    await screen.findByText('As YAML');
    host.refuseNext('job.retry', refusal('UNAVAILABLE', 'The controller is stopping.'));
    fireEvent.click(screen.getAllByRole('button', { name: 'Run again' })[0] ?? document.body);
    await screen.findByText('sweep was not run again: The controller is stopping.');
    expect(currentRoute()).toMatchObject({ page: 'job', jobId: '/anna/sweep' });
  });

  it('draws the use of its own cards and of its machine over its run', async () => {
    const { host } = show(new FakeHost(), '/anna/eval-mmlu', 'graphs');
    await screen.findByRole('img', { name: /^GPU use\. / });
    expect(screen.getByRole('link', { name: 'ws-1' }).getAttribute('href')).toBe('#/machine/ws-1');
    // One of the machine's four cards is the job's.
    expect(screen.getByRole('img', { name: /^GPU memory\. / }).getAttribute('aria-label')).not.toContain(
      'GPU 2',
    );
    const started = host.jobs.get('/anna/eval-mmlu')?.startedAtMs ?? null;
    expect(host.callsOf('machine.history')[0]).toEqual({ machineId: 'ws-1', sinceMs: started });
    fireEvent.click(screen.getByRole('button', { name: 'Pause' }));
    await screen.findByRole('button', { name: 'Go on' });
  });

  it('draws the end of its run alone when a shorter time is chosen, and nothing to pause once it is over', async () => {
    const { host } = show(new FakeHost(), '/anna/train-llm-b7e2', 'graphs');
    const asked = () => host.callsOf('machine.history').at(-1)?.sinceMs;
    const { startedAtMs = null, finishedAtMs = null } = host.jobs.get('/anna/train-llm-b7e2') ?? {};
    await waitFor(() => expect(asked()).toBe(startedAtMs));
    fireEvent.click(screen.getByRole('radio', { name: '1 h' }));
    await waitFor(() => expect(asked()).toBe((finishedAtMs ?? 0) - 3_600_000));
    // Longer than it ran: nothing of before it.
    fireEvent.click(screen.getByRole('radio', { name: '24 h' }));
    await waitFor(() => expect(asked()).toBe(startedAtMs));
    expect(screen.queryByRole('button', { name: 'Pause' })).toBeNull();
  });

  it('draws the last part of a run that goes on when a shorter time is chosen', async () => {
    const { host } = show(new FakeHost(), '/anna/lr-sweep', 'graphs');
    const asked = () => host.callsOf('machine.history').at(-1)?.sinceMs ?? 0;
    await waitFor(() => expect(asked()).toBeGreaterThan(0));
    const started = asked();
    expect(started).toBeLessThan(Date.now() - 700_000);
    fireEvent.click(screen.getByRole('radio', { name: '10 min' }));
    await waitFor(() => expect(asked()).toBeGreaterThan(Date.now() - 601_000));
    fireEvent.click(screen.getByRole('radio', { name: '7 days' }));
    await waitFor(() => expect(asked()).toBe(started));
  });

  it('names a job that does not exist', async () => {
    show(new FakeHost({ jobs: [] }), '/anna/gone');
    await screen.findByText('There is no job /anna/gone.');
    expect(screen.getByRole('button', { name: 'Show all jobs' })).toBeTruthy();
    expect(screen.queryByRole('button', { name: 'Try again' })).toBe(null);
  });

  it('offers to try again when a job could not be read', async () => {
    const host = failedHost();
    host.refuseNext('job.get', refusal('STORAGE_FAILED', 'The database could not be read.'), 10);
    show(host, '/anna/sweep', 'details');
    const again = await screen.findByRole('button', { name: 'Try again' });
    host.refuseNext('job.get', refusal('STORAGE_FAILED', 'unused'), 0);
    fireEvent.click(again);
    await screen.findByText('As YAML');
  });
});

it.each([
  ['logs', null, null],
  ['logs', 3, null],
  ['logs', 3, 1],
  ['tasks', 12, null],
  ['graphs', null, null],
] as const)('keeps %s, task %s, attempt %s in the address', (tab, task, attempt) => {
  expect(parseJobPlace(jobPlaceText(tab, task, attempt))).toEqual({ tab, task, attempt });
});

it.each([null, '', 'pictures', 'logs.x', 'logs.1.2.3'])('takes %j for no place', (text) => {
  expect(parseJobPlace(text)).toBe(null);
});
