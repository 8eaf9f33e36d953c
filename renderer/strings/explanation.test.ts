import { describe, expect, it } from 'vitest';
import type { Explanation } from '../../core/contract/explanation.js';
import { explainedText, reasonDetail } from './explanation.js';

const explained: Explanation = {
  jobId: '/ann/train',
  taskId: '/ann/train/0',
  waiting: 1,
  reasons: [
    { kind: 'demoted', user: 'ann', asked: 'INTERACTIVE', effective: 'BATCH', spend: 4000, limit: 2500 },
  ],
  message: '',
  short: '',
  remedies: [],
  expected: null,
};

describe('what a machine lacks', () => {
  it('is told with what jobs of other controllers have of it', () => {
    const best = {
      workerId: 'w1',
      lacks: [
        { resource: 'cpu', needed: 2000, free: 500, total: 2000, others: 1500 },
        { resource: 'memory', needed: 2 ** 31, free: 2 ** 30, total: 2 ** 31 },
      ],
      gpusUsedByOthers: 0,
      gpusNotAnswering: 0,
      gpusKept: 0,
    } as const;
    const need = { cpuMillicores: 2000, memoryBytes: 2 ** 31, gpuCount: 0, gpuVariant: null };
    expect(
      reasonDetail({ kind: 'capacity', need, possible: 1, best: { ...best, lacks: [...best.lacks] } }),
    ).toBe(
      'Nearest is w1: 2 cores needed, 0.5 of 2 free, 1.5 with jobs of other controllers; 2 GiB of memory needed, 1 GiB of 2 GiB free. 1 machine could run it when empty.',
    );
  });
});

describe('the sentences of an explanation', () => {
  const demoted = 'Demoted to BATCH, asked for INTERACTIVE, because ann has 4000 of 2500 in use.';

  it('have bands and amounts of a demotion as the window writes them, and the rest as it came', () => {
    expect(explainedText(`Waits for /ann/BATCH to end. ${demoted}`, explained)).toBe(
      'Waits for /ann/BATCH to end. Demoted to batch, asked for interactive, because ann has 4,000 of 2,500 in use.',
    );
  });

  it('stay as they came where nothing more is known', () => {
    expect(explainedText(demoted, null)).toBe(demoted);
    expect(explainedText(demoted, { ...explained, reasons: [] })).toBe(demoted);
  });
});
