/** Machines: one test a rule of adding, removing, draining and setting, and one a refusal. */
import { describe, expect, test } from 'vitest';
import type { Refusal, Result } from '../contract/errors.js';
import type { MachineChange } from '../contract/machines.js';
import {
  addMachine,
  changeMachine,
  removeMachine,
  settleDrains,
  type MachineAddition,
} from './machine-change.js';
import { World } from './test-world.js';

const local = { id: 'ws-1', identity: 'id-of-ws-1' };

function add(world: World, id: string, more: Partial<MachineAddition> = {}): Result<unknown> {
  return world.step((draft) =>
    addMachine(draft, {
      id,
      address: `ssh://${id}`,
      identity: `id-of-${id}`,
      others: [local],
      actor: 'owner',
      mayManage: true,
      nowMs: world.nowMs,
      ...more,
    }),
  );
}

function change(world: World, machineId: string, what: MachineChange, mayManage = true): Result<unknown> {
  return world.step((draft) => {
    const done = changeMachine(draft, {
      machineId,
      change: what,
      actor: 'owner',
      mayManage,
      nowMs: world.nowMs,
    });
    settleDrains(draft, world.nowMs);
    return done;
  });
}

function remove(world: World, machineId: string, force = false, mayManage = true): Result<unknown> {
  return world.step((draft) =>
    removeMachine(draft, { machineId, force, actor: 'owner', mayManage, nowMs: world.nowMs }),
  );
}

const settled = (world: World) => world.step((draft) => settleDrains(draft, world.nowMs));

function refusalOf(result: Result<unknown>): Refusal {
  if (result.ok) throw new Error('nothing was refused');
  return result.refusal;
}

const audit = (world: World) =>
  world.changes
    .flatMap((each) => each.audit)
    .filter(({ entity }) => entity.startsWith('machine/'))
    .map(({ actor, action, entity, detail }) => ({ actor, action, entity, detail }));

describe('adding', () => {
  test('makes a row that takes tasks, and tells of it', () => {
    const world = new World();
    expect(add(world, 'two')).toEqual({ ok: true, value: { machineId: 'two' } });
    expect(world.state.machine('two')).toEqual({
      id: 'two',
      address: 'ssh://two',
      identity: 'id-of-two',
      scheduling: 'OPEN',
      drainDeadlineMs: null,
      attributes: {},
      taints: [],
      wakeAddress: null,
      addedAtMs: world.nowMs,
      addedBy: 'owner',
    });
    expect(audit(world)).toEqual([
      {
        actor: 'owner',
        action: 'worker_registered',
        entity: 'machine/two',
        detail: { address: 'ssh://two' },
      },
    ]);
  });

  test('is for who administers the cluster', () => {
    const refused = refusalOf(add(new World(), 'two', { actor: 'bob', mayManage: false }));
    expect(refused.code).toBe('PERMISSION_DENIED');
    expect(refused.message).toContain('bob may not add machines');
  });

  test.each(['two', 'TWO', 'ws-1', 'WS-1'])('the name %s is taken', (name) => {
    const world = new World();
    add(world, 'two');
    const refused = refusalOf(add(world, name, { identity: 'another' }));
    expect(refused.code).toBe('ALREADY_EXISTS');
    expect(refused.fields).toEqual([{ field: 'name', value: name, expected: 'none of two, ws-1' }]);
  });

  test('one machine under two names is refused, with the name it has', () => {
    const world = new World();
    add(world, 'two');
    const refused = refusalOf(add(world, 'three', { address: 'ssh://alias', identity: 'id-of-two' }));
    expect(refused.code).toBe('ALREADY_EXISTS');
    expect(refused.message).toBe(
      'ssh://alias is the machine two, which is a machine of this cluster already. If it is another, both were set up from one image ' +
        'and share one id: give this one its own (there: sudo rm /etc/machine-id; sudo systemd-machine-id-setup) and start it anew.',
    );
  });

  test('the machine the controller runs on is refused, also once something was set of it', () => {
    const world = new World();
    const expected =
      'ssh://localhost is ws-1, the machine this controller runs on: it is a machine of this cluster already.';
    const asLocal = { address: 'ssh://localhost', identity: local.identity };
    expect(refusalOf(add(world, 'me', asLocal)).message).toBe(expected);
    change(world, 'ws-1', { kind: 'cordon' });
    expect(refusalOf(add(world, 'me', asLocal)).code).toBe('ALREADY_EXISTS');
  });

  test('machines that tell no identity are told apart by their names alone', () => {
    const world = new World();
    add(world, 'two', { identity: null });
    expect(add(world, 'three', { identity: null }).ok).toBe(true);
  });
});

