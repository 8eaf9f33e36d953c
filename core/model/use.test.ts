/** Use over time, from the rows: what is held, by whom, in which band, and how it fades. */
import { describe, expect, test } from 'vitest';
import { gpuHours, type GpuHours } from '../budget/ledger.js';
import type { Band } from '../contract/states.js';
import { changeJob } from './job-change.js';
import { World } from './test-world.js';
import { keepEpochNear, setHalfLife, usesAt } from './use.js';

const hour = 3_600_000;
const week = 7 * 24 * hour;
const gib = 2 ** 30;

function usedOf(world: World, user: string): GpuHours | null {
  const use = usesAt(world.state, world.nowMs).get(user);
  return use === undefined ? null : gpuHours(use.used);
}
function fadedOf(world: World, user: string): number | null {
  const faded = usesAt(world.state, world.nowMs).get(user)?.faded ?? null;
  return faded === null ? null : gpuHours(faded).total;
}

/** A running job of two cards, four cores and 8 GiB: 2.028 GPU-hours an hour. */
function running(world: World, name = 'a', priority: Band = 'INTERACTIVE'): { id: string; uid: string } {
  const id = world.submit({ name, priority, gpu: '2', cpu: 4, memory: '8GiB' });
  const made = world.tryAssign(`${id}/0`, 'w1', { devices: [`${name}-0`, `${name}-1`] });
  if (!made.ok) throw new Error(made.refusal.message);
  world.observe(made.value.uid, 'RUNNING');
  return { id, uid: made.value.uid };
}

function toBand(world: World, jobId: string, band: Band): void {
  const { nowMs } = world;
  const asked = { jobId, change: { kind: 'band', band }, actor: 'ann', mayManage: true, nowMs } as const;
  world.step((draft) => changeJob(draft, { ...asked, ranks: () => [] }));
}

function fade(world: World, halfLifeMs: number | null, mayManage = true) {
  return world.step((draft) =>
    setHalfLife(draft, { halfLifeMs, actor: 'ann', mayManage, nowMs: world.nowMs }),
  );
}

describe('what is held', () => {
  test('counts from its assignment on, while it lives and after', () => {
    const world = new World();
    expect(usedOf(world, 'ann')).toBeNull();
    const { uid } = running(world);
    expect(world.changes.every(({ uses }) => uses.length === 0)).toBe(true);
    world.nowMs += 3 * hour;
    expect(usedOf(world, 'ann')).toEqual({ gpus: 6, memory: 0.024, processors: 0.06, total: 6.084 });
    world.observe(uid, 'SUCCEEDED', { exitCode: 0, finishedAtMs: world.nowMs });
    expect(world.changes.at(-1)?.uses).toEqual([
      {
        user: 'ann',
        used: { gpus: 6000 * hour, memory: 24 * hour, processors: 60 * hour },
        faded: { gpus: 0, memory: 0, processors: 0 },
      },
    ]);
    world.nowMs += 3 * hour;
    expect(usedOf(world, 'ann')?.total).toBe(6.084);
  });

  test('counts to the end that was reported, however late the report is', () => {
    const world = new World();
    const { uid } = running(world);
    const endedMs = world.nowMs + hour;
    world.nowMs += 100 * hour;
    world.observe(uid, 'FAILED', { exitCode: 1, finishedAtMs: endedMs });
    expect(usedOf(world, 'ann')?.gpus).toBe(2);
  });

  test('counts until it is verified gone, once', () => {
    const world = new World();
    const { id, uid } = running(world);
    world.nowMs += hour;
    world.cancel(id);
    world.nowMs += hour;
    expect(usedOf(world, 'ann')?.gpus).toBe(4);
    world.observe(uid, 'KILLED', { finishedAtMs: world.nowMs });
    world.observe(uid, 'KILLED', { finishedAtMs: world.nowMs });
    world.nowMs += hour;
    expect(usedOf(world, 'ann')?.gpus).toBe(4);
  });

  test('counts for who submitted it, unless that is the local administrator', () => {
    const world = new World();
    const ids = ['bob', 'local_admin'].map((submittedBy) =>
      world.submit({ name: submittedBy, cpu: 200 }, { user: 'ann', submittedBy }),
    );
    for (const id of ids) world.run(`${id}/0`);
    world.nowMs += hour;
    expect([usedOf(world, 'bob')?.processors, usedOf(world, 'ann')?.processors]).toEqual([1, 1]);
    expect(usedOf(world, 'local_admin')).toBeNull();
  });
});

