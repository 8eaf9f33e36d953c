import { describe, expect, it } from 'vitest';
import { eitherWayWords, unfinishedWords } from '../../main/shell/leaving-words.js';

describe('what is said of the jobs on leaving', () => {
  it.each([
    [0, ''],
    [1, '1 job is not finished. It goes on either way. '],
    [2, '2 jobs are not finished. They go on either way. '],
    [12_345, '12,345 jobs are not finished. They go on either way. '],
  ])('%i unfinished', (unfinished, words) => {
    expect(eitherWayWords(unfinished)).toBe(words);
  });

  it('counts them alone where they are asked about', () => {
    expect([unfinishedWords(1), unfinishedWords(1000)]).toEqual([
      '1 job is not finished.',
      '1,000 jobs are not finished.',
    ]);
  });
});
