/** Every line of iris-behaviour section 4, and what is ours: rights of their own, scaled limits. */
import { describe, expect, test } from 'vitest';
import { scaledDefaultLimit } from './default-limit.js';
import { checkBand, demotionOf, effectiveBand, originalDefaultBudget } from './effective-band.js';
import { chargedIdentity, spendByUser } from './spend.js';
import { budgetsOfTiers } from './tiers.js';
import { resourceValue, valueParts } from './value.js';

const gib = 2 ** 30;
const amount = (cpu: number, memory: number, gpuCount: number) => ({
  cpuMillicores: cpu * 1000,
  memoryBytes: memory * gib,
  gpuCount,
});

describe('resource value', () => {
  test.each([
    ['4 CPU + 16 GiB', amount(4, 16, 0), 36],
    ['8 CPU + 64 GiB + 4 GPU', amount(8, 64, 4), 4104],
    ['96 CPU + 320 GiB + 8 TPU', amount(96, 320, 8), 8800],
    ['1.5 CPU + 1.5 GiB', amount(1.5, 1.5, 0), 6],
    ['no resources', amount(0, 0, 0), 0],
  ])('%s', (_, resources, value) => {
    expect(resourceValue(resources)).toBe(value);
  });

  test('by part', () => {
    expect(valueParts(amount(8, 64, 4))).toEqual({ gpus: 4000, memory: 64, processors: 40 });
  });
});

describe('effective band', () => {
  test.each([
    ['INTERACTIVE', 10_000, 5000, 'BATCH'],
    ['INTERACTIVE', 3000, 5000, 'INTERACTIVE'],
    ['INTERACTIVE', 999_999, 0, 'INTERACTIVE'],
    ['INTERACTIVE', 5000, 5000, 'INTERACTIVE'],
    ['PRODUCTION', 10_000, 5000, 'PRODUCTION'],
    ['SYSTEM', 10_000, 5000, 'SYSTEM'],
    ['BATCH', 10_000, 5000, 'BATCH'],
  ] as const)('%s, spend %d / limit %d: %s', (requested, spend, limit, band) => {
    expect(effectiveBand(requested, spend, limit)).toBe(band);
  });

  test('demoted because: the numbers', () => {
    expect(demotionOf('INTERACTIVE', 5001, 5000)).toEqual({
      requested: 'INTERACTIVE',
      spend: 5001,
      limit: 5000,
    });
    expect(demotionOf('BATCH', 5001, 5000)).toBeNull();
  });
});

describe('spend', () => {
  test('over active tasks whose requested band is not BATCH, by part', () => {
    const spends = spendByUser([
      { user: 'ann', requestedBand: 'INTERACTIVE', ...amount(4, 16, 0) },
      { user: 'ann', requestedBand: 'PRODUCTION', ...amount(8, 64, 4) },
      { user: 'ann', requestedBand: 'BATCH', ...amount(8, 64, 4) },
      { user: 'bob', requestedBand: 'BATCH', ...amount(8, 64, 4) },
    ]);
    expect([...spends]).toEqual([['ann', { gpus: 4000, memory: 80, processors: 60, total: 4140 }]]);
  });

  test.each([
    ['ann', 'bob', 'ann'],
    ['', 'bob', 'bob'],
    ['local_admin', 'bob', 'bob'],
  ])('submitted by "%s", owned by %s: charged to %s', (submitter, owner, charged) => {
    expect(chargedIdentity(submitter, owner)).toBe(charged);
  });
});

describe('ceiling', () => {
  const budget = { limit: 1000, maxBand: 'INTERACTIVE' as const, allow: [] };

  test('a band better than the user’s is refused; as good or worse is not', () => {
    expect(checkBand('ann', 'INTERACTIVE', { ...budget, maxBand: 'BATCH' })).toMatchObject({
      ok: false,
      refusal: { code: 'PERMISSION_DENIED' },
    });
    expect(checkBand('ann', 'BATCH', budget).ok).toBe(true);
    expect(checkBand('ann', 'INTERACTIVE', originalDefaultBudget).ok).toBe(true);
  });

  test('SYSTEM and PRODUCTION need a right of their own, and the refusal names it', () => {
    const refused = checkBand('ann', 'PRODUCTION', { ...budget, maxBand: 'SYSTEM' });
    expect(refused).toMatchObject({ ok: false, refusal: { code: 'PERMISSION_DENIED' } });
    expect(refused.ok ? '' : refused.refusal.message).toContain('irisctl budget set ann --allow production');
    expect(checkBand('ann', 'PRODUCTION', { ...budget, allow: ['PRODUCTION'] }).ok).toBe(true);
    expect(checkBand('ann', 'SYSTEM', { ...budget, allow: ['PRODUCTION'] }).ok).toBe(false);
    expect(checkBand('ann', 'SYSTEM', budget, true).ok).toBe(true);
  });
});

describe('tiers', () => {
  test('in order, the later wins; users not listed get no row', () => {
    const result = budgetsOfTiers([
      { users: ['ann', 'bob'], limit: 100, maxBand: 'batch' },
      { users: ['bob'], limit: 0, maxBand: 'INTERACTIVE', allow: ['PRODUCTION'] },
    ]);
    expect(result.ok && [...result.value]).toEqual([
      ['ann', { limit: 100, maxBand: 'BATCH', allow: [] }],
      ['bob', { limit: 0, maxBand: 'INTERACTIVE', allow: ['PRODUCTION'] }],
    ]);
  });

  test.each([
    ['a bad band', { users: ['ann'], limit: 1, maxBand: 'urgent' }, 'tiers.1.maxBand'],
    ['an empty user', { users: [' '], limit: 1, maxBand: 'batch' }, 'tiers.1.users'],
    ['a bad limit', { users: ['ann'], limit: -1, maxBand: 'batch' }, 'tiers.1.limit'],
  ])('%s aborts all', (_, tier, field) => {
    const result = budgetsOfTiers([{ users: ['bob'], limit: 1, maxBand: 'batch' }, tier]);
    expect(result).toMatchObject({ ok: false, refusal: { code: 'INVALID_ARGUMENT', fields: [{ field }] } });
  });
});

describe('default limit', () => {
  test('half the cluster, at least its largest machine, at least 1000', () => {
    expect(scaledDefaultLimit([])).toBe(1000);
    expect(scaledDefaultLimit([amount(96, 300, 8)])).toBe(8800);
    expect(scaledDefaultLimit(Array.from({ length: 4 }, () => amount(96, 320, 8)))).toBe(17_600);
  });
});
