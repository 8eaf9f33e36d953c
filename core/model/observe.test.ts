/** Section 2.3 (applying one observation), one test a step, and the table of MISSING in 5.2. */
import { afterEach, describe, expect, test } from 'vitest';
import { observeAll, preempt } from './transitions.js';
import { report, World } from './test-world.js';

let world = new World();
const fresh = () => (world = new World());

afterEach(() => {
  expect(world.violations()).toEqual([]);
});

describe('applying one observation', () => {
  test('1: an unknown attempt is dropped and said so', () => {
    expect(fresh().observe('ffffffffffffffff', 'SUCCEEDED')).toBe('unknown');
    expect(world.changes.at(-1)).toMatchObject({ jobs: [], tasks: [], attempts: [], audit: [] });
  });

  test('2: what an earlier item of the batch made terminal is not changed by a later one', () => {
    const id = fresh().submit();
    const uid = world.run(`${id}/0`);
    const outcomes = world.step((draft) =>
      observeAll(draft, [report(uid, 'SUCCEEDED'), report(uid, 'FAILED', { exitCode: 1 })], world.nowMs),
    );
    expect(outcomes).toEqual(['applied', 'stale']);
    expect(world.job(id).state).toBe('SUCCEEDED');
  });

  test('3: of a task that is over only a terminal report counts, to stamp the finish', () => {
    const id = fresh().submit();
    const uid = world.run(`${id}/0`);
    world.cancel(id);
    expect(world.observe(uid, 'RUNNING')).toBe('stale');
    expect(world.attempt(uid).finishedAtMs).toBeNull();
    expect(world.observe(uid, 'SUCCEEDED', { finishedAtMs: 77, exitCode: 0 })).toBe('finished');
    expect(world.attempt(uid)).toMatchObject({ state: 'KILLED', finishedAtMs: 77, exitCode: 0 });
    expect(world.observe(uid, 'FAILED', { finishedAtMs: 99, exitCode: 9 })).toBe('stale');
    expect(world.attempt(uid)).toMatchObject({ finishedAtMs: 77, exitCode: 0 });
  });

  test('4: a report of an attempt that is not the current one changes nothing but its own finish', () => {
    const id = fresh().submit();
    const first = world.run(`${id}/0`);
    world.step((draft) => preempt(draft, first, { reason: 'r', actor: 'controller', nowMs: world.nowMs }));
    expect(world.observe(first, 'SUCCEEDED')).toBe('finished');
    expect(world.task(`${id}/0`).state).toBe('PENDING');
    const second = world.run(`${id}/0`);
    expect(world.observe(first, 'FAILED', { exitCode: 1 })).toBe('stale');
    expect(world.task(`${id}/0`).state).toBe('RUNNING');
    expect(world.attempt(second).state).toBe('RUNNING');
  });

  test('a warning that became the cause of the end is told once, and others stay', () => {
    const id = fresh().submit();
    const uid = world.assign(`${id}/0`);
    const again = { code: 'REGISTRY_UNREACHABLE', message: 'It is asked again 5 s later.' } as const;
    const other = { code: 'GPU_IDLE', message: 'A card lies idle.' } as const;
    world.observe(uid, 'BUILDING', { warnings: [again, other] });
    expect(world.attempt(uid).warnings).toEqual([again, other]);
    const cause = { code: 'REGISTRY_UNREACHABLE', message: 'It was asked 6 times.' } as const;
    world.observe(uid, 'WORKER_FAILED', { warnings: [other], cause });
    expect(world.attempt(uid)).toMatchObject({ warnings: [other], cause });
  });

  test('a warning that says where the log may be cut stays also where that was the end', () => {
    const id = fresh().submit();
    const uid = world.run(`${id}/0`);
    const warning = { code: 'LOG_STORAGE_FULL', message: 'Output may be missing.' } as const;
    world.observe(uid, 'RUNNING', { warnings: [warning] });
    world.observe(uid, 'FAILED', { cause: { code: 'LOG_STORAGE_FULL', message: 'The disk was full.' } });
    expect(world.attempt(uid).warnings).toEqual([warning]);
  });

  test('an attempt whose first report is its end has its start in the audit as well, before the end', () => {
    const id = fresh().submit();
    const uid = world.assign(`${id}/0`);
    world.observe(uid, 'SUCCEEDED', { startedAtMs: 5, finishedAtMs: 6 });
    const actions = world.changes.at(-1)?.audit.map((entry) => entry.action) ?? [];
    expect(actions.slice(0, 2)).toEqual(['attempt_started', 'job_started']);
    expect(actions.filter((action) => action === 'attempt_started')).toHaveLength(1);
  });

  test('5: the same state with nothing new writes nothing', () => {
    const id = fresh().submit();
    const uid = world.run(`${id}/0`);
    expect(world.observe(uid, 'RUNNING', { startedAtMs: 1, peakMemoryBytes: 5 })).toBe('unchanged');
    expect(world.changes.at(-1)).toMatchObject({ tasks: [], attempts: [], audit: [] });
  });

  test('6: an attempt that is over is never revived', () => {
    const id = fresh().submit({ maxRetries: 1 });
    const uid = world.run(`${id}/0`);
    world.observe(uid, 'FAILED', { exitCode: 1 });
    expect(world.observe(uid, 'RUNNING')).toBe('stale');
    expect(world.attempt(uid).state).toBe('FAILED');
    expect(world.task(`${id}/0`).state).toBe('PENDING');
  });

  test('6: a RUNNING attempt does not go back to BUILDING when reports overtake each other', () => {
    const id = fresh().submit();
    const uid = world.run(`${id}/0`);
    expect(world.observe(uid, 'BUILDING')).toBe('unchanged');
    expect(world.task(`${id}/0`).state).toBe('RUNNING');
  });

  test('7: attempt and task are written, then the job is derived once for the batch', () => {
    const id = fresh().submit({ replicas: 3 });
    const uids = [0, 1, 2].map((index) => world.run(`${id}/${index}`));
    world.step((draft) =>
      observeAll(
        draft,
        uids.map((uid) => report(uid, 'SUCCEEDED')),
        world.nowMs,
      ),
    );
    expect(world.job(id).state).toBe('SUCCEEDED');
    expect(world.changes.at(-1)?.jobs.length).toBe(1);
    expect(world.actions().filter((action) => action === 'job_completed').length).toBe(1);
  });

  test('exit code 0 given with FAILED stays what was seen; success is told by SUCCEEDED alone', () => {
    const id = fresh().submit();
    world.observe(world.run(`${id}/0`), 'FAILED', {
      exitCode: 0,
      cause: { code: 'SUPERVISOR_LOST', message: 'lost' },
    });
    expect(world.job(id)).toMatchObject({ state: 'FAILED', cause: { code: 'SUPERVISOR_LOST' } });
  });

  test('reports of a job that ended while nobody watched: it ended when its last task did', () => {
    const id = fresh().submit({ replicas: 2 });
    const [a, b] = [world.assign(`${id}/0`), world.assign(`${id}/1`)];
    const t = world.nowMs;
    world.nowMs += 3_600_000;
    world.observe(a, 'SUCCEEDED', { startedAtMs: t + 10, finishedAtMs: t + 50 });
    world.observe(b, 'SUCCEEDED', { startedAtMs: t + 11, finishedAtMs: t + 40 });
    expect(world.job(id)).toMatchObject({ startedAtMs: t + 10, finishedAtMs: t + 50 });
    expect(world.changes.at(-1)?.inbox).toMatchObject([{ jobId: id, state: 'SUCCEEDED', durationMs: 40 }]);
  });

  test('cards left idle, and others on them, are told to the owner while it runs, once a job and kind', () => {
    const id = fresh().submit({ replicas: 2 });
    const [a, b] = [world.run(`${id}/0`), world.run(`${id}/1`)];
    const warn = (uid: string, ...codes: ('GPU_IDLE' | 'GPU_INTRUDER' | 'MEMORY_NEAR_LIMIT')[]) => {
      world.observe(uid, 'RUNNING', { warnings: codes.map((code) => ({ code, message: `${code} it is` })) });
      return world.changes.at(-1)?.inbox ?? [];
    };
    expect(warn(a, 'MEMORY_NEAR_LIMIT')).toEqual([]);
    expect(warn(a, 'GPU_IDLE')).toMatchObject([
      { jobId: id, state: 'RUNNING', cause: { code: 'GPU_IDLE', message: 'GPU_IDLE it is' } },
    ]);
    expect(warn(b, 'GPU_IDLE')).toEqual([]);
    expect(warn(b, 'GPU_IDLE', 'GPU_INTRUDER')).toMatchObject([{ cause: { code: 'GPU_INTRUDER' } }]);
    expect(warn(a, 'GPU_INTRUDER')).toEqual([]);
    // Again in a later run of the same tasks it is no news.
    for (const uid of [a, b]) {
      world.step((draft) => preempt(draft, uid, { reason: 'r', actor: 'controller', nowMs: world.nowMs }));
      world.observe(uid, 'KILLED', { finishedAtMs: world.nowMs });
    }
    const [again] = [world.run(`${id}/0`), world.run(`${id}/1`)];
    expect(warn(again, 'GPU_IDLE', 'GPU_INTRUDER')).toEqual([]);
  });

  test('a finish before the start (a clock set back): the measured duration counts, else 0, never less', () => {
    const id = fresh().submit();
    const uid = world.assign(`${id}/0`);
    world.observe(uid, 'RUNNING', { startedAtMs: 5000 });
    world.observe(uid, 'SUCCEEDED', { finishedAtMs: 4000, durationMs: 12 });
    expect(world.changes.at(-1)?.inbox[0]?.durationMs).toBe(12);
    expect(world.attempt(uid).durationMs).toBe(12);
    const lost = world.submit();
    const unmeasured = world.assign(`${lost}/0`);
    world.observe(unmeasured, 'RUNNING', { startedAtMs: 5000 });
    world.observe(unmeasured, 'FAILED', { finishedAtMs: 4000, exitCode: 1 });
    expect(world.changes.at(-1)?.inbox[0]?.durationMs).toBe(0);
  });
});

