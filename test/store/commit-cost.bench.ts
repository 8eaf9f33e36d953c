/** What a one-shot job costs in the store: its four change sets, in batches of eight jobs, each batch a durable transaction. */
import { afterAll, bench, describe } from 'vitest';
import { lifeOfJob, makeFolder, openTestStore, together } from './builders.js';

const batch = 8;

describe('2,000 one-shot jobs', () => {
  const folder = makeFolder();
  const store = openTestStore(folder.database);
  afterAll(() => {
    store.close();
    folder.remove();
  });
  let count = 0;

  for (const jobsTogether of [1, batch, 64]) {
    bench(`${jobsTogether} jobs a batch, four commits (time of ${jobsTogether})`, () => {
      const lives = Array.from({ length: jobsTogether }, () => lifeOfJob(`/alice/job-${++count}`));
      for (let step = 0; step < 4; step++) store.commit(together(lives.flatMap((life) => life[step] ?? [])));
    });
  }
});
