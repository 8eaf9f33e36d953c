import { describe, expect, it, vi } from 'vitest';
import { contractVersion } from '../../core/contract/api.js';
import { refusal, RefusalError } from '../../core/contract/errors.js';
import { eventually } from '../../test/harness/eventually.js';
import { FakeHost } from '../../test/harness/fake-host.js';
import { createHost, type ConnectionState, type Host } from './host.js';

/** Timers by hand: what is due runs when the test says so. */
function manualTimers() {
  const timers = new Set<{ run: () => void; ms: number }>();
  return {
    timers,
    setTimer: (run: () => void, ms: number) => {
      const timer = { run, ms };
      timers.add(timer);
      return () => {
        timers.delete(timer);
      };
    },
    fire(ms: number) {
      for (const timer of [...timers]) {
        if (timer.ms !== ms) continue;
        timers.delete(timer);
        timer.run();
      }
    },
  };
}

function reached(host: Host, kind: ConnectionState['kind']): Promise<void> {
  return new Promise((resolve) => {
    const check = () => {
      if (host.connection.get().kind !== kind) return;
      stop();
      resolve();
    };
    const stop = host.connection.subscribe(check);
    queueMicrotask(check);
  });
}

function jobsListener() {
  const seen: string[] = [];
  return {
    seen,
    listener: {
      snapshot: (value: { counts: { running: number } }) => seen.push(`snapshot ${value.counts.running}`),
      delta: (value: { rows: readonly { id: string }[] }) =>
        seen.push(`delta ${value.rows.map((row) => row.id).join()}`),
    },
  };
}