describe('warnings', () => {
  const near = { code: 'MEMORY_NEAR_LIMIT', message: 'It uses 58 of 61 MiB.' } as const;
  const remain = { code: 'PROCESSES_REMAIN', message: '7 (python, state D) does not end.' } as const;
  const warned = () =>
    world.changes.flatMap((change) => change.audit.filter(({ action }) => action === 'attempt_warned'));

  test('of a running attempt are kept, with one audit row, whatever comes after', () => {
    const id = fresh().submit();
    const uid = world.run(`${id}/0`);
    expect(world.observe(uid, 'RUNNING', { warnings: [near] })).toBe('applied');
    expect(world.attempt(uid)).toMatchObject({ state: 'RUNNING', cause: null, warnings: [near] });
    expect(world.observe(uid, 'RUNNING', { warnings: [near] })).toBe('unchanged');
    // A host that came after knows nothing of them.
    expect(world.observe(uid, 'RUNNING')).toBe('unchanged');
    world.observe(uid, 'SUCCEEDED');
    expect(world.attempt(uid)).toMatchObject({ state: 'SUCCEEDED', cause: null, warnings: [near] });
    expect(warned()).toMatchObject([{ entity: `${id}/0:0`, actor: 'controller', detail: { uid, ...near } }]);
  });

  test('come with the start or with the end as well', () => {
    const id = fresh().submit({ replicas: 2 });
    const [first, second] = [world.assign(`${id}/0`), world.assign(`${id}/1`)];
    world.observe(first, 'RUNNING', { warnings: [near] });
    expect(world.attempt(first)).toMatchObject({ state: 'RUNNING', warnings: [near] });
    world.observe(second, 'FAILED', { startedAtMs: 5, exitCode: 1, warnings: [near, remain] });
    expect(world.attempt(second)).toMatchObject({ cause: { code: 'EXIT_CODE' }, warnings: [near, remain] });
    const actions = world.changes.at(-1)?.audit.map(({ action }) => action) ?? [];
    expect(actions.slice(0, 4)).toEqual([
      'attempt_started',
      'attempt_warned',
      'attempt_warned',
      'attempt_ended',
    ]);
  });

  test('of one code the last message stays, and only the first is in the audit', () => {
    const id = fresh().submit();
    const uid = world.run(`${id}/0`);
    world.observe(uid, 'RUNNING', { warnings: [near] });
    const later = { ...near, message: 'It uses 60 of 61 MiB.' };
    expect(world.observe(uid, 'RUNNING', { warnings: [later, remain] })).toBe('applied');
    expect(world.attempt(uid).warnings).toEqual([later, remain]);
    expect(warned().map(({ detail }) => detail['message'])).toEqual([near.message, remain.message]);
  });

  test('what is left of a stopped attempt is named while it is not verified gone, and not after', () => {
    const id = fresh().submit();
    const uid = world.run(`${id}/0`);
    world.cancel(id);
    expect(world.observe(uid, 'RUNNING', { warnings: [remain] })).toBe('applied');
    expect(world.attempt(uid)).toMatchObject({
      state: 'KILLED',
      finishedAtMs: null,
      cause: { code: 'STOPPED_BY_USER' },
      warnings: [remain],
    });
    expect(world.observe(uid, 'RUNNING', { warnings: [remain] })).toBe('stale');
    expect(world.observe(uid, 'KILLED', { warnings: [remain, near] })).toBe('finished');
    expect(world.attempt(uid).warnings).toEqual([remain, near]);
    expect(world.observe(uid, 'RUNNING', { warnings: [{ ...near, message: 'late' }] })).toBe('stale');
    expect(world.attempt(uid).warnings).toEqual([remain, near]);
  });
});

