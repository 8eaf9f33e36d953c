/** Machines on a host over a fleet that a test speaks for: adding, placing, draining, removing, restarts, and every refusal. */
import { createSocket } from 'node:dgram';
import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Params } from '../../core/contract/api.js';
import type { MachineChange, MachineCheck, MachineView } from '../../core/contract/machines.js';
import { rawMachineId } from '../../main/home.js';
import { eventually } from '../harness/eventually.js';
import { connectedWorker, FakeFleet, fleetHost, type FleetHost } from '../harness/fake-fleet.js';
import {
  lastAttempt,
  over,
  refusalOf,
  running,
  shell,
  submit,
  summaryWhen,
  tasksOf,
} from '../harness/host-jobs.js';

let host: FleetHost;

beforeEach(async () => {
  host = await fleetHost();
});
afterEach(async () => {
  await host.dispose();
});

async function add(name: string, more: Partial<Params<'machine.add'>> = {}) {
  return await host.client.call('machine.add', {
    requestId: randomUUID(),
    name,
    address: `ssh://${name}`,
    ...more,
  });
}

/** Added and connected. */
async function connected(name: string): Promise<void> {
  host.fleet.show(connectedWorker(name));
  await add(name);
  await machineWhen(name, ({ contact }) => contact.state === 'CONNECTED');
}

const change = (machineId: string, what: MachineChange) =>
  host.client.call('machine.change', { requestId: randomUUID(), machineId, change: what });
const remove = (machineId: string, force = false) =>
  host.client.call('machine.remove', { requestId: randomUUID(), machineId, force });
const list = async () => (await host.client.call('machine.list', {})).machines;
const ids = async () => (await list()).map(({ id }) => id);

async function machine(id: string): Promise<MachineView> {
  const found = (await list()).find((each) => each.id === id);
  if (found === undefined) throw new Error(`there is no machine ${id}`);
  return found;
}

/** As the overview tells of it: without asking again. */
async function machineWhen(id: string, wanted: (view: MachineView) => boolean): Promise<void> {
  await host.client.until('overview', {}, (value) => {
    const { machines } = value as { machines: readonly MachineView[] };
    return machines.some((each) => each.id === id && wanted(each));
  });
}

const is = (key: string, value: string) => ({ key, op: 'EQ' as const, values: [value] });

const actions = async (entity: string) =>
  (await host.client.call('audit.list', { entity, limit: 50 })).events.map(({ action }) => action).reverse();

async function messageWhenWaiting(jobId: string): Promise<string> {
  const summary = await summaryWhen(host.client, jobId, ({ waiting }) => waiting !== null);
  return summary.waiting?.message ?? '';
}

describe('adding a machine', () => {
  test('looks at it, writes it down, and takes it up', async () => {
    const { machine: view, checks } = await add('two', { address: 'two', acceptKey: 'SHA256:abc' });
    expect(checks.map(({ step, outcome }) => `${step} ${outcome}`)).toEqual(['reach OK']);
    expect(view).toMatchObject({ id: 'two', address: 'ssh://two', scheduling: 'OPEN' });
    expect(host.fleet.asked).toEqual(['check two SHA256:abc', 'add two ssh://two']);
    expect(await actions('machine/two')).toEqual(['worker_registered']);
    expect(await ids()).toEqual(['w1', 'two']);
  });

  test('that is not usable is not done, and the checks say why', async () => {
    const failed: MachineCheck = {
      step: 'host-key',
      outcome: 'FAILED',
      message: 'Nobody has said that this key is its.',
      advice: 'Compare it.',
      fingerprint: 'SHA256:abc',
    };
    host.fleet.looks.set('ssh://two', { checks: [failed], usable: false, identity: null });
    expect(await add('two')).toEqual({ machine: null, checks: [failed] });
    expect(await host.client.call('machine.check', { address: 'ssh://two' })).toEqual({
      checks: [failed],
      usable: false,
    });
    expect(await ids()).toEqual(['w1']);
    expect(await actions('machine/two')).toEqual([]);
  });

  test('under a name that is taken is refused before anybody looks', async () => {
    await add('two');
    const before = host.fleet.asked.length;
    for (const name of ['two', 'TWO', 'w1']) {
      const refused = await refusalOf(add(name, { address: 'elsewhere' }));
      expect(refused.code).toBe('ALREADY_EXISTS');
      expect(refused.fields[0]).toMatchObject({ field: 'name', value: name });
    }
    expect(host.fleet.asked.length).toBe(before);
  });

  test('that is one already under another name, or this one itself, is refused', async () => {
    await add('two');
    const look = (identity: string | null) => ({ checks: [], usable: true, identity });
    host.fleet.looks.set('alias', look('id of ssh://two'));
    expect((await refusalOf(add('three', { address: 'alias' }))).message).toContain(
      'ssh://alias is the machine two, which is a machine of this cluster already. If it is another,',
    );
    host.fleet.looks.set('localhost', look(rawMachineId()));
    expect((await refusalOf(add('me', { address: 'localhost' }))).message).toBe(
      'ssh://localhost is w1, the machine this controller runs on: it is a machine of this cluster already.',
    );
    expect(await ids()).toEqual(['w1', 'two']);
  });

  test('repeated with the same request id is done once', async () => {
    const requestId = randomUUID();
    await add('two', { requestId });
    expect((await add('two', { requestId })).machine?.id).toBe('two');
    expect(await actions('machine/two')).toEqual(['worker_registered']);
  });

  test('that tells of itself later is shown and waited for until then', async () => {
    await add('two');
    expect(await machine('two')).toMatchObject({
      state: 'DEGRADED',
      contact: { state: 'CONNECTING' },
      cpuCount: 0,
    });
    const job = await submit(host.client, shell('true', { machine: 'two', cpu: 3 }));
    expect(await messageWhenWaiting(job)).toBe('Waits: two is not connected yet.');
    host.fleet.show(connectedWorker('two'));
    await running(host.client, job);
    expect((await lastAttempt(host.client, job)).workerId).toBe('two');
  });
});

