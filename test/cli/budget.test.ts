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
  const list: Answers = { 'budget.list': () => ({ me: 'ann', mayManage: true, budgets: [ann, bob, eve] }) };

  it('shows people a line a user', async () => {
    const { code, out } = await run(['budget', 'list'], list);
    expect(code).toBe(0);
    expect(out).toBe(
      [
        'USER           LIMIT        SPENT  OF WHICH GPU  MAX BAND     RIGHTS              QUOTA',
        'ann   4500 (default)         1064          1000  interactive  -                   -',
        'bob             1000  1064 (over)          1000  batch        system, production  gpus=4,tasks=10',
        'eve        unlimited         1064          1000  interactive  -                   -',
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