describe('cordon and uncordon', () => {
  test('go there and back, each with what was before and after', () => {
    const world = new World();
    add(world, 'two');
    change(world, 'two', { kind: 'cordon' });
    expect(world.state.machine('two')?.scheduling).toBe('CORDONED');
    change(world, 'two', { kind: 'uncordon' });
    expect(world.state.machine('two')?.scheduling).toBe('OPEN');
    expect(audit(world).slice(1)).toMatchObject([
      { actor: 'owner', action: 'worker_changed', entity: 'machine/two' },
      { detail: { before: { scheduling: 'CORDONED' }, after: { scheduling: 'OPEN' } } },
    ]);
  });

  test('what is so already leaves no trace, and a machine without a row gets none by it', () => {
    const world = new World();
    change(world, 'ws-1', { kind: 'uncordon' });
    expect(world.state.machine('ws-1')).toBeUndefined();
    expect(audit(world)).toEqual([]);
  });

  test('the controller’s own machine can be cordoned', () => {
    const world = new World();
    change(world, 'ws-1', { kind: 'cordon' });
    expect(world.state.machine('ws-1')).toMatchObject({ address: null, scheduling: 'CORDONED' });
  });

  test('a drained machine that is cordoned stays drained', () => {
    const world = new World();
    change(world, 'w1', { kind: 'drain', deadlineMs: null });
    change(world, 'w1', { kind: 'cordon' });
    expect(world.state.machine('w1')?.scheduling).toBe('DRAINED');
  });
});

describe('drain', () => {
  test('of an empty machine is over at once', () => {
    const world = new World();
    change(world, 'w1', { kind: 'drain', deadlineMs: null });
    expect(world.state.machine('w1')).toMatchObject({ scheduling: 'DRAINED', drainDeadlineMs: null });
    expect(audit(world).map(({ action }) => action)).toEqual(['worker_changed', 'worker_drained']);
  });

  test('waits for the end of what runs, and for nothing elsewhere', () => {
    const world = new World();
    const job = world.submit({ replicas: 2 });
    const uid = world.run(`${job}/0`, 'w1');
    world.run(`${job}/1`, 'w2');
    change(world, 'w1', { kind: 'drain', deadlineMs: null });
    expect(world.state.machine('w1')?.scheduling).toBe('DRAINING');
    expect(world.state.nextDeadlineMs()).toBeNull();
    world.nowMs += 3_600_000;
    settled(world);
    expect(world.attempt(uid).state).toBe('RUNNING');
    world.observe(uid, 'SUCCEEDED', { exitCode: 0 });
    settled(world);
    expect(world.state.machine('w1')?.scheduling).toBe('DRAINED');
  });

  test('past its deadline requeues what runs as a preemption: told, no failure, no failed retry', () => {
    const world = new World();
    const job = world.submit({ replicas: 2, maxRetries: 0 });
    const running = world.run(`${job}/0`, 'w1');
    const elsewhere = world.run(`${job}/1`, 'w2');
    change(world, 'w1', { kind: 'drain', deadlineMs: 60_000 });
    expect(world.state.nextDeadlineMs()).toBe(world.nowMs + 60_000);
    world.nowMs += 59_999;
    settled(world);
    expect(world.attempt(running).state).toBe('RUNNING');
    world.nowMs += 1;
    settled(world);
    expect(world.attempt(running)).toMatchObject({
      state: 'PREEMPTED',
      noticeAtMs: world.nowMs,
      finishedAtMs: null,
      cause: { code: 'PREEMPTED', message: 'w1 is being drained, and its deadline has passed.' },
    });
    expect(world.task(`${job}/0`)).toMatchObject({ state: 'PENDING', failureCount: 0, preemptionCount: 1 });
    expect(world.attempt(elsewhere).state).toBe('RUNNING');
    // Until its processes are verified gone.
    expect(world.state.machine('w1')).toMatchObject({ scheduling: 'DRAINING', drainDeadlineMs: null });
    expect(world.state.nextDeadlineMs()).toBeNull();
    world.observe(running, 'KILLED');
    settled(world);
    expect(world.state.machine('w1')?.scheduling).toBe('DRAINED');
  });

  test('past its deadline requeues a gang once, whole', () => {
    const world = new World();
    const job = world.submit({ replicas: 2, gangBy: 'worker' });
    world.run(`${job}/0`, 'w1');
    world.run(`${job}/1`, 'w1');
    change(world, 'w1', { kind: 'drain', deadlineMs: 0 });
    expect(world.taskStates(job)).toEqual(['PENDING', 'PENDING']);
    expect(world.task(`${job}/0`).preemptionCount + world.task(`${job}/1`).preemptionCount).toBe(1);
  });

  test('what was assigned and never started is requeued free of charge', () => {
    const world = new World();
    const job = world.submit();
    world.assign(`${job}/0`, 'w1');
    change(world, 'w1', { kind: 'drain', deadlineMs: 0 });
    expect(world.task(`${job}/0`)).toMatchObject({ state: 'PENDING', preemptionCount: 0 });
  });

  test('is called off by uncordon, and a cordon keeps what runs', () => {
    const world = new World();
    const job = world.submit();
    const uid = world.run(`${job}/0`, 'w1');
    change(world, 'w1', { kind: 'drain', deadlineMs: 1000 });
    change(world, 'w1', { kind: 'cordon' });
    world.nowMs += 2000;
    settled(world);
    expect(world.attempt(uid).state).toBe('RUNNING');
    expect(world.state.machine('w1')).toMatchObject({ scheduling: 'CORDONED', drainDeadlineMs: null });
  });
});

