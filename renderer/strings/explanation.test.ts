import { describe, expect, it } from 'vitest';
import type { Explanation } from '../../core/contract/explanation.js';
import { explainedText } from './explanation.js';

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