describe('a job that names its machine', () => {
  test('runs there', async () => {
    await connected('two');
    const named = await submit(host.client, shell('true', { machine: 'two', replicas: 2 }));
    const own = await submit(host.client, shell('true', { machine: 'W1' }));
    await summaryWhen(host.client, named, ({ taskCounts }) => taskCounts.RUNNING === 2);
    await running(host.client, own);
    const places = (await tasksOf(host.client, named)).map(({ attempts }) => attempts.at(-1)?.workerId);
    expect(places).toEqual(['two', 'two']);
    expect((await lastAttempt(host.client, own)).workerId).toBe('w1');
  });

  test('that there is not is refused with those there are', async () => {
    await add('two');
    const refused = await refusalOf(submit(host.client, shell('true', { machine: 'tow' })));
    expect(refused.code).toBe('INFEASIBLE');
    expect(refused.fields).toEqual([{ field: 'machine', value: 'tow', expected: 'one of w1, two' }]);
    const checked = await host.client.call('job.check', { request: shell('true', { machine: 'tow' }) });
    expect(checked.verdict).toBe('NEVER');
  });

  test('waits while that is cordoned, says so, and starts when it is not any more', async () => {
    await connected('two');
    expect(await change('two', { kind: 'cordon' })).toMatchObject({ scheduling: 'CORDONED' });
    const job = await submit(host.client, shell('true', { machine: 'two' }));
    expect(await messageWhenWaiting(job)).toBe('Waits: two is cordoned.');
    const { explanation } = await host.client.call('job.explain', { jobId: job });
    expect(explanation?.message).toBe('Waits: two is cordoned.');
    const elsewhere = await submit(host.client, shell('true', { replicas: 4 }));
    await summaryWhen(host.client, elsewhere, ({ taskCounts }) => taskCounts.RUNNING === 4);
    const places = (await tasksOf(host.client, elsewhere)).map(({ attempts }) => attempts.at(-1)?.workerId);
    expect(new Set(places)).toEqual(new Set(['w1']));
    await change('two', { kind: 'uncordon' });
    await running(host.client, job);
  });

  test.each([
    ['DEAD', 'OFF', 'is off'],
    ['DEGRADED', 'UNREACHABLE', 'cannot be reached'],
  ] as const)('waits while that is %s', async (state, contact, words) => {
    const away = { state: contact, sinceMs: 1, lastContactMs: 1, message: 'It is not there.' };
    host.fleet.show(connectedWorker('two', { state, contact: away }));
    await add('two');
    await machineWhen('two', (view) => view.contact.state === contact);
    const job = await submit(host.client, shell('true', { machine: 'two' }));
    expect(await messageWhenWaiting(job)).toBe(`Waits: two ${words}.`);
  });
});

