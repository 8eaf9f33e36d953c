import { describe, expect, test } from 'vitest';
import type { JobChange } from '../contract/queue.js';
import { timeText } from '../formats/times.js';
import type { Draft } from '../model/draft.js';
import { changeJob } from '../model/job-change.js';
import { report } from '../model/test-world.js';
import { observe } from '../model/transitions.js';
import { card, worker } from './test-cluster.js';
import { rowsOf, type Rows } from './test-rows.js';

const machine = worker('w1', { cpuMillicores: 4000, memoryBytes: 64e9 });
const minute = 60_000;

/** Everything active runs, and has for an hour. */
function runAll(rows: Rows): void {
  for (const { uid, state } of [...rows.state.unfinishedAttempts()])
    if (state === 'ASSIGNED') rows.observe(uid, 'RUNNING', { startedAtMs: rows.nowMs });
  rows.nowMs += 60 * minute;
}

function uidOf(rows: Rows, taskId: string): string {
  return rows.state.attemptsOf(taskId).at(-1)?.uid ?? '';
}

function change(rows: Rows, jobId: string, asked: JobChange, and?: (draft: Draft) => void): void {
  rows.step((draft) => {
    and?.(draft);
    const by = { actor: 'ann', mayManage: true, nowMs: rows.nowMs, ranks: () => [] };
    changeJob(draft, { ...by, jobId, change: asked });
  });
}

function audit(rows: Rows, entity: string): string[] {
  return rows.changes
    .flatMap((change) => change.audit)
    .filter(
      (row) =>
        row.entity === entity || row.entity.startsWith(`${entity}/`) || row.entity.startsWith(`${entity}:`),
    )
    .map((row) => row.action);
}

