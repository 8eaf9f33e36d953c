import { describe, expect, test, vi } from 'vitest';
import type {
  AttemptObservation,
  Backend,
  BackendListener,
  DesiredAttempt,
  WorkerObservation,
} from '../backend.js';
import { launchOf, specOf } from '../../../test/harness/backend-probe.js';
import { fakeWorker } from '../../../test/harness/fake-backend.js';
import { createFleet } from './fleet.js';

class FakeOne implements Backend {
  listener: BackendListener | null = null;
  shares: (readonly DesiredAttempt[])[] = [];
  watched: string[] = [];
  looked: boolean[] = [];
  closed = false;
  broken: string | null = null;
  hangs = false;
  endsWhenStopped = true;
  contact: WorkerObservation['contact'];

  constructor(
    readonly id: string,
    readonly reason: string | null = null,
  ) {}

  describe(): ReturnType<Backend['describe']> {
    return { id: this.id, kind: 'workstation', capabilities: ['worker-fleet', 'logs'] };
  }
  start(listener: BackendListener): Promise<void> {
    this.listener = listener;
    return this.hangs ? new Promise(() => undefined) : Promise.resolve();
  }
  observe(): readonly WorkerObservation[] {
    this.fail();
    return [{ ...fakeWorker, id: this.id, contact: this.contact }];
  }
  reconcile(desired: readonly DesiredAttempt[]): void {
    this.fail();
    this.shares.push(desired);
    const stopped = desired.flatMap((item) => (item.kind === 'stop' ? [ended(item.uid)] : []));
    if (this.endsWhenStopped && stopped.length > 0) setImmediate(() => this.listener?.observations(stopped));
  }
  feasible(): string | null {
    return this.reason;
  }
  readLog(uid: string): ReturnType<Backend['readLog']> {
    return Promise.resolve({ data: Buffer.from(`${this.id} ${uid}`), size: 1 });
  }
  logMarks(): ReturnType<Backend['logMarks']> {
    return Promise.resolve([{ atMs: 1, out: this.id.length, err: 0 }]);
  }
  watchLog(uid: string, on: boolean): void {
    this.watched.push(`${uid} ${on}`);
  }
  watchWorkers(on: boolean): void {
    this.looked.push(on);
  }
  close(): Promise<void> {
    this.closed = true;
    return Promise.resolve();
  }
  uids(): readonly string[] {
    return (this.shares.at(-1) ?? []).map((item) => (item.kind === 'run' ? item.launch.uid : item.uid));
  }
  private fail(): void {
    if (this.broken !== null) throw new Error(this.broken);
  }
}

function run(uid: string, workerId: string): DesiredAttempt {
  return { kind: 'run', launch: launchOf({ command: ['true'] }, { uid, workerId }) };
}
function keep(uid: string, workerId: string): DesiredAttempt {
  return { kind: 'keep', uid, launch: launchOf({ command: ['true'] }, { uid, workerId }) };
}
function stop(uid: string, workerId: string): DesiredAttempt {
  return {
    kind: 'stop',
    uid,
    workerId,
    container: false,
    reason: 'cancelled',
    signal: 'SIGTERM',
    graceMs: 1,
  };
}
function ended(uid: string): AttemptObservation {
  const none = { startedAtMs: null, durationMs: null, signal: null, cause: null, peakMemoryBytes: null };
  return { uid, state: 'SUCCEEDED', finishedAtMs: 1, exitCode: 0, warnings: [], pid: null, ...none };
}

