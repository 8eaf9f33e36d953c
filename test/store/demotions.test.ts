/** Why attempts were placed in a lower band than asked for, on a real database. */
import { expect, it } from 'vitest';
import { openReads } from '../../main/store/reads.js';
import {
  changes,
  makeAttempt,
  makeFolder,
  makeJob,
  makeTask,
  openTestStore,
  silent,
  startMs,
} from './builders.js';

it('comes back as it was written, also after the attempt has changed, and stays away from the others', () => {
  const folder = makeFolder();
  const store = openTestStore(folder.database);
  const demoted = {
    requested: 'INTERACTIVE',
    effective: 'BATCH',
    user: 'ann',
    spend: 812,
    limit: 800,
    atMs: startMs,
  } as const;
  const job = makeJob('/ann/train', { state: 'RUNNING', numTasks: 2 });
  const tasks = [0, 1].map((index) => makeTask(job, index, { state: 'RUNNING', currentAttempt: 0 }));
  const attempts = tasks.map((task, at) => makeAttempt(task, 0, at === 0 ? { demoted } : {}));
  store.commit(changes({ jobs: [job], tasks, attempts }));
  store.commit(
    changes({
      attempts: attempts.map((attempt) => ({ ...attempt, state: 'RUNNING', startedAtMs: startMs })),
    }),
  );
  expect(store.loadLive().attempts.map((attempt) => attempt.demoted)).toEqual([demoted, undefined]);
  const reads = openReads({ path: folder.database, nowMs: () => startMs, log: silent });
  const shown = reads.taskList('/ann/train', 0, 10).rows.flatMap((task) => task.attempts);
  expect(shown.map((attempt) => attempt.demoted)).toEqual([demoted, undefined]);
  reads.close();
  store.close();
  folder.remove();
});
