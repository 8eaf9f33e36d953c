import { describe, expect, test } from 'vitest';
import { noQuota } from './budgets.js';
import { quotaToText, textToQuota } from './quota-text.js';

describe('a quota as text', () => {
  test.each([
    ['gpus=4', { gpus: 4 }],
    ['GPUs=4, tasks=10', { gpus: 4, tasks: 10 }],
    ['cores=1.5,memory=64GB', { cpuMillicores: 1500, memoryBytes: 64_000_000_000 }],
    ['memory=2GiB', { memoryBytes: 2 * 1024 ** 3 }],
    ['gpus=0', { gpus: 0 }],
    ['gpus=none,tasks=3', { gpus: null, tasks: 3 }],
    ['none', noQuota],
  ])('%s', (text, quota) => {
    expect(textToQuota(text)).toEqual({ ok: true, value: quota });
  });

  test.each([
    ['', 'nothing'],
    ['gpus', 'gpus'],
    ['gpus=', 'gpus='],
    ['gpus=two', 'gpus=two'],
    ['gpus=1.5', 'gpus=1.5'],
    ['tasks=-1', 'tasks=-1'],
    ['memory=many', 'memory=many'],
    ['gpus=4,disk=1', 'disk=1'],
  ])('%j is refused by the word that is wrong', (text, value) => {
    expect(textToQuota(text)).toMatchObject({
      ok: false,
      refusal: { code: 'INVALID_ARGUMENT', fields: [{ field: 'quota', value }] },
    });
  });

  test('reads back what it writes', () => {
    const quota = { tasks: 10, gpus: 4, cpuMillicores: 1500, memoryBytes: 64_000_000_000 };
    expect(quotaToText(quota)).toBe('gpus=4,cores=1.5,memory=64G,tasks=10');
    expect(textToQuota(quotaToText(quota))).toEqual({ ok: true, value: quota });
    expect(quotaToText(noQuota)).toBe('');
  });
});
