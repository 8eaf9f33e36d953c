/** A data folder as a lab leaves it that has launched thousands of jobs: all have ended, each with a name and a command of its own. */
import { prepareHome, type Home } from '../../main/home.js';
import { openStore } from '../../main/store/store.js';
import { appVersion } from '../../main/version.js';
import { changes, makeAttempt, makeJob, makeSpec, makeTask, silent, together } from '../store/builders.js';

const apartMs = 45_000;
const jobsACommit = 1000;

/** `run-00000` is the newest; every tenth failed. Run N was started with `--seed N`. */
export function fillWithEndedJobs(home: Home, user: string, count: number, nowMs: number): void {
  prepareHome(home);
  const store = openStore({ path: home.database, nowMs: () => nowMs, log: silent, appVersion });
  try {
    const sets = Array.from({ length: count }, (_, index) => endedJob(user, index, nowMs));
    for (let at = 0; at < count; at += jobsACommit) store.commit(together(sets.slice(at, at + jobsACommit)));
    store.checkpoint();
  } finally {
    store.close();
  }
}

function endedJob(user: string, index: number, nowMs: number) {
  const submittedAtMs = nowMs - (index + 2) * apartMs;
  const failed = index % 10 === 9;
  const cause = failed
    ? ({ code: 'EXIT_CODE', message: 'The command ended with exit code 1.' } as const)
    : null;
  const state = failed ? ('FAILED' as const) : ('SUCCEEDED' as const);
  const ended = {
    state,
    cause,
    exitCode: failed ? 1 : 0,
    startedAtMs: submittedAtMs + 1000,
    finishedAtMs: submittedAtMs + 30_000,
  };
  const job = makeJob(`/${user}/run-${String(index).padStart(5, '0')}`, {
    ...ended,
    submittedAtMs,
    spec: makeSpec({ command: ['python3', 'train.py', '--seed', String(index)], workingDirectory: '/tmp' }),
  });
  const task = makeTask(job, 0, { ...ended, final: true, currentAttempt: 0 });
  const attempt = makeAttempt(task, 0, { ...ended, createdAtMs: submittedAtMs });
  return changes({ jobs: [job], tasks: [task], attempts: [attempt] });
}
