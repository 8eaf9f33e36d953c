import { describe, expect, it } from 'vitest';
import { leavingTexts } from './leaving.js';

const noon = new Date(2026, 0, 5, 12, 0, 0).getTime();
const attempt = {
  noticeAtMs: null,
  checkpointAtMs: null,
  finishedAtMs: null,
  startedAtMs: noon - 3_600_000,
  signal: null,
  state: 'RUNNING' as const,
};

describe('what an attempt was told', () => {
  it('is nothing for one that was told nothing and told of nothing', () => {
    expect(leavingTexts(attempt, 30_000)).toEqual([]);
  });

  it('says by when one that was told to leave is killed', () => {
    expect(leavingTexts({ ...attempt, noticeAtMs: noon }, 30_000)).toEqual([
      'Told to leave at 12:00:00, killed at 12:00:30 if it has not left by then',
    ]);
  });

  it('tells one that went from one that was killed', () => {
    const told = { ...attempt, state: 'PREEMPTED' as const, noticeAtMs: noon, finishedAtMs: noon + 12_000 };
    expect(leavingTexts(told, 30_000)).toEqual(['Told to leave at 12:00:00, gone at 12:00:12']);
    expect(leavingTexts({ ...told, signal: 'SIGKILL' }, 30_000)).toEqual([
      'Told to leave at 12:00:00, killed at 12:00:12',
    ]);
  });

  it('tells the last checkpoint, and what was lost after it when it was cut off', () => {
    const saved = { ...attempt, checkpointAtMs: noon };
    expect(leavingTexts(saved, 0)).toEqual(['Last checkpoint at 12:00:00']);
    const ended = { ...saved, finishedAtMs: noon + 125_000 };
    expect(leavingTexts({ ...ended, state: 'SUCCEEDED' }, 0)).toEqual(['Last checkpoint at 12:00:00']);
    expect(leavingTexts({ ...ended, state: 'PREEMPTED' }, 0)).toEqual([
      'Last checkpoint at 12:00:00; the 2m 05s of work after it were lost',
    ]);
  });
});