describe('preemption', () => {
  function full(): Rows {
    const rows = rowsOf({ cpu: 4, priority: 'batch' });
    rows.round([machine]);
    runAll(rows);
    rows.submit({ name: 'hot', cpu: 2, priority: 'production' });
    return rows;
  }

  test('one round tells the victim to leave and promises its place; the start waits until it is verified gone', () => {
    const rows = full();
    const victim = uidOf(rows, '/ann/a/0');
    rows.round([machine]);
    expect(rows.attempt(victim)).toMatchObject({
      state: 'PREEMPTED',
      finishedAtMs: null,
      noticeAtMs: rows.nowMs,
      cause: { code: 'PREEMPTED', message: 'Makes room for /ann/hot (PRODUCTION).' },
    });
    expect(rows.task('/ann/a/0')).toMatchObject({ state: 'PENDING', preemptionCount: 1 });
    expect(rows.task('/ann/hot/0')).toMatchObject({
      state: 'PENDING',
      claim: { workerId: 'w1', band: 'PRODUCTION', waitsFor: [victim] },
    });
    expect(rows.causes.of('/ann/hot/0')).toEqual({
      code: 'WAITS_FOR_VICTIM',
      message: 'Starts on w1; waits until /ann/a/0 has left.',
    });
    rows.round([machine]);
    expect(rows.task('/ann/hot/0').claim).not.toBeNull();

    rows.observe(victim, 'KILLED', { signal: 'SIGTERM' });
    rows.round([machine]);
    expect(rows.task('/ann/hot/0')).toMatchObject({ state: 'ASSIGNED', claim: null, band: 'PRODUCTION' });
    expect(rows.task('/ann/a/0').state).toBe('PENDING');
    expect(rows.moved).toEqual([]);
    expect(rows.violations()).toEqual([]);
    expect(audit(rows, '/ann/hot')).toEqual(['job_submitted', 'task_claimed', 'task_assigned']);
    expect(audit(rows, '/ann/a/0')).toEqual([
      'task_assigned',
      'attempt_started',
      'attempt_notified',
      'attempt_ended',
      'task_retry_scheduled',
      'attempt_verified_gone',
    ]);
  });

  test('the victim runs again when there is room', () => {
    const rows = full();
    rows.round([machine]);
    rows.observe(uidOf(rows, '/ann/a/0'), 'KILLED');
    rows.round([machine]);
    const hot = uidOf(rows, '/ann/hot/0');
    rows.observe(hot, 'RUNNING');
    rows.observe(hot, 'SUCCEEDED');
    rows.round([machine]);
    expect(rows.task('/ann/a/0')).toMatchObject({ state: 'ASSIGNED', currentAttempt: 1 });
  });

  test('when something else gets free it starts there, and what was told to leave runs again', () => {
    const rows = full();
    rows.round([machine]);
    rows.round([machine, worker('w2', { cpuMillicores: 2000 })]);
    expect(rows.task('/ann/hot/0')).toMatchObject({ state: 'ASSIGNED', claim: null });
    expect(rows.state.attemptsOf('/ann/hot/0')[0]?.workerId).toBe('w2');
    rows.observe(uidOf(rows, '/ann/a/0'), 'KILLED');
    rows.round([machine]);
    expect(rows.task('/ann/a/0').state).toBe('ASSIGNED');
  });

  test('a promised place is lost with its machine, and the task waits again', () => {
    const rows = full();
    rows.round([machine]);
    rows.round([{ ...machine, healthy: false }]);
    expect(rows.task('/ann/hot/0')).toMatchObject({ state: 'PENDING', claim: null });
    expect(audit(rows, '/ann/hot')).toContain('task_released');
  });

  test('a job that is stopped gives its promised place up', () => {
    const rows = full();
    rows.round([machine]);
    rows.cancel('/ann/hot');
    expect(rows.task('/ann/hot/0')).toMatchObject({ state: 'KILLED', claim: null });
    rows.observe(uidOf(rows, '/ann/a/0'), 'KILLED');
    rows.round([machine]);
    expect(rows.task('/ann/a/0').state).toBe('ASSIGNED');
  });

  test.each([
    ['was held since', (rows: Rows) => change(rows, '/ann/hot', { kind: 'hold' }), {}, 'PENDING'],
    [
      'can no longer end in time',
      (rows: Rows) => (rows.nowMs += 31 * minute),
      { finishBy: '90m', timeout: '1h' },
      'UNSCHEDULABLE',
    ],
  ])('a job that %s does not start in the place it was promised', (_, meanwhile, more, state) => {
    const rows = rowsOf({ cpu: 4, priority: 'batch' });
    rows.round([machine]);
    runAll(rows);
    rows.submit({ name: 'hot', cpu: 2, priority: 'production', ...more });
    rows.round([machine]);
    expect(rows.task('/ann/hot/0').claim).not.toBeNull();
    meanwhile(rows);
    rows.observe(uidOf(rows, '/ann/a/0'), 'KILLED');
    expect(rows.round([machine]).more).toBe(true);
    expect(rows.task('/ann/hot/0').claim).toBeNull();
    rows.round([machine]);
    expect(rows.task('/ann/hot/0').state).toBe(state);
    expect(rows.task('/ann/a/0').state).toBe('ASSIGNED');
    expect(rows.violations()).toEqual([]);
  });

  test('a place promised in each of two bands of one job is given once', () => {
    const rows = rowsOf({ cpu: 1, replicas: 4, priority: 'batch' });
    rows.round([machine]);
    runAll(rows);
    rows.submit({ name: 'hot', cpu: 1, replicas: 2, maxActive: 1, priority: 'production' });
    rows.round([machine]);
    change(rows, '/ann/hot', { kind: 'band', band: 'SYSTEM' });
    rows.step((draft) => {
      const task = rows.task('/ann/hot/1');
      const claim = { workerId: 'w1', devices: [], waitsFor: [], sinceMs: rows.nowMs };
      draft.putTask({ ...task, claim: { ...claim, band: 'SYSTEM' } });
    });
    for (const at of [0, 1, 2, 3]) rows.observe(uidOf(rows, `/ann/a/${at}`), 'KILLED');
    expect(rows.round([machine]).placed.map(({ taskId }) => taskId)).toEqual([
      '/ann/hot/1',
      '/ann/hot/0',
      '/ann/a/0',
      '/ann/a/1',
    ]);
    expect(rows.moved).toEqual([]);
  });

  test('all members of a gang are told, and its place is not taken by one behind it', () => {
    const gpus = [card(0), card(1)];
    const big = worker('w1', { cpuMillicores: 4000, gpus });
    const rows = rowsOf({ cpu: 1, gpu: 1, replicas: 2, gangBy: 'worker', priority: 'batch' });
    rows.round([big]);
    runAll(rows);
    rows.submit({ name: 'hot', cpu: 1, gpu: 2, priority: 'production' });
    rows.submit({ name: 'late', cpu: 1, gpu: 1, priority: 'batch' });
    rows.round([big]);
    const notices = rows.state.tasksOf('/ann/a').map(({ id }) => rows.attempt(uidOf(rows, id)).noticeAtMs);
    expect(notices).toEqual([rows.nowMs, rows.nowMs]);
    for (const { id } of rows.state.tasksOf('/ann/a')) rows.observe(uidOf(rows, id), 'KILLED');
    rows.round([big]);
    expect(rows.state.attemptsOf('/ann/hot/0')[0]?.devices).toEqual(['GPU-0', 'GPU-1']);
    expect(rows.task('/ann/late/0').state).toBe('PENDING');
  });
});

