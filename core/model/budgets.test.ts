/** Section 4 (budgets): rows, who may set them, the bands a submission may ask for; one test a rule. */
import { describe, expect, test } from 'vitest';
import { budgetChangeSchema, noQuota, type BudgetChange } from '../contract/budgets.js';
import type { Refusal, Result } from '../contract/errors.js';
import { budgetViews, setBudget, type BudgetSetting } from './budgets.js';
import { World } from './test-world.js';

const defaultLimit = 2500;

function set(
  world: World,
  user: string,
  change: Partial<BudgetChange>,
  more: Partial<BudgetSetting> = {},
): Result<unknown> {
  return world.step((draft) =>
    setBudget(draft, {
      user,
      change: budgetChangeSchema.parse(change),
      actor: 'owner',
      mayManage: true,
      nowMs: world.nowMs,
      ...more,
    }),
  );
}

function refusalOf(result: Result<unknown>): Refusal {
  if (result.ok) throw new Error('nothing was refused');
  return result.refusal;
}

/** A submission of bob, who has nothing but what a test gives. */
const asBob = { user: 'bob', submittedBy: 'bob' };

const viewOf = (world: World, user: string) =>
  budgetViews(world.state, defaultLimit, [user], world.nowMs).find((row) => row.user === user);

describe('what holds for a user', () => {
  test('without a row the defaults apply, and looking makes no row', () => {
    const world = new World();
    expect(viewOf(world, 'bob')).toEqual({
      user: 'bob',
      isSet: false,
      limit: defaultLimit,
      limitIsDefault: true,
      maxBand: 'INTERACTIVE',
      allow: [],
      quota: noQuota,
      spend: { gpus: 0, memory: 0, processors: 0, total: 0 },
      overLimit: false,
      used: { gpus: 0, memory: 0, processors: 0, total: 0 },
      faded: null,
      atMs: world.nowMs,
      updatedAtMs: null,
    });
    expect(world.state.budget('bob')).toBeUndefined();
  });

  test('submitting makes no row', () => {
    const world = new World();
    world.submit({}, asBob);
    expect(world.state.budget('bob')).toBeUndefined();
  });

  test('what was set holds; what was not named stays', () => {
    const world = new World();
    set(world, 'bob', { limit: 700, allow: ['PRODUCTION'] });
    set(world, 'bob', { maxBand: 'BATCH' });
    expect(viewOf(world, 'bob')).toMatchObject({
      isSet: true,
      limit: 700,
      limitIsDefault: false,
      maxBand: 'BATCH',
      allow: ['PRODUCTION'],
      updatedAtMs: world.nowMs,
    });
  });

  test('no limit is a word, and is never passed', () => {
    const world = new World();
    set(world, 'bob', { limit: 'unlimited' });
    const id = world.submit({ gpu: 8 }, asBob);
    world.run(`${id}/0`);
    expect(viewOf(world, 'bob')).toMatchObject({ limit: 'unlimited', overLimit: false });
    expect(viewOf(world, 'bob')?.spend.gpus).toBe(8000);
  });

  test('a right alone leaves the limit with the default, which may change', () => {
    const world = new World();
    set(world, 'bob', { allow: ['SYSTEM'] });
    expect(
      budgetViews(world.state, 9000, ['bob'], world.nowMs).find((row) => row.user === 'bob'),
    ).toMatchObject({
      limit: 9000,
      limitIsDefault: true,
    });
  });

  test('a limit goes back to the default', () => {
    const world = new World();
    set(world, 'bob', { limit: 5 });
    set(world, 'bob', { limit: 'default' });
    expect(viewOf(world, 'bob')).toMatchObject({ limit: defaultLimit, limitIsDefault: true });
  });

  test('everybody with a row or something active is listed, by name', () => {
    const world = new World();
    set(world, 'zoe', { limit: 1 });
    world.run(`${world.submit({}, asBob)}/0`);
    expect(budgetViews(world.state, defaultLimit, ['max'], world.nowMs).map((row) => row.user)).toEqual([
      'ann',
      'bob',
      'max',
      'zoe',
    ]);
  });
});

