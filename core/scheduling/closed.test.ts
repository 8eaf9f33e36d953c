/** Machines that take nothing new, machines kept by taints, and jobs that name their machine: places and reasons. */
import { describe, expect, test } from 'vitest';
import type { Constraint } from '../contract/job-request.js';
import { specOf } from '../model/test-world.js';
import { closedCause } from './closed.js';
import { constraintsOf, tolerates } from './constraints.js';
import { explainJob } from './explanation/explanation.js';
import { infeasibleFields } from './feasible.js';
import type { SchedulingWorker } from './free.js';
import { placesOf, TestCluster, worker } from './test-cluster.js';
import { look, rowsOf } from './test-rows.js';

/** As the controller offers it. */
const named = (id: string, more: Partial<SchedulingWorker> = {}) =>
  worker(id, { ...more, attributes: { ...more.attributes, machine: id } });
const cordoned = (id: string, more: Partial<SchedulingWorker> = {}) =>
  named(id, { healthy: false, closed: `${id} is cordoned`, ...more });
const tainted = (id: string, key: string, value: string) =>
  named(id, { attributes: { [key]: value }, taints: [{ key, value }] });

const only = (id: string): readonly Constraint[] => constraintsOf({ constraints: [], machine: id });
const asks = (key: string, op: Constraint['op'], ...values: string[]): Constraint => ({
  key,
  op,
  values,
  mode: 'REQUIRED',
});

function messageOf(workers: readonly SchedulingWorker[], constraints: readonly Constraint[] = [], cpu = 1) {
  const world = new TestCluster(workers);
  world.submit('/ann/a', { cpuMillicores: cpu * 1000, constraints });
  return explained(world, '/ann/a')?.message;
}

function explained(world: TestCluster, jobId: string) {
  const context = {
    cluster: world.cluster,
    decision: world.decide(),
    rules: world.rules,
    nowMs: world.nowMs,
  };
  return explainJob(context, jobId);
}

function reasonsOf(world: TestCluster, jobId: string): string[] {
  const explanation = explained(world, jobId);
  return explanation === null ? [] : explanation.reasons.map((reason) => JSON.stringify(reason));
}

describe('a job that names its machine', () => {
  test('is placed there, whatever else is free', () => {
    const world = new TestCluster([named('one'), named('two'), named('three')]);
    world.submit('/ann/a', { constraints: only('two'), tasks: 3 });
    expect(placesOf(world.decide())).toEqual(['/ann/a/0 two', '/ann/a/1 two', '/ann/a/2 two']);
  });

  test('by a name whose case does not matter', () => {
    const world = new TestCluster([named('Two')]);
    world.submit('/ann/a', { constraints: only('tWO') });
    expect(placesOf(world.decide())).toEqual(['/ann/a/0 Two']);
  });

  test('waits for room there, and says so', () => {
    const world = new TestCluster([named('one'), named('two')]);
    world.run('/bob/b', 'two', { cpu: 4 });
    world.submit('/ann/a', { constraints: only('two') });
    expect(placesOf(world.decide())).toEqual([]);
    expect(reasonsOf(world, '/ann/a')).toContainEqual(
      JSON.stringify({ kind: 'backend', code: 'WAITS_FOR_CONSTRAINT', message: 'Only on two.' }),
    );
  });

  test('names it in its sentence', () => {
    const world = new TestCluster([named('one'), named('two')]);
    world.run('/bob/b', 'two', { cpu: 4 });
    world.submit('/ann/a', { constraints: only('two') });
    expect(explained(world, '/ann/a')?.message).toBe('Waits for 1 CPU core (0 of 4 free). Only on two.');
  });

  test('says so in the list too', () => {
    const rows = rowsOf({ name: 'fills', machine: 'two', cpu: 4 }, { name: 'waits', machine: 'two', cpu: 1 });
    const { waiting } = look(rows, [named('one'), named('two')]);
    expect(waiting.map(({ cause }) => cause)).toEqual([
      { code: 'WAITS_FOR_CAPACITY', message: 'Waits for 1 CPU core (0 of 4 free). Only on two.' },
    ]);
  });

  test('whose name nobody has: the machines there are', () => {
    const workers = [named('one'), named('two')];
    expect(infeasibleFields(specOf({ machine: 'tow' }), workers)).toEqual([
      { field: 'machine', value: 'tow', expected: 'one of one, two' },
    ]);
    expect(infeasibleFields(specOf({ machine: 'ONE' }), workers)).toEqual([]);
  });

  test('may ask for what that machine has, not for what another has', () => {
    const workers = [named('one'), named('two', { cpuMillicores: 64_000 })];
    expect(infeasibleFields(specOf({ machine: 'two', cpu: 64 }), workers)).toEqual([]);
    expect(infeasibleFields(specOf({ machine: 'one', cpu: 64 }), workers)).toEqual([
      { field: 'cpu', value: '64 CPU cores', expected: '4 CPU cores on one' },
    ]);
  });

  test('that was never reached may ask for anything: nobody knows what it has', () => {
    const unknown = named('two', { healthy: false, cpuMillicores: 0, memoryBytes: 0, closed: 'two is off' });
    expect(infeasibleFields(specOf({ machine: 'two', cpu: 64 }), [named('one'), unknown])).toEqual([]);
    expect(messageOf([named('one'), unknown], [], 64)).toBe('Waits: two is off.');
  });
});

