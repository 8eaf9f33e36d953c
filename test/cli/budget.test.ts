import { afterEach, describe, expect, it } from 'vitest';
import { noQuota, type BudgetView } from '../../core/contract/budgets.js';
import { refusal, RefusalError } from '../../core/contract/errors.js';
import { runProgram } from '../../main/cli/program.js';
import { testContext, type TestContext } from './context.js';
import { FakeHost, type Answers } from './fake-host.js';

let host: FakeHost;
const contexts: TestContext[] = [];

const ann: BudgetView = {
  user: 'ann',
  isSet: false,
  limit: 4500,
  limitIsDefault: true,
  maxBand: 'INTERACTIVE',
  allow: [],
  quota: noQuota,
  spend: { gpus: 1000, memory: 24, processors: 40, total: 1064 },
  overLimit: false,
  used: { gpus: 24, memory: 0.192, processors: 0.12, total: 24.312 },
  faded: null,
  atMs: 1_700_000_000_000,
  updatedAtMs: null,
};
const bob: BudgetView = {
  ...ann,
  user: 'bob',
  isSet: true,
  limit: 1000,
  limitIsDefault: false,
  maxBand: 'BATCH',
  allow: ['SYSTEM', 'PRODUCTION'],
  quota: { ...noQuota, gpus: 4, tasks: 10 },
  overLimit: true,
  updatedAtMs: 1_700_000_000_000,
};
const eve: BudgetView = { ...ann, user: 'eve', limit: 'unlimited', limitIsDefault: false, isSet: true };

async function run(words: readonly string[], answers: Answers, json = false) {
  host = await FakeHost.start(answers);
  const made = testContext(host.home, { json });
  contexts.push(made);
  const code = await runProgram(made.context, words);
  return { code, out: made.out(), err: made.err() };
}

const setParams = () => host.calls.find((call) => call.method === 'budget.set')?.params;

afterEach(async () => {
  for (const made of contexts.splice(0)) made.context.link.close();
  await host.dispose();
});

describe('budget list', () => {
  const list: Answers = {
    'budget.list': () => ({ me: 'ann', mayManage: true, halfLifeMs: null, budgets: [ann, bob, eve] }),
  };

  it('shows people a line a user', async () => {
    const { code, out } = await run(['budget', 'list'], list);
    expect(code).toBe(0);
    expect(out).toBe(
      [
        'USER           LIMIT        SPENT  OF WHICH GPU  GPU-HOURS  MAX BAND     RIGHTS              QUOTA',
        'ann   4500 (default)         1064          1000      24.31  interactive  -                   -',
        'bob             1000  1064 (over)          1000      24.31  batch        system, production  gpus=4,tasks=10',
        'eve        unlimited         1064          1000      24.31  interactive  -                   -',
        '',
      ].join('\n'),
    );
  });

  it('shows what is left of past use where it fades, and how fast', async () => {
    const { out } = await run(['budget', 'list'], {
      'budget.list': () => ({
        me: 'ann',
        mayManage: true,
        halfLifeMs: 7 * 86_400_000,
        budgets: [{ ...ann, faded: { gpus: 1234, memory: 0, processors: 0.5, total: 1234.5 } }],
      }),
    });
    expect(out).toBe(
      [
        'USER           LIMIT  SPENT  OF WHICH GPU  GPU-HOURS  FADED  MAX BAND     RIGHTS  QUOTA',
        'ann   4500 (default)   1064          1000      24.31   1235  interactive  -       -',
        'Half-life of past use: 7d. Users are ordered by their faded GPU-hours.',
        '',
      ].join('\n'),
    );
  });

  it('gives programs the records', async () => {
    const { out } = await run(['budget', 'list'], list, true);
    expect(JSON.parse(out)).toEqual([ann, bob, eve]);
  });

  it('is also found where the original has it', async () => {
    expect((await run(['user', 'budget', 'list'], list)).code).toBe(0);
  });
});

describe('budget get', () => {
  it('shows what holds for one user', async () => {
    const { code, out } = await run(['budget', 'get', 'bob'], { 'budget.get': () => bob }, true);
    expect(code).toBe(0);
    expect(JSON.parse(out)).toEqual(bob);
    expect(host.calls.at(-1)).toEqual({ method: 'budget.get', params: { user: 'bob' } });
  });

  it('shows people what is used by what it is used for', async () => {
    const faded = { gpus: 12, memory: 0.096, processors: 0.06, total: 12.156 };
    const { out } = await run(['budget', 'get', 'ann'], { 'budget.get': () => ({ ...ann, faded }) });
    expect(out.split('\n').slice(2)).toEqual([
      '',
      'PART         NOW  GPU-HOURS  FADED',
      'gpus        1000      24.00  12.00',
      'memory        24       0.19   0.10',
      'processors    40       0.12   0.06',
      'total       1064      24.31  12.16',
      '',
    ]);
  });
});