describe('draining', () => {
  test('waits for what runs, takes nothing new, and ends drained', async () => {
    await connected('two');
    const job = await submit(host.client, shell('true', { machine: 'two' }));
    await running(host.client, job);
    expect((await change('two', { kind: 'drain', deadlineMs: null })).scheduling).toBe('DRAINING');
    const next = await submit(host.client, shell('true', { machine: 'two' }));
    expect(await messageWhenWaiting(next)).toBe('Waits: two is being drained.');
    host.fleet.machine.end((await lastAttempt(host.client, job)).uid, { exitCode: 0 });
    await machineWhen('two', ({ scheduling }) => scheduling === 'DRAINED');
    expect((await over(host.client, job)).state).toBe('SUCCEEDED');
    expect(await actions('machine/two')).toEqual(['worker_registered', 'worker_changed', 'worker_drained']);
  });

  test('past its deadline sends away what runs, with notice, and it runs again elsewhere', async () => {
    await connected('two');
    await change('w1', { kind: 'cordon' });
    const one = await submit(host.client, shell('true', { maxRetries: 0 }));
    await running(host.client, one);
    const { uid } = await lastAttempt(host.client, one);
    await change('w1', { kind: 'uncordon' });
    await change('two', { kind: 'drain', deadlineMs: 50 });
    await machineWhen('two', ({ scheduling }) => scheduling === 'DRAINED');
    expect(host.fleet.machine.attempts.get(uid)?.notice?.reason).toBe(
      'two is being drained, and its deadline has passed.',
    );
    await summaryWhen(host.client, one, ({ taskCounts }) => taskCounts.RUNNING === 1);
    const again = await lastAttempt(host.client, one);
    expect([again.workerId, again.number]).toEqual(['w1', 1]);
    const [task] = await tasksOf(host.client, one);
    expect(task).toMatchObject({ failureCount: 0, preemptionCount: 1 });
  });
});

describe('removing', () => {
  test('lets go of a machine on which nothing runs', async () => {
    await connected('two');
    await remove('two');
    expect(await ids()).toEqual(['w1']);
    expect(host.fleet.asked.at(-1)).toBe('remove two');
    expect(await actions('machine/two')).toEqual(['worker_registered', 'worker_removed']);
  });

  test('is refused while something runs there; with force that counts as lost and runs again', async () => {
    await connected('two');
    await change('w1', { kind: 'cordon' });
    const job = await submit(host.client, shell('true'));
    await running(host.client, job);
    const { uid } = await lastAttempt(host.client, job);
    const refused = await refusalOf(remove('two'));
    expect(refused.code).toBe('FAILED_PRECONDITION');
    expect(refused.message).toContain(`${job}/0 runs on two, or may still. Drain it first`);
    await remove('two', true);
    const [task] = await tasksOf(host.client, job);
    expect(task?.attempts.find((attempt) => attempt.uid === uid)).toMatchObject({
      state: 'WORKER_FAILED',
      cause: { code: 'WORKER_LOST' },
    });
    await change('w1', { kind: 'uncordon' });
    await running(host.client, job);
    expect((await lastAttempt(host.client, job)).workerId).toBe('w1');
    // What the lost one says now changes nothing.
    host.fleet.machine.end(uid, { exitCode: 0 });
    expect((await lastAttempt(host.client, job)).state).toBe('RUNNING');
  });

  test('of the controller’s own machine is refused', async () => {
    expect((await refusalOf(remove('w1', true))).message).toContain('w1 was not added by an address');
  });
});

describe('a restart', () => {
  test('keeps machines, what was set of them, and what runs there', async () => {
    await connected('two');
    const job = await submit(host.client, shell('true', { machine: 'two' }));
    await running(host.client, job);
    await change('two', { kind: 'drain', deadlineMs: 3_600_000 });
    await change('two', { kind: 'attributes', attributes: { rack: 'r1' } });
    await change('w1', { kind: 'taints', taints: [{ key: 'dedicated', value: 'ml' }] });
    await add('three');
    await change('three', { kind: 'drain', deadlineMs: null });
    const before = await list();
    expect(before.map(({ id, scheduling }) => `${id} ${scheduling}`)).toEqual([
      'w1 OPEN',
      'two DRAINING',
      'three DRAINED',
    ]);
    // The new fleet has connected to none of them yet.
    const next = new FakeFleet();
    next.idle = true;
    host = await host.restart(next);
    expect(host.fleet.asked).toEqual(['add three ssh://three', 'add two ssh://two']);
    const after = new Map((await list()).map((view) => [view.id, view]));
    for (const { id, scheduling, drainDeadlineMs, taints, wakeAddress } of before)
      expect(after.get(id)).toMatchObject({ scheduling, drainDeadlineMs, taints, wakeAddress });
    expect(after.get('two')?.attributes).toMatchObject({ rack: 'r1', machine: 'two' });
    expect(after.get('two')).toMatchObject({ runningTasks: 1, contact: { state: 'CONNECTING' } });
    const attempt = await lastAttempt(host.client, job);
    expect([attempt.state, attempt.finishedAtMs]).toEqual(['RUNNING', null]);
    // It is in the set that the machine is given once it is connected.
    expect(host.fleet.desired.map((item) => item.kind)).toEqual(['keep']);
  });
});