async function fleetOf(machines = [new FakeOne('two'), new FakeOne('three')], stopWithinMs = 50) {
  const local = new FakeOne('one');
  const heard: AttemptObservation[] = [];
  const workers: string[][] = [];
  const grew: string[] = [];
  const errors: string[] = [];
  const infos: string[] = [];
  const note = (message: string, detail?: Readonly<Record<string, unknown>>) => {
    errors.push(`${message}: ${JSON.stringify(detail)}`);
  };
  const fleet = createFleet({
    local,
    machines,
    log: { info: (message) => void infos.push(message), warn: note, error: note },
    nowMs: () => 42,
    stopWithinMs,
    workerOf: (uid) => Promise.resolve(uid === 'old' ? 'two' : null),
  });
  await fleet.start({
    observations: (batch) => heard.push(...batch),
    workers: (all) => workers.push(all.map(({ id }) => id)),
    logGrew: (uid) => grew.push(uid),
  });
  return { fleet, local, machines, heard, workers, grew, errors, infos };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('a fleet of machines', () => {
  test('gives each machine what was placed on it, whole and nothing else', async () => {
    const { fleet, local, machines } = await fleetOf();
    fleet.reconcile([run('a', 'one'), run('b', 'two'), keep('c', 'three'), stop('d', 'two')]);
    expect(local.uids()).toEqual(['a']);
    expect(machines.map((machine) => machine.uids())).toEqual([['b', 'd'], ['c']]);
    fleet.reconcile([run('b', 'two')]);
    expect([local, ...machines].map((machine) => machine.uids())).toEqual([[], ['b'], []]);
  });

  test('shows all workers, and all again when one changes', async () => {
    const { fleet, machines, workers } = await fleetOf();
    expect(fleet.observe().map(({ id }) => id)).toEqual(['one', 'two', 'three']);
    const before = workers.length;
    for (const machine of machines) machine.listener?.workers([{ ...fakeWorker, id: 'two', state: 'DEAD' }]);
    await Promise.resolve();
    expect(workers.slice(before)).toEqual([['one', 'two', 'three']]);
  });

  test('a machine that throws or never starts harms no other, and is named once', async () => {
    const [broken, hanging] = [new FakeOne('two'), new FakeOne('three')];
    hanging.hangs = true;
    const { fleet, local, errors } = await fleetOf([broken, hanging]);
    broken.broken = 'lost its mind';
    fleet.reconcile([run('a', 'one'), run('b', 'two'), run('c', 'three')]);
    fleet.reconcile([run('a', 'one'), run('b', 'two'), run('c', 'three')]);
    expect(local.uids()).toEqual(['a']);
    expect(hanging.uids()).toEqual(['c']);
    expect(errors.filter((text) => text.includes('reconcile'))).toHaveLength(1);
    expect(errors[0]).toContain('lost its mind');
    expect(fleet.observe().map(({ id }) => id)).toEqual(['one', 'three']);
  });

  test('hears of an attempt only from the machine it was placed on', async () => {
    const { fleet, local, machines, heard, grew } = await fleetOf();
    fleet.reconcile([keep('b', 'two')]);
    machines[1]?.listener?.observations([ended('b')]);
    local.listener?.observations([ended('b')]);
    machines[1]?.listener?.logGrew('b', 1, 1);
    expect(heard).toEqual([]);
    machines[0]?.listener?.observations([ended('b')]);
    machines[0]?.listener?.logGrew('b', 1, 1);
    expect(heard.map(({ uid }) => uid)).toEqual(['b']);
    expect(grew).toEqual(['b']);
  });

  test('reads a log where its attempt is or was', async () => {
    const { fleet } = await fleetOf();
    fleet.reconcile([keep('b', 'three')]);
    expect(Buffer.from((await fleet.readLog('b', 'out', 0, 9)).data).toString()).toBe('three b');
    expect(Buffer.from((await fleet.readLog('old', 'out', 0, 9)).data).toString()).toBe('two old');
    expect(Buffer.from((await fleet.readLog('unknown', 'out', 0, 9)).data).toString()).toBe('one unknown');
    expect(await fleet.logMarks('b')).toEqual([{ atMs: 1, out: 5, err: 0 }]);
    await fleet.remove('three');
    const refused = fleet.readLog('b', 'out', 0, 9);
    await expect(refused).rejects.toThrow('the machine three, which was removed');
    // Not UNAVAILABLE: that is the controller's own, and whoever hears it waits for another.
    await expect(refused).rejects.toMatchObject({ refusal: { code: 'UNREACHABLE' } });
  });

  test('watches a log where it is, and everywhere while that is not known', async () => {
    const { fleet, local, machines } = await fleetOf();
    fleet.watchLog('b', true);
    expect([local, ...machines].map(({ watched }) => watched)).toEqual([['b true'], ['b true'], ['b true']]);
    fleet.reconcile([keep('c', 'two')]);
    fleet.watchLog('c', true);
    expect(machines[0]?.watched).toEqual(['b true', 'c true']);
    expect(local.watched).toEqual(['b true']);
  });

  test('takes in a machine while it runs, with what is wanted of it', async () => {
    const { fleet, workers, heard } = await fleetOf([]);
    fleet.watchWorkers(true);
    fleet.watchLog('b', true);
    fleet.reconcile([keep('b', 'two')]);
    const two = new FakeOne('two');
    fleet.add(two);
    expect(two.uids()).toEqual(['b']);
    expect(two.looked).toEqual([true]);
    expect(two.watched).toEqual(['b true']);
    await Promise.resolve();
    expect(workers.at(-1)).toEqual(['one', 'two']);
    expect(() => fleet.add(new FakeOne('two'))).toThrow('"two" already');
    expect(() => fleet.add(new FakeOne('one'))).toThrow('"one" already');
    two.listener?.observations([ended('b')]);
    expect(heard).toHaveLength(1);
  });

  test('what was wanted of a removed machine is lost, and it is heard no more', async () => {
    const { fleet, machines, heard, workers } = await fleetOf();
    fleet.reconcile([keep('b', 'two'), keep('c', 'three')]);
    await fleet.remove('two');
    await turn();
    expect(machines[0]?.closed).toBe(true);
    expect(heard).toMatchObject([{ uid: 'b', state: 'WORKER_FAILED', cause: { code: 'WORKER_LOST' } }]);
    machines[0]?.listener?.observations([ended('b')]);
    expect(heard).toHaveLength(1);
    expect(workers.at(-1)).toEqual(['one', 'three']);
    fleet.reconcile([keep('b', 'two')]);
    await turn();
    expect(heard).toHaveLength(2);
  });

  test('has what runs on a machine stopped before it lets go of it', async () => {
    // Longer than any machine is held up here.
    const { fleet, machines, heard } = await fleetOf(undefined, 60_000);
    const [two] = machines;
    if (two === undefined) throw new Error('there is no machine');
    fleet.reconcile([keep('b', 'two'), run('c', 'two'), keep('d', 'three')]);
    // As a round does that removes it: its attempts are lost already.
    fleet.reconcile([keep('d', 'three')]);
    two.endsWhenStopped = false;
    // It answers, and is looked at before it is used.
    two.contact = { state: 'CONNECTING', sinceMs: 1, lastContactMs: 1, message: null };
    const removal = fleet.remove('two');
    await turn();
    expect(two.shares.at(-1)).toMatchObject([
      { kind: 'stop', uid: 'b', signal: 'SIGTERM', graceMs: 5000 },
      { kind: 'stop', uid: 'c' },
    ]);
    two.listener?.observations([ended('b')]);
    await turn();
    expect(two.closed).toBe(false);
    two.listener?.observations([ended('c')]);
    expect(await removal).toBeNull();
    expect(two.closed).toBe(true);
    expect(heard).toEqual([]);
  });

  test('says of a removed machine what may go on there', async () => {
    const { fleet, machines, errors } = await fleetOf();
    const [two, three] = machines;
    if (two === undefined || three === undefined) throw new Error('there is no machine');
    fleet.reconcile([keep('b', 'two'), keep('c', 'two'), keep('d', 'three')]);
    two.endsWhenStopped = false;
    const removal = fleet.remove('two');
    two.listener?.observations([ended('b')]);
    const left = await removal;
    expect(left).toBe('Not seen to end within 0 s, and may go on at two: /tester/job-c/0.');
    expect(two.closed).toBe(true);
    three.contact = { state: 'CONNECTING', sinceMs: 1, lastContactMs: null, message: null };
    const before = three.shares.length;
    expect(await fleet.remove('three')).toBe(
      'three is not in contact, so what runs there could not be stopped: /tester/job-d/0.',
    );
    expect(three.shares.length).toBe(before);
    expect(three.closed).toBe(true);
    expect(errors.filter((text) => text.startsWith('A removed machine'))).toHaveLength(2);
  });

  test('what was given up with a machine may live on there until it takes tasks again', async () => {
    const { fleet, machines } = await fleetOf();
    const [two, three] = machines;
    if (two === undefined || three === undefined) throw new Error('there is no machine');
    fleet.reconcile([keep('b', 'two'), keep('d', 'three')]);
    const cause = { code: 'WORKER_LOST', message: 'It was lost.' } as const;
    for (const [machine, uid] of [[two, 'b'] as const, [three, 'd'] as const]) {
      machine.contact = { state: 'OFF', sinceMs: 1, lastContactMs: null, message: null };
      machine.listener?.observations([{ ...ended(uid), state: 'WORKER_FAILED', cause }]);
    }
    fleet.reconcile([]);
    three.contact = { state: 'CONNECTED', sinceMs: 1, lastContactMs: 1, message: null };
    three.listener?.workers(three.observe());
    expect(await fleet.remove('two')).toBe(
      'two is not in contact, so what runs there could not be stopped: /tester/job-b/0.',
    );
    three.contact = { state: 'OFF', sinceMs: 1, lastContactMs: 1, message: null };
    expect(await fleet.remove('three')).toBeNull();
  });

  test('a machine on which nothing can be started is given no tasks for a while, then is tried again', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const { fleet, machines, errors, infos } = await fleetOf();
      const [two, three] = machines;
      if (two === undefined || three === undefined) throw new Error('there is no machine');
      const cause = { code: 'LOG_STORAGE_FULL', message: 'No space left on device.' } as const;
      const lost = { ...ended('b'), state: 'WORKER_FAILED', startedAtMs: null, cause } as const;
      const since = { ...ended('old'), state: 'RUNNING', startedAtMs: 41 } as const;
      const runs = { ...ended('b'), state: 'RUNNING', startedAtMs: 42 } as const;
      const fails = (times: number) => {
        for (let count = 0; count < times; count += 1) two.listener?.observations([lost]);
      };
      const seen = () => fleet.observe().map(({ id, state, startsNothing }) => [id, state, startsNothing]);
      const well: unknown[][] = ['one', 'two', 'three'].map((id) => [id, 'HEALTHY', undefined]);
      fails(9);
      two.listener?.observations([runs]);
      fails(9);
      // Somebody else was quicker with a card: no fault of the machine.
      two.listener?.observations([{ ...lost, cause: { code: 'GPU_CLAIMED', message: '' } }]);
      expect(seen()).toEqual(well);
      fails(1);
      const tripped = well.with(1, ['two', 'DEGRADED', true]);
      expect(seen()).toEqual(tripped);
      expect(errors).toEqual([
        'A machine starts nothing, so it is given no tasks for a while: {"machine":"two","why":"No space left on device."}',
      ]);
      vi.advanceTimersByTime(30_000);
      expect(seen()).toEqual(well);
      // No better: twice as long.
      fails(1);
      vi.advanceTimersByTime(30_000);
      expect(seen()).toEqual(tripped);
      // What it has run since before is told of as ever.
      two.listener?.observations([since, { ...since, state: 'SUCCEEDED' }]);
      expect(seen()).toEqual(tripped);
      vi.advanceTimersByTime(30_000);
      expect(seen()).toEqual(well);
      two.listener?.observations([runs]);
      fails(9);
      expect(seen()).toEqual(well);
      fails(1);
      expect(seen()).toEqual(tripped);
      expect(infos).toEqual(['A machine is tried again', 'A machine is tried again']);
      await fleet.remove('two');
      expect(infos).toHaveLength(2);
      await fleet.close();
    } finally {
      vi.useRealTimers();
    }
  });

  test('a fleet that is closed waits for no removal', async () => {
    const { fleet, machines } = await fleetOf();
    fleet.reconcile([keep('b', 'two')]);
    const [two] = machines;
    if (two !== undefined) two.endsWhenStopped = false;
    const removal = fleet.remove('two');
    await fleet.close();
    expect(await removal).toContain('/tester/job-b/0');
    expect(two?.closed).toBe(true);
  });

  test('starts nothing here that was placed on a machine nobody knows, but looks for what may live here', async () => {
    const { fleet, local, heard } = await fleetOf();
    fleet.reconcile([run('a', 'nowhere'), keep('b', 'the-old-name')]);
    await turn();
    expect(local.uids()).toEqual(['b']);
    expect(heard).toMatchObject([{ uid: 'a', state: 'WORKER_FAILED' }]);
  });

  test('could run what one machine could, and says why none could', async () => {
    const spec = specOf({ command: ['true'] });
    const { fleet } = await fleetOf([new FakeOne('two', 'two is too small.')]);
    expect(fleet.feasible(spec)).toBeNull();
    const small = createFleet({
      local: new FakeOne('one', 'one is too small.'),
      machines: [new FakeOne('two', 'two is too small.')],
      log: { info: () => undefined, warn: () => undefined, error: () => undefined },
      nowMs: () => 1,
    });
    expect(small.feasible(spec)).toBe('one is too small. two is too small.');
  });
});