describe('budget set --half-life', () => {
  const set: Answers = { 'budget.halfLife': ({ halfLifeMs }) => ({ halfLifeMs }) };
  const asked = () => host.calls.find((call) => call.method === 'budget.halfLife')?.params;

  it.each([
    ['7d', 7 * 86_400_000, '7d'],
    ['36h', 36 * 3_600_000, '36h'],
    ['OFF', null, 'off'],
  ])('%s holds for all users', async (text, halfLifeMs, shown) => {
    const { code, out } = await run(['budget', 'set', '--half-life', text], set);
    expect(code).toBe(0);
    expect(out).toMatch(new RegExp(`^Half-life of past use: ${shown}\\. Users are ordered by `));
    expect(asked()).toMatchObject({ halfLifeMs });
  });

  it.each([
    [
      ['--half-life', '5m'],
      '--half-life: 5m is not valid; expected a duration from 1h to 3650d such as 7d, or off',
    ],
    [['--half-life', 'never'], '--half-life: never is not valid; expected a duration from 1h'],
    [['bob', '--half-life', '7d'], '--half-life: for bob is not valid; expected neither a user'],
    [['--half-life', '7d', '--limit', '5'], '--half-life: with other options is not valid; expected neither'],
    [['--limit', '5'], 'USER: none is not valid; expected the name of a user, or --half-life'],
  ])('%j is refused before anything is sent', async (words, message) => {
    const refused = await run(['budget', 'set', ...words], set).catch((error: unknown) => error);
    expect((refused as RefusalError).refusal.message).toContain(message);
    expect(asked()).toBeUndefined();
  });
});

describe('budget set', () => {
  const set: Answers = { 'budget.set': () => bob };

  it.each([
    [['--limit', '500'], { limit: 500 }],
    [['--limit', '0'], { limit: 'unlimited' }],
    [['--limit', 'Unlimited'], { limit: 'unlimited' }],
    [['--limit', 'default'], { limit: 'default' }],
    [['--max-band', 'batch'], { maxBand: 'BATCH' }],
    [['--allow', 'production'], { allow: ['PRODUCTION'] }],
    [['--allow', 'production', '--allow', 'SYSTEM'], { allow: ['PRODUCTION', 'SYSTEM'] }],
    [['--disallow', 'system,production'], { disallow: ['SYSTEM', 'PRODUCTION'] }],
    [
      ['--limit', '7', '--max-band', 'interactive', '--allow', 'system', '--disallow', 'production'],
      { limit: 7, maxBand: 'INTERACTIVE', allow: ['SYSTEM'], disallow: ['PRODUCTION'] },
    ],
  ])('%j sets what is named', async (words, change) => {
    const { code, out, err } = await run(['budget', 'set', 'bob', ...words], set);
    expect([code, err]).toEqual([0, '']);
    expect(out.split('\n')[1]).toMatch(/^bob +1000 +1064 \(over\)/);
    expect(setParams()).toMatchObject({
      user: 'bob',
      change: { allow: [], disallow: [], ...change },
    });
  });

  it('says that a best band is no right', async () => {
    const { code, err } = await run(['budget', 'set', 'eve', '--max-band', 'production'], {
      'budget.set': () => ({ ...eve, maxBand: 'PRODUCTION' }),
    });
    expect([code, err]).toEqual([
      0,
      'irisctl: a best band of production gives no right to it; add --allow production.\n',
    ]);
  });

  it.each([
    [['--limit', 'lots'], '--limit: lots is not valid; expected a whole number from 1 to 1000000000'],
    [['--limit', '-5'], '--limit: -5 is not valid; expected a whole number from 1 to 1000000000'],
    [['--limit', '1.5'], '--limit: 1.5 is not valid; expected a whole number from 1 to 1000000000'],
    [
      ['--max-band', 'fast'],
      '--max-band: fast is not valid; expected one of system, production, interactive, batch.',
    ],
    [
      ['--allow', 'batch'],
      '--allow: batch is not valid; expected system or production; the other bands need no right.',
    ],
  ])('%j is refused before anything is sent', async (words, message) => {
    const refused = await run(['budget', 'set', 'bob', ...words], set).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(RefusalError);
    expect((refused as RefusalError).refusal.message).toContain(message);
    expect(setParams()).toBeUndefined();
  });

  it('passes a refusal of the controller on', async () => {
    const refused = await run(['budget', 'set', 'bob', '--limit', '5'], {
      'budget.set': () => {
        throw new RefusalError(refusal('PERMISSION_DENIED', 'eve may not set budgets.'));
      },
    }).catch((error: unknown) => error);
    expect((refused as RefusalError).refusal.code).toBe('PERMISSION_DENIED');
  });
});