describe('work asked for as batch', () => {
  test('counts nothing', () => {
    const world = new World();
    const { uid } = running(world, 'a', 'BATCH');
    world.nowMs += hour;
    expect(usedOf(world, 'ann')).toBeNull();
    world.observe(uid, 'SUCCEEDED', { exitCode: 0, finishedAtMs: world.nowMs });
    expect(usedOf(world, 'ann')).toBeNull();
  });

  test.each([
    ['to batch: what it held until then', ['INTERACTIVE', 'BATCH'], 2],
    ['from batch: what it holds from then', ['BATCH', 'INTERACTIVE'], 4],
    ['to batch and back', ['INTERACTIVE', 'BATCH', 'INTERACTIVE'], 4],
    ['between bands that count: all of it', ['INTERACTIVE', 'PRODUCTION'], 6],
  ] as const)('changed %s', (_, bands, gpus) => {
    const world = new World();
    fade(world, week);
    const [first, ...others] = bands;
    const { id, uid } = running(world, 'a', first);
    for (const band of others) {
      world.nowMs += hour;
      toBand(world, id, band);
    }
    world.nowMs += (3 - others.length) * hour;
    expect(usedOf(world, 'ann')?.gpus).toBe(gpus);
    world.observe(uid, 'SUCCEEDED', { exitCode: 0, finishedAtMs: world.nowMs });
    expect(usedOf(world, 'ann')?.gpus).toBe(gpus);
    // Hours of a week hardly fade: 1 % of three hours at most.
    expect(fadedOf(world, 'ann')).toBeGreaterThan(gpus * 0.99);
    expect(fadedOf(world, 'ann')).toBeLessThan(gpus * 1.02);
  });
});

describe('half-life', () => {
  test('only by who administers the cluster, with a trace of before and after', () => {
    const world = new World();
    expect(fade(world, week, false)).toMatchObject({
      ok: false,
      refusal: {
        code: 'PERMISSION_DENIED',
        message: expect.stringContaining('half-life of past use') as string,
      },
    });
    fade(world, week);
    fade(world, week);
    fade(world, null);
    const trace = world.changes
      .flatMap((changes) => changes.audit)
      .filter(({ action }) => action === 'budget_set');
    expect(trace.map(({ entity, detail }) => [entity, detail])).toEqual([
      ['budgets', { before: { halfLifeMs: null }, after: { halfLifeMs: week } }],
      ['budgets', { before: { halfLifeMs: week }, after: { halfLifeMs: null } }],
    ]);
  });

  test('what was used before it counts whole then, and fades from there; what lives fades by its own times', () => {
    const world = new World();
    const { uid } = running(world);
    world.nowMs += 10 * hour;
    world.observe(uid, 'SUCCEEDED', { exitCode: 0, finishedAtMs: world.nowMs });
    expect(fadedOf(world, 'ann')).toBeNull();
    fade(world, week);
    expect(fadedOf(world, 'ann')).toBeCloseTo(20.28, 9);
    world.nowMs += week;
    expect(fadedOf(world, 'ann')).toBeCloseTo(10.14, 9);
    expect(usedOf(world, 'ann')?.total).toBeCloseTo(20.28, 9);
    running(world, 'b');
    world.nowMs += 50 * week;
    // Two cards, four cores and 8 GiB for ever: as much fades as is added.
    expect(fadedOf(world, 'ann')).toBeCloseTo((2.028 * (week / hour)) / Math.LN2, 6);
    fade(world, null);
    expect(fadedOf(world, 'ann')).toBeNull();
  });

  test('sums are kept for a nearer moment after many half-lives, and weigh the same', () => {
    const world = new World();
    fade(world, hour);
    const { uid } = running(world);
    world.nowMs += 200 * hour;
    world.observe(uid, 'SUCCEEDED', { exitCode: 0, finishedAtMs: world.nowMs });
    world.nowMs += 60.5 * hour;
    const before = fadedOf(world, 'ann');
    world.step((draft) => {
      keepEpochNear(draft, world.nowMs);
    });
    expect(world.changes.at(-1)?.uses).toHaveLength(1);
    expect(fadedOf(world, 'ann')).toBe(before);
    world.step((draft) => {
      keepEpochNear(draft, world.nowMs);
    });
    expect(world.changes.at(-1)?.uses).toEqual([]);
  });

  test('a card is 1000, a GiB 1, a core 5, as in the spend', () => {
    const world = new World();
    running(world);
    world.nowMs += hour;
    const use = usesAt(world.state, world.nowMs).get('ann');
    expect(use?.used).toEqual({ gpus: 2000 * hour, memory: ((8 * gib) / gib) * hour, processors: 20 * hour });
  });
});
