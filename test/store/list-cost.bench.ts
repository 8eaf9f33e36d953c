/** What the job list's pages cost over 10,000 and 100,000 finished jobs, and what starting with them costs. */
import { afterAll, bench, describe } from 'vitest';
import { openReads } from '../../main/store/reads.js';
import { lifeOfJob, makeFolder, openTestStore, silent, startMs, together } from './builders.js';

const newest = { key: 'submitted', descending: true } as const;

for (const size of [10_000, 100_000]) {
  describe(`${size} jobs`, () => {
    const folder = makeFolder();
    const store = openTestStore(folder.database);
    for (let done = 0; done < size; done += 1000) {
      const lives = Array.from({ length: 1000 }, (_, index) =>
        lifeOfJob(`/alice/train-model-${done + index}`),
      );
      store.commit(together(lives.flat()));
    }
    store.checkpoint();
    const reads = openReads({ path: folder.database, nowMs: () => startMs, log: silent });
    afterAll(() => {
      reads.close();
      store.close();
      folder.remove();
    });
    const options = { iterations: 5, time: 300, warmupIterations: 1, warmupTime: 0 };

    bench('first page of 50, newest first', () => void reads.jobList({}, newest, 0, 50), options);
    bench(
      'first page of 50, by duration',
      () => void reads.jobList({}, { key: 'duration', descending: true }, 0, 50),
      options,
    );
    bench(
      'first page of 50, failed only',
      () => void reads.jobList({ states: ['FAILED'] }, newest, 0, 50),
      options,
    );
    bench(
      'search that finds one',
      () => void reads.jobList({ search: 'model-9998 true' }, newest, 0, 50),
      options,
    );
    bench('search that finds all', () => void reads.jobList({ search: 'train' }, newest, 0, 50), options);
    bench('counts', () => void reads.counts(), options);
    bench('activity of one job', () => void reads.audit('/alice/train-model-77', null, 100), options);
    bench('open and check', () => openTestStore(folder.database).close(), options);
    bench('what a controller starts from', () => void store.loadLive(), options);
  });
}