describe('attributes and taints', () => {
  test('are set, changed and taken away by key', () => {
    const world = new World();
    change(world, 'w1', { kind: 'attributes', attributes: { rack: 'r1', 'cuda-major': 12 } });
    change(world, 'w1', { kind: 'attributes', attributes: { rack: 'r2', zone: 'a' } });
    change(world, 'w1', { kind: 'attributes', attributes: { zone: null } });
    expect(world.state.machine('w1')?.attributes).toEqual({ 'cuda-major': 12, rack: 'r2' });
    change(world, 'w1', { kind: 'taints', taints: [{ key: 'dedicated', value: 'ml' }] });
    expect(world.state.machine('w1')?.taints).toEqual([{ key: 'dedicated', value: 'ml' }]);
    change(world, 'w1', { kind: 'taints', taints: [] });
    expect(world.state.machine('w1')?.taints).toEqual([]);
  });

  test.each<MachineChange>([
    { kind: 'attributes', attributes: { machine: 'other' } },
    { kind: 'attributes', attributes: { machine: null } },
    { kind: 'taints', taints: [{ key: 'machine', value: 'other' }] },
  ])('the name of a machine is not set by %j', (what) => {
    const refused = refusalOf(change(new World(), 'w1', what));
    expect(refused.code).toBe('INVALID_ARGUMENT');
    expect(refused.message).toBe('machine is the name of the machine itself and cannot be set.');
  });

  test('one key cannot be two taints', () => {
    const taints = [
      { key: 'a', value: '1' },
      { key: 'a', value: '2' },
    ];
    const refused = refusalOf(change(new World(), 'w1', { kind: 'taints', taints }));
    expect(refused.fields).toEqual([{ field: 'taints', value: 'a=2', expected: 'a once' }]);
  });

  test('more than a hundred attributes are refused', () => {
    const attributes = Object.fromEntries(Array.from({ length: 101 }, (_, at) => [`k${at}`, at]));
    const refused = refusalOf(change(new World(), 'w1', { kind: 'attributes', attributes }));
    expect(refused.fields).toEqual([
      { field: 'attributes', value: '101', expected: 'at most 100 attributes' },
    ]);
  });

  test('are for who administers the cluster', () => {
    const refused = refusalOf(change(new World(), 'w1', { kind: 'cordon' }, false));
    expect(refused.code).toBe('PERMISSION_DENIED');
  });
});

