import { expect, test } from 'vitest';
import { ModelState } from '../../core/model/draft.js';
import type { Machine } from '../../core/model/entities.js';
import { World } from '../../core/model/test-world.js';
import { ClusterFeed } from '../../core/scheduling/feed.js';
import { ourRules } from '../../core/scheduling/rules.js';
import { Scheduler } from '../../core/scheduling/scheduler.js';
import { card, worker } from '../../core/scheduling/test-cluster.js';
import { hereNamed } from './here-named.js';

function row(id: string, address: string | null, scheduling: Machine['scheduling'] = 'OPEN') {
  const set = {
    drainDeadlineMs: null,
    attributes: {},
    taints: [],
    wakeAddress: null,
    addedAtMs: 0,
    addedBy: 'ann',
  };
  return { id, machine: { id, address, identity: null, scheduling, ...set } };
}

/** The rows of a controller that ran on a machine called `before`, beside one that was added. */
function left() {
  const world = new World();
  for (const [name, workerId] of [
    ['here', 'before'],
    ['there', 'ws-2'],
    ['over', 'before'],
  ] as const) {
    world.submit({ name, gpu: 1 });
    const made = world.tryAssign(`/ann/${name}/0`, workerId, { devices: [`GPU-${name}`] });
    if (made.ok) world.observe(made.value.uid, name === 'over' ? 'SUCCEEDED' : 'RUNNING');
  }
  world.submit({ name: 'waits', gpu: 1 });
  const machines = [row('ws-2', 'ssh://ws-2')];
  return { world, live: { ...rowsOf(world), machines } };
}

function rowsOf({ jobs, tasks, attempts }: World) {
  return {
    jobs: [...jobs.values()],
    tasks: [...tasks.values()],
    attempts: [...attempts.values()],
    budgets: [],
    uses: [],
    audit: [],
    inbox: [],
    receipts: [],
    meta: {},
  };
}

test('what runs on this machine holds its cards also when the machine is called otherwise now', () => {
  const { live } = left();
  const state = new ModelState();
  state.apply(hereNamed(live, 'after'));
  expect([...state.used('after').devices.keys()]).toEqual(['GPU-here']);
  expect([...state.used('ws-2').devices.keys()]).toEqual(['GPU-there']);
  const scheduler = new Scheduler();
  const feed = new ClusterFeed(scheduler.cluster, state);
  feed.load(0);
  feed.setWorkers([worker('after', { gpus: [card(0, { uuid: 'GPU-here' })] })]);
  expect(scheduler.decide(0, ourRules).placed).toEqual([]);
});

test('what is over keeps the name, and so does all where the name is the same or one that was added', () => {
  const { live } = left();
  const names = (here: string) => hereNamed(live, here).attempts.map(({ workerId }) => workerId);
  expect(names('after')).toEqual(['after', 'ws-2', 'before']);
  expect(names('before')).toEqual(['before', 'ws-2', 'before']);
  expect(names('ws-2')).toEqual(['before', 'ws-2', 'before']);
});

test('a place promised on it stays promised', () => {
  const { live } = left();
  const claim = { workerId: 'before', devices: [], band: 'BATCH' as const, waitsFor: [], sinceMs: 0 };
  const tasks = live.tasks.map((task) => (task.id === '/ann/waits/0' ? { ...task, claim } : task));
  expect(hereNamed({ ...live, tasks }, 'after').tasks.at(-1)?.claim?.workerId).toBe('after');
});

test.each([
  ['goes on', [row('before', null, 'CORDONED')], [['after', 'CORDONED']]],
  [
    'counts no longer where the new name has its own',
    [row('after', null), row('before', null, 'CORDONED')],
    [['after', 'OPEN']],
  ],
] as const)('what was set of it by hand %s', (_, own, expected) => {
  const { live } = left();
  const machines = hereNamed({ ...live, machines: [...own, ...live.machines] }, 'after').machines;
  const local = machines.filter(({ machine }) => machine.address === null);
  expect(local.map(({ id, machine }) => [id, machine.scheduling])).toEqual(expected);
  expect(machines.map(({ id }) => id)).toContain('ws-2');
});