describe('MISSING', () => {
  test('while the task is active: WORKER_FAILED on the preemption budget', () => {
    const id = fresh().submit({ maxRetriesPreemption: 0 });
    const uid = world.run(`${id}/0`);
    expect(world.observe(uid, 'MISSING')).toBe('applied');
    expect(world.attempt(uid)).toMatchObject({ state: 'WORKER_FAILED', cause: { code: 'WORKER_LOST' } });
    expect(world.job(id).state).toBe('WORKER_FAILED');
  });

  test('when the task is over: only stamps the finish', () => {
    const id = fresh().submit();
    const uid = world.run(`${id}/0`);
    world.cancel(id);
    expect(world.observe(uid, 'MISSING')).toBe('finished');
    expect(world.attempt(uid)).toMatchObject({ state: 'KILLED', finishedAtMs: world.nowMs });
    expect(world.job(id).state).toBe('KILLED');
  });

  test('a backend that knows why (a reboot) is believed', () => {
    const id = fresh().submit({ maxRetriesPreemption: 0 });
    const cause = { code: 'REBOOTED', message: 'The machine was started anew.' } as const;
    world.observe(world.run(`${id}/0`), 'MISSING', { cause });
    expect(world.job(id).cause).toEqual(cause);
  });
});

describe('checkpoints', () => {
  test('the last one told of counts, also of an attempt that is being stopped', () => {
    const world = new World();
    const id = world.submit();
    const uid = world.run(`${id}/0`);
    const startMs = world.attempt(uid).startedAtMs ?? Number.NaN;
    expect(world.observe(uid, 'RUNNING', { checkpointAtMs: startMs + 50 })).toBe('applied');
    expect(world.observe(uid, 'RUNNING', { checkpointAtMs: startMs + 50 })).toBe('unchanged');
    expect(world.observe(uid, 'RUNNING', { checkpointAtMs: null })).toBe('unchanged');
    expect(world.observe(uid, 'RUNNING', { checkpointAtMs: startMs + 40 })).toBe('unchanged');
    expect(world.attempt(uid).checkpointAtMs).toBe(startMs + 50);
    world.step((draft) => preempt(draft, uid, { reason: 'r', actor: 'controller', nowMs: world.nowMs }));
    world.observe(uid, 'RUNNING', { checkpointAtMs: startMs + 70 });
    expect(world.attempt(uid)).toMatchObject({ state: 'PREEMPTED', checkpointAtMs: startMs + 70 });
    world.observe(uid, 'SUCCEEDED', { checkpointAtMs: startMs + 90 });
    expect(world.attempt(uid)).toMatchObject({ state: 'PREEMPTED', checkpointAtMs: startMs + 90 });
  });

  test('none was before the start, whatever the clock of the file says', () => {
    const world = new World();
    const uid = world.run(`${world.submit()}/0`);
    const startMs = world.attempt(uid).startedAtMs ?? Number.NaN;
    expect(world.observe(uid, 'RUNNING', { checkpointAtMs: startMs - 4 })).toBe('applied');
    expect(world.attempt(uid).checkpointAtMs).toBe(startMs);
    expect(world.observe(uid, 'RUNNING', { checkpointAtMs: startMs - 4 })).toBe('unchanged');
  });
});