describe('the address it is woken by', () => {
  test.each([
    ['AA:BB:CC:00:11:22', 'aa:bb:cc:00:11:22'],
    [' aa-bb-cc-00-11-22', 'aa:bb:cc:00:11:22'],
    [null, null],
  ])('%s is kept as %s', (text, kept) => {
    const world = new World();
    change(world, 'w1', { kind: 'wake-address', wakeAddress: '00:00:00:00:00:01' });
    change(world, 'w1', { kind: 'wake-address', wakeAddress: text });
    expect(world.state.machine('w1')?.wakeAddress).toBe(kept);
  });

  test.each(['aa:bb:cc', 'aa:bb:cc:00:11:gg', ''])('%j is refused', (text) => {
    const refused = refusalOf(change(new World(), 'w1', { kind: 'wake-address', wakeAddress: text }));
    expect(refused.fields).toEqual([
      {
        field: 'wakeAddress',
        value: text,
        expected: 'a hardware address such as aa:bb:cc:dd:ee:ff, as `ip link` shows it on that machine',
      },
    ]);
  });
});

test('a card given back to jobs is an audit row and no setting', () => {
  const world = new World();
  change(world, 'w1', { kind: 'release-gpu', uuid: 'GPU-1' });
  expect(world.state.machine('w1')).toBeUndefined();
  expect(audit(world)).toEqual([
    {
      actor: 'owner',
      action: 'worker_changed',
      entity: 'machine/w1',
      detail: { releasedGpu: 'GPU-1' },
    },
  ]);
});

describe('removing', () => {
  test('takes the row away, and the name is free again', () => {
    const world = new World();
    add(world, 'w1');
    expect(remove(world, 'w1').ok).toBe(true);
    expect(world.state.machine('w1')).toBeUndefined();
    expect([...world.state.machines()]).toEqual([]);
    expect(audit(world).at(-1)).toEqual({
      actor: 'owner',
      action: 'worker_removed',
      entity: 'machine/w1',
      detail: { address: 'ssh://w1', lost: 0 },
    });
    expect(add(world, 'w1').ok).toBe(true);
  });

  test('is refused while something of ours may run there', () => {
    const world = new World();
    add(world, 'w1');
    const job = world.submit({ replicas: 2 });
    world.run(`${job}/0`, 'w1');
    world.assign(`${job}/1`, 'w1');
    const refused = refusalOf(remove(world, 'w1'));
    expect(refused.code).toBe('FAILED_PRECONDITION');
    expect(refused.message).toContain(`${job}/0 and 1 more run on w1, or may still. Drain it first`);
    expect(world.state.machine('w1')).toBeDefined();
  });

  test('with force its tasks count as lost, those that never started free of charge', () => {
    const world = new World();
    add(world, 'w1');
    const job = world.submit({ replicas: 2 });
    const running = world.run(`${job}/0`, 'w1');
    const assigned = world.assign(`${job}/1`, 'w1');
    expect(remove(world, 'w1', true).ok).toBe(true);
    const cause = {
      code: 'WORKER_LOST',
      message: 'The machine w1 was removed by owner while it ran there.',
    };
    for (const uid of [running, assigned])
      expect(world.attempt(uid)).toMatchObject({
        state: 'WORKER_FAILED',
        finishedAtMs: world.nowMs,
        cause,
      });
    expect(world.task(`${job}/0`)).toMatchObject({ state: 'PENDING', preemptionCount: 1 });
    expect(world.task(`${job}/1`)).toMatchObject({ state: 'PENDING', preemptionCount: 0 });
  });

  test('the controller’s own machine stays', () => {
    const world = new World();
    change(world, 'ws-1', { kind: 'cordon' });
    for (const force of [false, true]) {
      const refused = refusalOf(remove(world, 'ws-1', force));
      expect(refused.code).toBe('FAILED_PRECONDITION');
      expect(refused.message).toContain('ws-1 was not added by an address');
    }
  });

  test('is for who administers the cluster', () => {
    const world = new World();
    add(world, 'w1');
    expect(refusalOf(remove(world, 'w1', true, false)).code).toBe('PERMISSION_DENIED');
  });
});