describe('what is read from the rows is what was kept', () => {
  test('with a claim, a hold, a dependency and a budget', () => {
    const rows = rowsOf({ cpu: 4, priority: 'batch' });
    rows.round([machine]);
    runAll(rows);
    rows.setBudget('bob', { limit: 5 });
    rows.submit({ name: 'hot', cpu: 2, priority: 'production' });
    rows.submit({ name: 'held', held: true });
    rows.submit({ name: 'later', dependencies: [{ job: 'a' }] });
    rows.round([machine]);
    expect(rows.kept([machine])).toEqual(rows.loaded([machine]));
    rows.observe(uidOf(rows, '/ann/a/0'), 'KILLED');
    rows.round([machine]);
    expect(rows.kept([machine])).toEqual(rows.loaded([machine]));
    rows.cancel('/ann/a');
    rows.round([machine]);
    expect(rows.kept([machine])).toEqual(rows.loaded([machine]));
  });
});

test('a gang starts whole or not at all, also where there are not ports for all of it', () => {
  const rows = rowsOf({ cpu: 1, replicas: 3, gangBy: 'worker', ports: ['http'] }, { cpu: 1 });
  rows.portsLeft = 2;
  rows.round([machine]);
  expect([rows.taskStates('/ann/a'), rows.taskStates('/ann/b')]).toEqual([
    ['PENDING', 'PENDING', 'PENDING'],
    ['ASSIGNED'],
  ]);
  rows.portsLeft = 3;
  rows.round([machine]);
  expect(rows.taskStates('/ann/a')).toEqual(['ASSIGNED', 'ASSIGNED', 'ASSIGNED']);
});

describe('a change of a job', () => {
  test('counts also in a round in which another of its tasks starts', () => {
    const rows = rowsOf({ cpu: 1, replicas: 2, maxActive: 1 });
    rows.round([machine]);
    const uid = uidOf(rows, '/ann/a/0');
    change(rows, '/ann/a', { kind: 'hold' }, (draft) => observe(draft, report(uid, 'RUNNING'), rows.nowMs));
    rows.observe(uid, 'SUCCEEDED');
    rows.round([machine]);
    expect(rows.taskStates('/ann/a')).toEqual(['SUCCEEDED', 'PENDING']);
    expect(rows.causes.of('/ann/a/1')?.code).toBe('WAITS_HELD');
  });

  test('of its band counts at once for what its owner uses, though nothing of it waits', () => {
    const rows = rowsOf({ cpu: 2 }, { cpu: 2, priority: 'batch' });
    rows.round([machine]);
    runAll(rows);
    expect(rows.scheduler.cluster.queue.user('ann').spend).toBe(10);
    change(rows, '/ann/a', { kind: 'band', band: 'BATCH' });
    expect(rows.scheduler.cluster.queue.user('ann').spend).toBe(0);
    change(rows, '/ann/b', { kind: 'band', band: 'INTERACTIVE' });
    expect(rows.scheduler.cluster.queue.user('ann').spend).toBe(10);
  });
});