describe('a machine that takes nothing new', () => {
  test('gets nothing, and what it could take goes elsewhere', () => {
    const world = new TestCluster([cordoned('one'), named('two')]);
    world.submit('/ann/a');
    expect(placesOf(world.decide())).toEqual(['/ann/a/0 two']);
  });

  test('is the reason where no other could take it', () => {
    expect(messageOf([cordoned('one'), named('two')], only('one'))).toBe('Waits: one is cordoned.');
    const large = cordoned('one', { cpuMillicores: 16_000 });
    expect(messageOf([large, named('two')], [], 16)).toBe('Waits: one is cordoned.');
    const world = new TestCluster([cordoned('one'), named('two')]);
    world.submit('/ann/a', { constraints: only('one') });
    expect(reasonsOf(world, '/ann/a')).toEqual([
      JSON.stringify({
        kind: 'backend',
        code: 'WAITS_BACKEND_NOT_READY',
        message: 'Waits: one is cordoned.',
      }),
    ]);
  });

  test('is the reason when it is all there is', () => {
    expect(messageOf([cordoned('one')])).toBe('Waits: one is cordoned.');
    const off = named('two', { healthy: false, closed: 'two is off' });
    expect(messageOf([cordoned('one'), off])).toBe('Waits: one is cordoned, two is off.');
    const many = ['a', 'b', 'c', 'd', 'e'].map((id) => cordoned(id));
    expect(messageOf(many)).toBe(
      'Waits: a is cordoned, b is cordoned, c is cordoned and 2 more take no new tasks either.',
    );
  });

  test('is no reason while another could take it, or when it could not either', () => {
    const asked = { ...specOf({ cpu: 1 }), constraints: [] };
    expect(closedCause(asked, [cordoned('one'), named('two')])).toBeNull();
    const large = { ...specOf({ cpu: 5 }), constraints: [] };
    expect(closedCause(large, [cordoned('one')])).toBeNull();
  });

  test('loses the places promised on it', () => {
    const world = new TestCluster([named('one')]);
    world.run('/bob/b', 'one', { cpu: 4, band: 'BATCH' });
    world.submit('/ann/a', { band: 'PRODUCTION' });
    expect(placesOf(world.round())).toEqual(['/ann/a/0 one after /bob/b/0']);
    world.cluster.setWorkers([cordoned('one')]);
    expect(world.decide().released).toEqual(['/ann/a/0']);
    world.cluster.setWorkers([tainted('one', 'dedicated', 'ml')]);
    expect(world.decide().released).toEqual(['/ann/a/0']);
  });
});

