import { describe, expect, it } from 'vitest';
import { bytesBeforeCut, engineCutMessage, logCutMessage, logCutOf } from './log-cut.js';

describe('the place where a log may be cut', () => {
  it('is read back from the sentence that tells it', () => {
    const message = logCutMessage('/data/after 7 bytes/uid', 'while the task ran', { out: 4096, err: 12 });
    expect(message).toBe(
      'The disk that holds its log (/data/after 7 bytes/uid) was full while the task ran: the log may be cut after 4096 bytes of its output and 12 bytes of its error output.',
    );
    expect(logCutOf([{ code: 'LOG_STORAGE_FULL', message }])).toEqual({ out: 4096, err: 12 });
  });

  it('tells a restarted Engine apart from a full disk', () => {
    const message = engineCutMessage({ out: 4096, err: 12 });
    expect(message).toContain('The Docker Engine was restarted');
    expect(logCutOf([{ code: 'LOG_ENGINE_RESTARTED', message }])).toEqual({
      out: 4096,
      err: 12,
      by: 'engine',
    });
  });

  it('is none where no warning names one', () => {
    const message = logCutMessage('/data', 'when the task ended', { out: 1, err: 2 });
    expect(logCutOf([])).toBe(null);
    expect(logCutOf([{ code: 'LOG_STORAGE_FULL', message: 'The disk was full.' }])).toBe(null);
    expect(logCutOf([{ code: 'MEMORY_NEAR_LIMIT', message }])).toBe(null);
  });

  it.each([
    ['within a piece', 'out', 100, 50, 20],
    ['at its end', 'out', 100, 20, 20],
    ['at its start: it was in the piece before', 'out', 120, 50, null],
    ['behind it', 'out', 100, 19, null],
    ['before it', 'out', 121, 50, null],
    ['before the first byte', 'err', 0, 50, 0],
    ['an empty piece', 'err', 0, 0, null],
  ] as const)('%s', (_what, stream, offset, length, expected) => {
    expect(bytesBeforeCut({ out: 120, err: 0 }, { stream, offset, length })).toBe(expected);
  });

  it('is in no piece of a log that is whole', () => {
    expect(bytesBeforeCut(null, { stream: 'out', offset: 0, length: 9 })).toBe(null);
  });
});