test('what waits for the first time has waited since its submission, before a restart and after, whatever of its job ended', () => {
  const rows = rowsOf({ cpu: 2, replicas: 3 });
  rows.round([machine]);
  runAll(rows);
  rows.observe(uidOf(rows, '/ann/a/0'), 'SUCCEEDED');
  const { jobs } = rows.loaded([machine]);
  expect(jobs.map(({ job }) => job.waitingSinceMs)).toEqual([rows.job('/ann/a').submittedAtMs]);
  expect(rows.kept([machine]).jobs).toEqual(jobs);
});

describe('gates', () => {
  test('a held job waits, and says so', () => {
    const rows = rowsOf({ held: true });
    rows.round([machine]);
    expect(rows.causes.of('/ann/a/0')).toEqual({
      code: 'WAITS_HELD',
      message: 'Held: it starts after it is released.',
    });
  });

  test('not before its time; the decision names when to look again', () => {
    const rows = rowsOf({ startNotBefore: '1h' });
    const submittedAtMs = rows.state.job('/ann/a')?.submittedAtMs ?? 0;
    expect(rows.round([machine]).wakeAtMs).toBe(submittedAtMs + 60 * minute);
    expect(rows.causes.of('/ann/a/0')?.message).toBe(
      `Starts no earlier than ${timeText(submittedAtMs + 60 * minute)}.`,
    );
    rows.nowMs = submittedAtMs + 60 * minute;
    rows.round([machine]);
    expect(rows.task('/ann/a/0').state).toBe('ASSIGNED');
  });

  test('after another job has succeeded', () => {
    const rows = rowsOf({}, { dependencies: [{ job: 'a' }] });
    rows.round([machine]);
    expect(rows.causes.of('/ann/b/0')).toEqual({
      code: 'WAITS_FOR_JOB',
      message: 'Waits for /ann/a to succeed (it runs).',
    });
    rows.observe(uidOf(rows, '/ann/a/0'), 'SUCCEEDED');
    rows.round([machine]);
    expect(rows.task('/ann/b/0').state).toBe('ASSIGNED');
  });

  test('never, when the other failed: it ends at once and says why', () => {
    const rows = rowsOf(
      {},
      { dependencies: [{ job: 'a' }] },
      { dependencies: [{ job: 'a', on: 'FAILURE' }] },
    );
    rows.round([machine]);
    rows.observe(uidOf(rows, '/ann/a/0'), 'FAILED', { exitCode: 3 });
    rows.round([machine]);
    expect(rows.state.job('/ann/b')).toMatchObject({
      state: 'UNSCHEDULABLE',
      cause: { code: 'DEPENDENCY_UNMET', message: 'Waited for /ann/a to succeed; it failed.' },
    });
    expect(rows.task('/ann/c/0').state).toBe('ASSIGNED');
  });

  test('a job that can no longer end by its deadline ends with the arithmetic; one that can is kept', () => {
    const rows = rowsOf({ cpu: 4 }, { finishBy: '2h', timeout: '90m' }, { finishBy: '2h', timeout: '10m' });
    rows.submit({ name: 'after', dependencies: [{ job: 'b' }] });
    rows.round([machine]);
    const submittedAtMs = rows.state.job('/ann/b')?.submittedAtMs ?? 0;
    rows.nowMs = submittedAtMs + 31 * minute;
    // Who waited for it has to know.
    expect(rows.round([machine]).more).toBe(true);
    expect(rows.round([machine]).more).toBe(true);
    expect(rows.state.job('/ann/after')?.cause?.code).toBe('DEPENDENCY_UNMET');
    expect(rows.round([machine]).more).toBe(false);
    expect(rows.state.job('/ann/b')).toMatchObject({
      state: 'UNSCHEDULABLE',
      cause: {
        code: 'FINISH_DEADLINE',
        message:
          `Cannot be sure to end by ${timeText(submittedAtMs + 120 * minute)} any more: started now, at ` +
          `${timeText(rows.nowMs)}, its time limit of 1h 30m lasts until ${timeText(rows.nowMs + 90 * minute)}.`,
      },
    });
    expect(rows.task('/ann/c/0').state).toBe('PENDING');
  });

  test('no more tasks of a job at once than it allows', () => {
    const rows = rowsOf({ replicas: 4, maxActive: 2 });
    rows.round([machine]);
    expect(rows.taskStates('/ann/a')).toEqual(['ASSIGNED', 'ASSIGNED', 'PENDING', 'PENDING']);
    expect(rows.causes.of('/ann/a/2')).toEqual({
      code: 'WAITS_JOB_CAP',
      message: 'Waits: 2 of its tasks may be active at the same time, and 2 are.',
    });
    rows.observe(uidOf(rows, '/ann/a/0'), 'SUCCEEDED');
    rows.round([machine]);
    expect(rows.taskStates('/ann/a')).toEqual(['SUCCEEDED', 'ASSIGNED', 'ASSIGNED', 'PENDING']);
  });
});