describe('taints', () => {
  const taint = { key: 'dedicated', value: 'ml' };

  test.each<[string, readonly Constraint[], boolean]>([
    ['no constraint', [], false],
    ['another key', [asks('rack', 'EQ', 'ml')], false],
    ['its value', [asks('dedicated', 'EQ', 'ML ')], true],
    ['another value', [asks('dedicated', 'EQ', 'web')], false],
    ['one of several', [asks('dedicated', 'IN', 'web', 'ml')], true],
    ['the key, whatever it says', [asks('dedicated', 'EXISTS')], true],
    ['not another value', [asks('dedicated', 'NE', 'web')], false],
    ['not the key', [asks('dedicated', 'NOT_EXISTS')], false],
    ['a wish only', [{ ...asks('dedicated', 'EQ', 'ml'), mode: 'PREFERRED' }], true],
  ])('are tolerated by a constraint that speaks of them: %s', (_, constraints, expected) => {
    expect(tolerates(constraints, taint)).toBe(expected);
  });

  test('keep off who does not speak of them', () => {
    const world = new TestCluster([tainted('one', 'dedicated', 'ml'), named('two')]);
    world.submit('/ann/a');
    world.submit('/ann/b', { constraints: [asks('dedicated', 'EQ', 'ml')] });
    world.submit('/ann/c', { constraints: [{ ...asks('dedicated', 'EQ', 'ml'), mode: 'PREFERRED' }] });
    expect(placesOf(world.decide())).toEqual(['/ann/a/0 two', '/ann/b/0 one', '/ann/c/0 one']);
  });

  test('each has to be tolerated', () => {
    const taints = [taint, { key: 'owner', value: 'bob' }];
    const both = named('one', { taints, attributes: { dedicated: 'ml', owner: 'bob' } });
    const world = new TestCluster([both]);
    world.submit('/ann/a', { constraints: [asks('dedicated', 'EQ', 'ml')] });
    expect(placesOf(world.decide())).toEqual([]);
    world.submit('/ann/b', { constraints: [asks('dedicated', 'EQ', 'ml'), asks('owner', 'EXISTS')] });
    expect(placesOf(world.decide())).toEqual(['/ann/b/0 one']);
  });

  test('are the reason where all that could run it have them', () => {
    const expected =
      'one could run it but is kept for jobs that say dedicated=ml; to be one of them, add --constraint dedicated=ml.';
    expect(messageOf([tainted('one', 'dedicated', 'ml')])).toBe(expected);
    const world = new TestCluster([tainted('one', 'dedicated', 'ml')]);
    world.submit('/ann/a');
    expect(reasonsOf(world, '/ann/a')[0]).toBe(
      JSON.stringify({ kind: 'backend', code: 'WAITS_FOR_CONSTRAINT', message: expected }),
    );
  });

  test('set and taken away while a job waits', () => {
    const world = new TestCluster([tainted('one', 'dedicated', 'ml')]);
    world.submit('/ann/a');
    expect(placesOf(world.decide())).toEqual([]);
    world.cluster.setWorkers([named('one', { attributes: { dedicated: 'ml' } })]);
    expect(placesOf(world.round())).toEqual(['/ann/a/0 one']);
    world.cluster.setWorkers([tainted('one', 'dedicated', 'ml')]);
    world.submit('/ann/b');
    expect(placesOf(world.decide())).toEqual([]);
  });
});

describe('a job that runs in a container', () => {
  const help = ' What to do is told by irisctl docker check and on the page of the machine.';
  const without = (id: string) => named(id, { noContainers: `${id} has no Docker` });

  test('is placed only where there are containers, however much is free elsewhere', () => {
    const world = new TestCluster([without('one'), named('two', { cpuMillicores: 2000 })]);
    world.submit('/ann/a', { container: true, tasks: 3 });
    world.submit('/ann/b');
    expect(placesOf(world.decide())).toEqual(['/ann/a/0 two', '/ann/a/1 two', '/ann/b/0 one']);
    const full = new TestCluster([without('one'), named('two', { cpuMillicores: 2000 })]);
    full.run('/ben/x', 'two', { cpu: 2 });
    full.submit('/ann/a', { container: true });
    expect(explained(full, '/ann/a')).toMatchObject({
      message: 'Waits for 1 CPU core (0 of 2 free).',
      remedies: [],
    });
  });

  test('waits where there are none, for the reason each machine has, and starts when there are', () => {
    const world = new TestCluster([without('one'), cordoned('two')]);
    world.submit('/ann/a', { container: true });
    expect(placesOf(world.decide())).toEqual([]);
    expect(explained(world, '/ann/a')).toMatchObject({
      message: `Waits: one has no Docker, two is cordoned.${help}`,
      remedies: [],
    });
    world.cluster.setWorkers([named('one'), cordoned('two')]);
    expect(placesOf(world.decide())).toEqual(['/ann/a/0 one']);
  });

  test('is told of the machine it names that this one has no Docker', () => {
    const world = new TestCluster([without('one'), named('two')]);
    world.submit('/ann/a', { container: true, constraints: only('one') });
    expect(placesOf(world.decide())).toEqual([]);
    expect(explained(world, '/ann/a')?.message).toBe(`Waits: one has no Docker.${help}`);
  });

  test('never takes the place of others where there are no containers, and a gang of it counts none there', () => {
    const world = new TestCluster([without('one'), named('two')]);
    world.run('/ben/x', 'one', { band: 'BATCH', cpu: 4 });
    world.run('/ben/y', 'two', { cpu: 3 });
    world.submit('/ann/a', { container: true, cpu: 2, waitingSinceMs: 0 });
    world.submit('/ann/g', { container: true, cpu: 2, gangBy: 'worker', tasks: 3 });
    const decision = world.decide();
    expect([placesOf(decision), decision.evictions]).toEqual([[], []]);
    expect(explained(world, '/ann/g')?.reasons[0]).toMatchObject({ kind: 'gang', largest: 2 });
  });
});