describe('host', () => {
  it('says hello first and is then connected with the status', async () => {
    const fake = new FakeHost({ jobs: 0 });
    const host = createHost({ connect: fake.bridge.connect });
    expect(host.connection.get().kind).toBe('connecting');
    await reached(host, 'connected');
    expect(fake.calls[0]).toEqual({ method: 'hello', params: { contractVersion, client: 'window' } });
    host.close();
  });

  it('is refused by a controller that says so and hangs up at once', () => {
    // As in a page, where the first answers wait for a moment in which nothing comes.
    vi.stubGlobal('requestIdleCallback', () => 0);
    try {
      let hangUp = (): void => undefined;
      const host = createHost({
        connect: (onFrame, onClosed) => ({
          send: ({ id }) => {
            hangUp = () => {
              onFrame(
                JSON.stringify({
                  kind: 'refused',
                  id,
                  refusal: refusal('VERSION_MISMATCH', 'Another version.'),
                }),
              );
              onClosed();
            };
          },
          close: () => undefined,
        }),
      });
      hangUp();
      expect(host.connection.get()).toMatchObject({ kind: 'refused', refusal: { code: 'VERSION_MISMATCH' } });
      host.close();
    } finally {
      vi.unstubAllGlobals();
    }
  });

  it('asks on its first connection without waiting for the answer to its greeting', async () => {
    const fake = new FakeHost({ jobs: 12 });
    fake.hold();
    const host = createHost({ connect: fake.bridge.connect });
    const { seen, listener } = jobsListener();
    host.subscribe('jobs', {}, listener);
    const answer = host.call('status', {});
    await eventually(() => fake.held?.length).toBe(3);
    expect(host.connection.get().kind).toBe('connecting');
    fake.release();
    await expect(answer).resolves.toMatchObject({ clusterName: 'local' });
    expect(host.connection.get().kind).toBe('connected');
    expect(seen).toEqual(['snapshot 4']);
    expect(fake.calls.map(({ method }) => method)).toEqual(['hello', 'status']);
    expect(fake.subscriptionsOf('jobs')).toBe(1);
    host.close();
  });

  it('on a later connection asks only once it stands, so that what waits in vain was not sent', async () => {
    const fake = new FakeHost({ jobs: 0 });
    const { setTimer, fire } = manualTimers();
    const host = createHost({ connect: fake.bridge.connect, setTimer });
    await reached(host, 'connected');
    fake.disconnect();
    fake.hold();
    fire(200);
    const answer = host.call('status', {});
    expect(fake.held?.length).toBe(1);
    fake.release();
    await expect(answer).resolves.toMatchObject({ clusterName: 'local' });
    host.close();
  });

  it('takes a new snapshot of each topic after the connection came back', async () => {
    const fake = new FakeHost({ jobs: 12 });
    const { setTimer, timers, fire } = manualTimers();
    const host = createHost({ connect: fake.bridge.connect, setTimer });
    const { seen, listener } = jobsListener();
    host.subscribe('jobs', {}, listener);
    await reached(host, 'connected');
    await eventually(() => seen).toEqual(['snapshot 4']);

    fake.disconnect();
    expect(host.connection.get().kind).toBe('lost');
    fake.change('/anna/eval-mmlu', { state: 'SUCCEEDED' });
    fake.publish();
    expect([...timers].map((timer) => timer.ms)).toContain(200);
    fire(200);
    await reached(host, 'connected');
    await eventually(() => seen).toEqual(['snapshot 4', 'snapshot 3']);

    fake.change('/anna/eval-mmlu', { state: 'RUNNING' });
    fake.publish();
    expect(seen.at(-1)).toBe('delta /anna/eval-mmlu');
    expect(fake.subscriptionsOf('jobs')).toBe(1);
    host.close();
  });

  it('waits longer after each failed try, up to five seconds, and starts short again after a success', async () => {
    const fake = new FakeHost({ jobs: 0 });
    const { setTimer, timers, fire } = manualTimers();
    const host = createHost({ connect: fake.bridge.connect, setTimer, patienceMs: 77_777 });
    await reached(host, 'connected');
    fake.reachable = false;
    fake.disconnect();
    const waits: number[] = [];
    for (let count = 0; count < 7; count += 1) {
      await eventually(() => [...timers].filter((timer) => timer.ms !== 77_777).length).toBe(1);
      const next = [...timers].find((timer) => timer.ms !== 77_777)?.ms ?? 0;
      waits.push(next);
      fire(next);
    }
    expect(waits).toEqual([200, 400, 800, 1600, 3200, 5000, 5000]);
    fake.reachable = true;
    await eventually(() => [...timers].some((timer) => timer.ms === 5000)).toBe(true);
    fire(5000);
    await reached(host, 'connected');
    fake.disconnect();
    expect([...timers].some((timer) => timer.ms === 200)).toBe(true);
    host.close();
  });

  it('sends a call that was in flight again, and the command happens once', async () => {
    const fake = new FakeHost({ jobs: 12 });
    const { setTimer, fire } = manualTimers();
    const host = createHost({ connect: fake.bridge.connect, setTimer });
    await reached(host, 'connected');
    fake.hold();
    const answer = host.call('job.stop', { requestId: 'request-1', jobIds: ['/anna/eval-mmlu'] });
    fake.disconnect();
    fake.release();
    fire(200);
    await expect(answer).resolves.toEqual({
      results: [{ id: '/anna/eval-mmlu', newId: null, refusal: null }],
    });
    expect(fake.callsOf('job.stop').map((params) => params.requestId)).toEqual(['request-1']);
    host.close();
  });

  it('refuses calls when there is no connection for longer than a user waits', async () => {
    const fake = new FakeHost({ jobs: 0 });
    const { setTimer, fire } = manualTimers();
    const host = createHost({ connect: fake.bridge.connect, setTimer, patienceMs: 9000 });
    await reached(host, 'connected');
    fake.reachable = false;
    fake.disconnect();
    const answer = host.call('status', {});
    const outcome = expect(answer).rejects.toMatchObject({ refusal: { code: 'UNAVAILABLE' } });
    fire(9000);
    await outcome;
    host.close();
  });

  it('says of a call that was in flight that it may have been done, not that nothing was sent', async () => {
    const fake = new FakeHost({ jobs: 12 });
    const { setTimer, fire } = manualTimers();
    const host = createHost({ connect: fake.bridge.connect, setTimer, patienceMs: 9000 });
    await reached(host, 'connected');
    fake.hold();
    const sent = host.call('job.stop', { requestId: 'request-1', jobIds: ['/anna/eval-mmlu'] });
    const read = host.call('status', {});
    fake.reachable = false;
    fake.disconnect();
    const kept = host.call('job.stop', { requestId: 'request-2', jobIds: ['/anna/eval-mmlu'] });
    const outcomes = Promise.allSettled([sent, kept, read]);
    fire(9000);
    expect(await outcomes).toMatchObject([
      {
        reason: { refusal: { code: 'DISCONNECTED', message: expect.stringContaining('may have been done') } },
      },
      { reason: { refusal: { code: 'UNAVAILABLE', message: expect.stringContaining('nothing was sent') } } },
      {
        reason: {
          refusal: { code: 'DISCONNECTED', message: expect.stringMatching(/before its answer came\.$/) },
        },
      },
    ]);
    host.close();
  });

  it('does not try again when the controller speaks another version, and says so to every call', async () => {
    const fake = new FakeHost({ jobs: 0 });
    fake.refuseNext('hello', refusal('VERSION_MISMATCH', 'This window speaks version 1, the controller 2.'));
    const { setTimer, timers } = manualTimers();
    const host = createHost({ connect: fake.bridge.connect, setTimer });
    const early = host.call('status', {});
    await expect(early).rejects.toBeInstanceOf(RefusalError);
    expect(host.connection.get()).toMatchObject({ kind: 'refused', refusal: { code: 'VERSION_MISMATCH' } });
    expect(timers.size).toBe(0);
    await expect(host.call('status', {})).rejects.toMatchObject({ refusal: { code: 'VERSION_MISMATCH' } });
    host.close();
  });

  it('leaves topics while paused and takes one snapshot on return, no replay', async () => {
    const fake = new FakeHost({ jobs: 12 });
    const host = createHost({ connect: fake.bridge.connect });
    const { seen, listener } = jobsListener();
    host.subscribe('jobs', {}, listener);
    await reached(host, 'connected');
    await eventually(() => seen.length).toBe(1);
    host.setPaused(true);
    expect(fake.subscriptionsOf('jobs')).toBe(0);
    for (let count = 0; count < 50; count += 1) {
      fake.change('/anna/eval-mmlu', { failureCount: count });
      fake.publish();
    }
    expect(seen).toEqual(['snapshot 4']);
    host.setPaused(false);
    await eventually(() => seen).toEqual(['snapshot 4', 'snapshot 4']);
    host.close();
  });

  it('tells a listener when the controller refuses its topic, and unsubscribing leaves nothing open', async () => {
    const fake = new FakeHost({ jobs: 1 });
    const host = createHost({ connect: fake.bridge.connect });
    await reached(host, 'connected');
    const ended = new Promise<string>((resolve) => {
      host.subscribe(
        'job',
        { jobId: '/anna/nothing' },
        { snapshot: () => undefined, delta: () => undefined, ended: (reason) => resolve(reason.code) },
      );
    });
    await expect(ended).resolves.toBe('NOT_FOUND');
    const stop = host.subscribe(
      'job',
      { jobId: '/anna/train-llm' },
      { snapshot: () => undefined, delta: () => undefined },
    );
    await eventually(() => fake.subscriptionsOf('job')).toBe(1);
    stop();
    expect(fake.subscriptionsOf('job')).toBe(0);
    host.close();
  });

  it.each([
    ['UNAVAILABLE', 2],
    ['RESOURCE_EXHAUSTED', 2],
    ['NOT_FOUND', 1],
  ] as const)(
    'after a topic ended with %s on a connection that stays it has subscribed %i times',
    async (code, times) => {
      const { setTimer, fire, timers } = manualTimers();
      const asked: number[] = [];
      const host = createHost({
        connect: (onFrame) => ({
          send: (frame) => {
            if (frame.kind === 'call') onFrame(JSON.stringify({ kind: 'result', id: frame.id, value: {} }));
            if (frame.kind !== 'subscribe') return;
            asked.push(frame.id);
            const answer =
              asked.length === 1
                ? { kind: 'refused', id: frame.id, refusal: refusal(code, 'It took too long.') }
                : { kind: 'snapshot', id: frame.id, value: { unread: 1 } };
            queueMicrotask(() => onFrame(JSON.stringify(answer)));
          },
          close: () => undefined,
        }),
        setTimer,
      });
      await reached(host, 'connected');
      const seen: unknown[] = [];
      const leave = host.subscribe(
        'inbox',
        {},
        {
          snapshot: (value) => seen.push(value),
          delta: () => undefined,
          ended: (reason) => seen.push(reason.code),
        },
      );
      await eventually(() => seen).toEqual([code]);
      fire(5000);
      await eventually(() => [asked.length, seen.length]).toEqual([times, times]);
      leave();
      expect(timers.size).toBe(0);
      host.close();
    },
  );
});