describe('budgets', () => {
  test('who is over the limit competes in BATCH from then on, and the band is stamped', () => {
    const rows = rowsOf({ cpu: 1, replicas: 3 });
    rows.setBudget('ann', { limit: 1 });
    rows.round([machine]);
    runAll(rows);
    rows.submit({ name: 'more', cpu: 1 });
    rows.round([machine]);
    expect(rows.task('/ann/more/0')).toMatchObject({ state: 'ASSIGNED', band: 'BATCH' });
  });
});

describe('a lower band than asked for', () => {
  test('is stamped on the attempt with the numbers of the decision, and told in the audit row', () => {
    const rows = rowsOf({ cpu: 2 }, { cpu: 1 }, { cpu: 1, priority: 'batch' });
    rows.setBudget('ann', { limit: 9, allow: ['PRODUCTION'] });
    rows.round([worker('w1', { cpuMillicores: 2000 })]);
    expect(rows.task('/ann/a/0').band).toBe('INTERACTIVE');
    expect(rows.attempt(uidOf(rows, '/ann/a/0')).demoted).toBeUndefined();
    rows.nowMs += minute;
    rows.round([machine]);
    const demoted = {
      requested: 'INTERACTIVE',
      effective: 'BATCH',
      user: 'ann',
      spend: 10,
      limit: 9,
      atMs: rows.nowMs,
    };
    expect(rows.task('/ann/b/0').band).toBe('BATCH');
    expect(rows.attempt(uidOf(rows, '/ann/b/0')).demoted).toEqual(demoted);
    const told = rows.changes.flatMap((change) => change.audit).filter(({ entity }) => entity === '/ann/b/0');
    expect(told.at(-1)?.detail).toMatchObject({ band: 'BATCH', spend: 10, limit: 9 });
    // What asked for batch gets what it asked for.
    expect(rows.attempt(uidOf(rows, '/ann/c/0')).demoted).toBeUndefined();
    // The numbers stay those of the decision.
    rows.setBudget('ann', { limit: 500 });
    runAll(rows);
    expect(rows.attempt(uidOf(rows, '/ann/b/0')).demoted).toEqual(demoted);
  });
});