describe('spend', () => {
  const spendOf = (world: World) => viewOf(world, 'bob')?.spend;

  test('is what is active, by part', () => {
    const world = new World();
    const id = world.submit({ cpu: 8, memory: '64GiB', gpu: 4, replicas: 2 }, asBob);
    world.run(`${id}/0`);
    expect(spendOf(world)).toEqual({ gpus: 4000, memory: 64, processors: 40, total: 4104 });
  });

  test('of a number that is a model counts the one card it was given', () => {
    const world = new World();
    const id = world.submit({ gpu: '4090' }, asBob);
    world.tryAssign(`${id}/0`, 'w1', { devices: ['GPU-a'] });
    expect(spendOf(world)?.gpus).toBe(1000);
  });

  test('counts what is assigned, and nothing that waits', () => {
    const world = new World();
    const id = world.submit({ cpu: 2, memory: '3GiB' }, asBob);
    expect(spendOf(world)?.total).toBe(0);
    world.assign(`${id}/0`);
    expect(spendOf(world)?.total).toBe(13);
  });

  test('ends with the task', () => {
    const world = new World();
    const uid = world.run(`${world.submit({ cpu: 2 }, asBob)}/0`);
    world.observe(uid, 'SUCCEEDED');
    expect(spendOf(world)?.total).toBe(0);
  });

  test('does not count what was asked for as BATCH', () => {
    const world = new World();
    world.run(`${world.submit({ cpu: 2, priority: 'batch' }, asBob)}/0`);
    expect(spendOf(world)?.total).toBe(0);
  });

  test('at the limit is within it, above it is not', () => {
    const world = new World();
    world.run(`${world.submit({ cpu: 2, memory: '3GiB' }, asBob)}/0`);
    set(world, 'bob', { limit: 13 });
    expect(viewOf(world, 'bob')?.overLimit).toBe(false);
    set(world, 'bob', { limit: 12 });
    expect(viewOf(world, 'bob')?.overLimit).toBe(true);
  });

  test('is charged to who submitted, or to the owner when the local administrator did', () => {
    const world = new World();
    world.run(`${world.submit({ name: 'a', cpu: 1 }, { user: 'eve', submittedBy: 'bob' })}/0`);
    world.run(`${world.submit({ name: 'b', cpu: 3 }, { user: 'bob', submittedBy: 'local_admin' })}/0`);
    expect(spendOf(world)?.processors).toBe(20);
    expect(viewOf(world, 'eve')?.spend.total).toBe(0);
  });
});

describe('setting a budget', () => {
  test('is for who administers the cluster alone', () => {
    const world = new World();
    const refused = refusalOf(set(world, 'eve', { allow: ['SYSTEM'] }, { actor: 'eve', mayManage: false }));
    expect(refused).toMatchObject({
      code: 'PERMISSION_DENIED',
      message:
        'eve may not set budgets: only who administers this cluster, the owner of its data folder, may.',
    });
    expect(world.state.budget('eve')).toBeUndefined();
  });

  test('is told with what was before and after', () => {
    const world = new World();
    set(world, 'bob', { limit: 700 });
    set(world, 'bob', { allow: ['PRODUCTION'], limit: 'unlimited' });
    const first = { limit: 700, maxBand: 'INTERACTIVE', allow: [], quota: noQuota };
    expect(world.changes.flatMap((change) => change.audit)).toEqual([
      {
        atMs: world.nowMs,
        actor: 'owner',
        action: 'budget_set',
        entity: '/bob',
        detail: { before: null, after: first },
      },
      {
        atMs: world.nowMs,
        actor: 'owner',
        action: 'budget_set',
        entity: '/bob',
        detail: {
          before: first,
          after: { limit: 'unlimited', maxBand: 'INTERACTIVE', allow: ['PRODUCTION'], quota: noQuota },
        },
      },
    ]);
  });

  test('changes the bounds of a quota that are named, and leaves the others', () => {
    const world = new World();
    set(world, 'bob', { quota: { gpus: 4, tasks: 10 } });
    set(world, 'bob', { quota: { tasks: null, memoryBytes: 64e9 } });
    expect(viewOf(world, 'bob')).toMatchObject({
      limitIsDefault: true,
      quota: { gpus: 4, tasks: null, memoryBytes: 64e9, cpuMillicores: null },
    });
  });

  test('to what it is leaves no trace', () => {
    const world = new World();
    set(world, 'bob', { limit: 700 });
    world.nowMs += 1000;
    expect(set(world, 'bob', { limit: 700, disallow: ['SYSTEM'] }).ok).toBe(true);
    expect(world.actions()).toEqual(['budget_set']);
    expect(viewOf(world, 'bob')?.updatedAtMs).toBe(world.nowMs - 1000);
  });

  test('twice in one batch, the second finds what the first set', () => {
    const world = new World();
    world.step((draft) => {
      const base = { user: 'bob', actor: 'owner', mayManage: true, nowMs: world.nowMs };
      setBudget(draft, { ...base, change: budgetChangeSchema.parse({ limit: 5, allow: ['SYSTEM'] }) });
      setBudget(draft, { ...base, change: budgetChangeSchema.parse({ allow: ['PRODUCTION'] }) });
    });
    expect(viewOf(world, 'bob')).toMatchObject({ limit: 5, allow: ['SYSTEM', 'PRODUCTION'] });
  });

  test.each([
    ['no name', '', { limit: 1 }, 'user'],
    ['a name that is a path', 'a/b', { limit: 1 }, 'user'],
    ['a right given and taken at once', 'bob', { allow: ['SYSTEM'], disallow: ['SYSTEM'] }, 'disallow'],
  ] as const)('is refused for %s, by field', (_case, user, change, field) => {
    const refused = refusalOf(set(new World(), user, budgetChangeSchema.parse(change)));
    expect(refused.code).toBe('INVALID_ARGUMENT');
    expect(refused.fields.map((wrong) => wrong.field)).toEqual([field]);
  });

  test('is refused when nothing is named', () => {
    expect(refusalOf(set(new World(), 'bob', {})).message).toBe(
      'Nothing to set for bob: name a limit, a best band, a quota, or a right to allow or disallow.',
    );
  });

  test.each([0, -1, 1.5, 1e12, Number.NaN])('takes no limit of %s', (limit) => {
    expect(budgetChangeSchema.safeParse({ limit }).success).toBe(false);
  });
});