describe('settings', () => {
  test('attributes and taints decide who is placed there', async () => {
    await connected('two');
    const view = await change('two', { kind: 'attributes', attributes: { rack: 'r2', 'cuda-major': 12 } });
    expect(view.attributes).toEqual({ rack: 'r2', 'cuda-major': 12, machine: 'two' });
    expect(view.setByHand).toEqual(['cuda-major', 'rack']);
    await change('two', { kind: 'taints', taints: [{ key: 'dedicated', value: 'ml' }] });
    const [without, within] = [
      await submit(host.client, shell('true', { constraints: [is('rack', 'r2')] })),
      await submit(host.client, shell('true', { constraints: [is('rack', 'r2'), is('dedicated', 'ml')] })),
    ];
    await running(host.client, within);
    expect((await lastAttempt(host.client, within)).workerId).toBe('two');
    expect(await messageWhenWaiting(without)).toBe(
      'two could run it but is kept for jobs that say dedicated=ml; to be one of them, add --constraint dedicated=ml.',
    );
  });

  test('of a machine there is not are refused with those there are', async () => {
    await add('two');
    for (const call of [
      change('tow', { kind: 'cordon' }),
      remove('tow'),
      host.client.call('machine.wake', { machineId: 'tow' }),
      host.client.call('machine.history', { machineId: 'tow', sinceMs: 0 }),
    ]) {
      const refused = await refusalOf(call);
      expect(refused.code).toBe('NOT_FOUND');
      expect(refused.message).toBe('There is no machine tow; there are w1, two.');
    }
  });

  test('a card that is not kept from jobs cannot be given back to them', async () => {
    const refused = await refusalOf(change('w1', { kind: 'release-gpu', uuid: 'GPU-9' }));
    expect(refused.code).toBe('NOT_FOUND');
    expect(refused.fields).toEqual([{ field: 'uuid', value: 'GPU-9', expected: 'a card; it has none' }]);
  });
});

describe('waking', () => {
  test('sends the packet to the address that was set', async () => {
    const ear = createSocket('udp4');
    const heard = new Promise<Buffer>((resolve) => {
      ear.once('message', (packet) => resolve(packet));
    });
    await new Promise<void>((resolve) => {
      ear.bind(0, '127.0.0.1', () => resolve());
    });
    await host.dispose();
    host = await fleetHost({ wakeTargets: [{ address: '127.0.0.1', port: ear.address().port }] });
    try {
      await add('two');
      expect((await refusalOf(host.client.call('machine.wake', { machineId: 'two' }))).message).toContain(
        'irisctl machine set two --wake-address',
      );
      await change('two', { kind: 'wake-address', wakeAddress: 'AA-BB-CC-00-11-22' });
      await host.client.call('machine.wake', { machineId: 'two' });
      const packet = await heard;
      expect(packet.toString('hex')).toBe('ffffffffffff' + 'aabbcc001122'.repeat(16));
    } finally {
      ear.close();
    }
  });

  test('of a machine that is on is refused', async () => {
    await connected('two');
    await change('two', { kind: 'wake-address', wakeAddress: 'aa:bb:cc:00:11:22' });
    const refused = await refusalOf(host.client.call('machine.wake', { machineId: 'two' }));
    expect(refused.message).toBe('two is on: it is connected.');
  });
});

test('whoever watches the overview sees each change without asking', async () => {
  await add('two');
  const seen = machineWhen('two', ({ scheduling }) => scheduling === 'CORDONED');
  await change('two', { kind: 'cordon' });
  await seen;
  await remove('two');
  await eventually(ids).toEqual(['w1']);
});
