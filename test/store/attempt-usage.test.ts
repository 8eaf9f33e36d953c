/** What attempts used, on a real database. */
import { attemptUsageSchema } from '../../core/contract/usage.js';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Store } from '../../main/store/types.js';
import {
  changes,
  makeAttempt,
  makeFolder,
  makeJob,
  makeTask,
  openTestStore,
  type Folder,
} from './builders.js';

let folder: Folder;
let store: Store;

beforeEach(() => {
  folder = makeFolder();
  store = openTestStore(folder.database);
});
afterEach(() => {
  store.close();
  folder.remove();
});

it('comes back as it was written, and stays away where nothing was measured', () => {
  const usage = {
    cpuSeconds: 12.25,
    memoryBytes: 1024,
    diskReadBytes: 4096,
    diskWrittenBytes: null,
    gpuPercent: null,
    gpuMemoryBytes: 5e9,
    energyJoules: 7200,
    devicesUsed: ['GPU-1'],
  };
  const job = makeJob('/ann/train', { state: 'RUNNING', numTasks: 2 });
  const tasks = [0, 1].map((index) => makeTask(job, index, { state: 'RUNNING', currentAttempt: 0 }));
  const attempts = tasks.map((task) => makeAttempt(task, 0, { state: 'RUNNING' }));
  store.commit(changes({ jobs: [job], tasks, attempts }));
  const measured = attempts.map((attempt, at) => (at === 0 ? { ...attempt, usage } : attempt));
  store.commit(changes({ attempts: measured }));
  store.close();
  store = openTestStore(folder.database);
  const read = [...store.loadLive().attempts].sort((a, b) => (a.taskId < b.taskId ? -1 : 1));
  expect(read.map((attempt) => attempt.usage)).toEqual([usage, undefined]);
});

it('was stored before disks were measured, and is read all the same', () => {
  const before = { cpuSeconds: 1, memoryBytes: 2, gpuPercent: 3, gpuMemoryBytes: 4, energyJoules: 5 };
  expect(attemptUsageSchema.parse({ ...before, devicesUsed: [] })).toMatchObject({
    ...before,
    diskReadBytes: null,
    diskWrittenBytes: null,
  });
});