describe('the band asked for', () => {
  const production = { priority: 'production' } as const;

  test('INTERACTIVE and BATCH need no right', () => {
    const world = new World();
    expect(world.job(world.submit({ name: 'a' }, asBob)).band).toBe('INTERACTIVE');
    expect(world.job(world.submit({ name: 'b', priority: 'batch' }, asBob)).band).toBe('BATCH');
  });

  test.each(['production', 'system'])('%s needs its own right, which the refusal names', (priority) => {
    const refused = refusalOf(new World().trySubmit({ priority }, asBob));
    expect(refused).toMatchObject({
      code: 'PERMISSION_DENIED',
      fields: [
        {
          field: 'priority',
          value: priority,
          expected: `interactive or batch, unless allowed with: irisctl budget set bob --allow ${priority}`,
        },
      ],
    });
    expect(refused.message).toContain(`bob may not submit to ${priority.toUpperCase()}`);
    expect(refused.message).toContain(`irisctl budget set bob --allow ${priority}`);
  });

  test('a right to one upper band is none to the other', () => {
    const world = new World();
    world.setBudget('bob', { allow: ['PRODUCTION'] });
    expect(world.job(world.submit(production, asBob)).band).toBe('PRODUCTION');
    expect(refusalOf(world.trySubmit({ priority: 'system' }, asBob)).code).toBe('PERMISSION_DENIED');
  });

  test('a best band of PRODUCTION is no right to it', () => {
    const world = new World();
    world.setBudget('bob', { maxBand: 'PRODUCTION' });
    expect(refusalOf(world.trySubmit(production, asBob)).code).toBe('PERMISSION_DENIED');
  });

  test('a right holds above a lower best band', () => {
    const world = new World();
    world.setBudget('bob', { maxBand: 'BATCH', allow: ['PRODUCTION'] });
    expect(world.trySubmit(production, asBob).ok).toBe(true);
  });

  test('above the best band is refused with what to ask for, also when it is only the usual one', () => {
    const world = new World();
    world.setBudget('bob', { maxBand: 'BATCH' });
    const refused = refusalOf(world.trySubmit({}, asBob));
    expect(refused).toMatchObject({
      code: 'PERMISSION_DENIED',
      fields: [{ field: 'priority', value: 'interactive' }],
    });
    expect(refused.fields[0]?.expected).toMatch(/^batch, unless/);
    expect(refused.message).toContain('irisctl budget set bob --max-band interactive');
    expect(world.submit({ priority: 'batch' }, asBob)).toMatch(/^\/bob\//);
  });

  test('a refused submission leaves no trace, and ends no run it would have replaced', () => {
    const world = new World();
    const id = world.submit({ name: 'train' }, asBob);
    const again = { name: 'train', existingJobPolicy: 'RECREATE', ...production } as const;
    expect(world.trySubmit(again, asBob).ok).toBe(false);
    expect(world.job(id).state).toBe('PENDING');
    expect(world.jobs.size).toBe(1);
  });

  test('a right taken away stops what is new, not what was submitted', () => {
    const world = new World();
    world.setBudget('bob', { allow: ['PRODUCTION'] });
    const id = world.submit({ name: 'train', ...production }, asBob);
    world.setBudget('bob', {});
    expect(world.job(id)).toMatchObject({ band: 'PRODUCTION', state: 'PENDING' });
    expect(world.trySubmit({ name: 'train', ...production }, { ...asBob, retryOf: id }).ok).toBe(false);
  });

  test('a child asks in its own name only', () => {
    const world = new World();
    const id = world.submit({ name: 'train' }, asBob);
    expect(refusalOf(world.trySubmit({ parent: id, ...production }, asBob)).code).toBe('PERMISSION_DENIED');
  });

  test('a child is judged by who submitted its root', () => {
    const world = new World();
    const id = world.submit({ name: 'train' }, asBob);
    const asAnn = { user: 'bob', submittedBy: 'ann' };
    expect(refusalOf(world.trySubmit({ parent: id, ...production }, asAnn)).code).toBe('PERMISSION_DENIED');
  });

  test('a child does not inherit a band its root may no longer ask for', () => {
    const world = new World();
    world.setBudget('bob', { allow: ['PRODUCTION'] });
    const id = world.submit({ name: 'train', ...production }, asBob);
    expect(world.trySubmit({ parent: id }, asBob).ok).toBe(true);
    world.setBudget('bob', {});
    expect(refusalOf(world.trySubmit({ parent: id }, asBob)).fields[0]?.value).toBe('production');
  });
});
