/** One client's connection: what it must say first, what is refused, and how deltas are held back. */
import { describe, expect, test } from 'vitest';
import { contractVersion, methods, type MethodName } from '../../core/contract/api.js';
import { z } from 'zod';
import { RefusalError, refusal } from '../../core/contract/errors.js';
import type { HostFrame } from '../../core/contract/protocol.js';
import type { Counts, HostStatus, JobSummary } from '../../core/contract/views.js';
import type { Logger } from '../../main/controller/logger.js';
import { Publisher } from '../../main/controller/publisher.js';
import type { TopicSources } from '../../main/controller/topic-values.js';
import { openSession, type Handlers } from '../../main/controller/session.js';

const counts: Counts = { running: 1, waiting: 2, failedUnseen: 0, finished: 3 };
const status: HostStatus = {
  contractVersion,
  appVersion: '1.2.3',
  host: 'headless',
  runtime: 'Node 20.20.2',
  pid: 1,
  startedAtMs: 1,
  home: '/data',
  user: 'ada',
  clusterName: 'local',
  healthy: true,
  health: 'All is well.',
  counts,
  pragmas: {},
};

function row(id: string): JobSummary {
  return {
    id,
    name: 'job',
    user: 'ada',
    parentId: null,
    rootId: id,
    depth: 1,
    state: 'RUNNING',
    band: 'INTERACTIVE',
    submittedAtMs: 1,
    startedAtMs: null,
    finishedAtMs: null,
    numTasks: 1,
    taskCounts: {},
    childCount: 0,
    failureCount: 0,
    preemptionCount: 0,
    gpuCount: 0,
    exitCode: null,
    cause: null,
    waiting: null,
    workers: [],
    commandLine: 'true',
    retryOf: null,
    held: false,
  };
}

/** The names of a method's parameters. */
function fieldsOf(method: MethodName): readonly string[] {
  const { params } = methods[method];
  return params instanceof z.ZodObject ? Object.keys(params.shape) : [];
}

function connect(overrides: Partial<Handlers> = {}) {
  const frames: HostFrame[] = [];
  const logged: string[] = [];
  let nowMs = 0;
  let closed = false;
  const interests: string[] = [];
  const sources: TopicSources = {
    counts: () => counts,
    summary: () => null,
    job: () => Promise.reject(new RefusalError(refusal('NOT_FOUND', 'There is no job /ada/none.'))),
    log: () => Promise.resolve({ outSize: 0, errSize: 0, complete: false }),
    overview: () => Promise.resolve({ machines: [], counts, running: [], waiting: [], recent: [] }),
    budgets: () => ({ halfLifeMs: null, budgets: [] }),
    queue: () => ({ atMs: 0, bands: [], items: [], reservations: [] }),
    unread: () => Promise.resolve(0),
    question: () => null,
    images: () => ({ changes: 0, cacheChanges: 0, pulls: [] }),
    machinesSeen: () => undefined,
    status: () => status,
    interest: (kind, key, wanted) => interests.push(`${kind} ${key} ${wanted}`),
  };
  const logger: Logger = {
    info: () => undefined,
    warn: () => undefined,
    error: (message) => logged.push(message),
  };
  const publisher = new Publisher(
    sources,
    () => nowMs,
    () => undefined,
  );
  const handlers = { hello: () => status, status: () => status, ...overrides } as Handlers;
  const session = openSession({
    handlers,
    publisher,
    identity: { user: 'ada' },
    logger,
    send: (frame) => {
      if (frame.kind === 'log') throw new Error('no log was asked for');
      frames.push(structuredClone(frame));
    },
    close: () => {
      closed = true;
    },
  });
  return {
    frames,
    logged,
    interests,
    publisher,
    session,
    isClosed: () => closed,
    pass: (ms: number) => {
      nowMs += ms;
    },
    greet: async () => {
      session.receive({ kind: 'call', id: 1, method: 'hello', params: { contractVersion, client: 'test' } });
      await turn();
      frames.length = 0;
    },
  };
}

/** Answers are given in later turns of the event loop. */
function turn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

describe('the first frame', () => {
  test('anything but hello is refused and the connection closed', () => {
    const { frames, session, isClosed } = connect();
    session.receive({ kind: 'call', id: 7, method: 'status', params: {} });
    expect(frames).toMatchObject([{ kind: 'refused', id: 7, refusal: { code: 'FAILED_PRECONDITION' } }]);
    expect(isClosed()).toBe(true);
  });

  test('another contract version is refused with both versions', () => {
    const { frames, session, isClosed } = connect();
    session.receive({
      kind: 'call',
      id: 1,
      method: 'hello',
      params: { contractVersion: 99, client: 'test' },
    });
    expect(frames).toMatchObject([{ kind: 'refused', refusal: { code: 'VERSION_MISMATCH' } }]);
    expect(JSON.stringify(frames)).toContain('99');
    expect(isClosed()).toBe(true);
  });

  test('text that is no frame closes the connection', () => {
    const { frames, session, isClosed } = connect();
    session.receive(undefined);
    expect(frames).toMatchObject([{ kind: 'refused', refusal: { code: 'INVALID_ARGUMENT' } }]);
    expect(isClosed()).toBe(true);
  });
});

describe('calls', () => {
  test('an unknown method is UNIMPLEMENTED and names it', async () => {
    const { frames, session, greet } = connect();
    await greet();
    session.receive({ kind: 'call', id: 2, method: 'job.explode', params: {} });
    expect(frames).toMatchObject([{ kind: 'refused', id: 2, refusal: { code: 'UNIMPLEMENTED' } }]);
    expect(JSON.stringify(frames)).toContain('job.explode');
  });

  test('a surplus field is refused by name before the handler is called', async () => {
    let called = false;
    const { frames, session, greet } = connect({
      'job.stop': () => {
        called = true;
        return { results: [] };
      },
    });
    await greet();
    session.receive({
      kind: 'call',
      id: 2,
      method: 'job.stop',
      params: { requestId: '12345678', jobIds: ['/ada/x'], force: true },
    });
    await turn();
    expect(frames).toMatchObject([
      {
        kind: 'refused',
        id: 2,
        refusal: { code: 'INVALID_ARGUMENT', fields: [{ field: 'force', value: 'true' }] },
      },
    ]);
    expect(called).toBe(false);
  });

  test.each([
    [
      'machine.change',
      'machineId',
      '',
      'machineId: empty text is not valid; expected a text that is not empty.',
    ],
    ['machine.change', 'machineId', 7, 'machineId: 7 is not valid; expected a text.'],
    ['machine.change', 'machineId', undefined, 'machineId: nothing is not valid; expected a text.'],
    ['job.stop', 'jobIds', [], 'jobIds: [] is not valid; expected at least 1 entry.'],
    ['job.stop', 'requestId', 'short', 'requestId: short is not valid; expected at least 8 characters.'],
  ] as const)('%s with %s %j is told what would be right', async (method, field, value, sentence) => {
    const { frames, session, greet } = connect();
    await greet();
    const change = { kind: 'drain', deadlineMs: null, forget: false };
    const usual = { requestId: '12345678', machineId: 'two', jobIds: ['/ada/x'] };
    const given: Record<string, unknown> = { ...usual, [field]: value };
    const { jobIds, machineId, requestId } = given;
    const params = method === 'job.stop' ? { requestId, jobIds } : { requestId, machineId, change };
    session.receive({ kind: 'call', id: 2, method, params });
    await turn();
    const [frame] = frames;
    expect(frame?.kind === 'refused' ? frame.refusal.message : '').toMatch(
      new RegExp(`^${method}: ${sentence.replace(/[.[\]]/g, '\\$&')}`),
    );
  });

  test('whatever any method is sent, a refusal speaks of values, not of the types of its checker', async () => {
    const names = Object.keys(methods) as MethodName[];
    const odd = [null, 5, -1, 1.5, '', 'x'.repeat(70_000), [], [5], {}, true];
    let refused = 0;
    for (const method of names) {
      if (method === 'hello') continue;
      const { frames, session, greet } = connect();
      await greet();
      const fields = fieldsOf(method);
      const all = [{}, 5, ...fields.flatMap((field) => odd.map((value) => ({ [field]: value })))];
      for (const [at, params] of all.entries()) session.receive({ kind: 'call', id: at + 2, method, params });
      await turn();
      for (const frame of frames) {
        if (frame.kind !== 'refused' || frame.refusal.code !== 'INVALID_ARGUMENT') continue;
        refused += 1;
        expect(JSON.stringify(frame.refusal)).not.toMatch(
          /Invalid |Too (small|big)|expected (string|number|array)|undefined/,
        );
      }
    }
    expect(refused).toBeGreaterThan(names.length);
  });

  test("a handler's refusal arrives whole; an unexpected error is INTERNAL, logged, and its text stays here", async () => {
    const { frames, logged, session, greet } = connect({
      'machine.list': () => {
        throw new Error('secret detail');
      },
      'overview.get': () => Promise.reject(new RefusalError(refusal('UNAVAILABLE', 'Not now.'))),
    });
    await greet();
    session.receive({ kind: 'call', id: 2, method: 'machine.list', params: {} });
    session.receive({ kind: 'call', id: 3, method: 'overview.get', params: {} });
    await turn();
    expect(frames).toMatchObject([
      { id: 2, refusal: { code: 'INTERNAL' } },
      { id: 3, refusal: { code: 'UNAVAILABLE', message: 'Not now.' } },
    ]);
    expect(JSON.stringify(frames)).not.toContain('secret');
    expect(logged).toHaveLength(1);
  });
});

describe('subscriptions', () => {
  test('one delta is in flight; what came meanwhile arrives as the last value of each job', async () => {
    const { frames, session, publisher, greet, pass } = connect();
    await greet();
    session.receive({ kind: 'subscribe', id: 5, topic: 'jobs', filter: {} });
    await turn();
    expect(frames).toEqual([{ kind: 'snapshot', id: 5, value: { counts } }]);
    session.receive({ kind: 'ack', id: 5, seq: 0 });
    pass(1000);
    publisher.changed({ jobs: [row('/ada/a')], touched: [], tasks: new Map(), removed: [] });
    publisher.changed({
      jobs: [{ ...row('/ada/a'), state: 'SUCCEEDED' }],
      touched: [],
      tasks: new Map(),
      removed: [],
    });
    publisher.changed({ jobs: [row('/ada/b')], touched: [], tasks: new Map(), removed: [] });
    expect(frames.slice(1)).toMatchObject([
      { kind: 'delta', seq: 1, value: { rows: [{ id: '/ada/a', state: 'RUNNING' }] } },
    ]);
    pass(1000);
    session.receive({ kind: 'ack', id: 5, seq: 1 });
    expect(frames.slice(2)).toMatchObject([
      {
        kind: 'delta',
        seq: 2,
        value: {
          rows: [
            { id: '/ada/a', state: 'SUCCEEDED' },
            { id: '/ada/b', state: 'RUNNING' },
          ],
        },
      },
    ]);
  });

  test('who asked for counts only gets no rows, and nothing for rows that changed no job', async () => {
    const { frames, publisher, session, pass, greet } = connect();
    await greet();
    session.receive({ kind: 'subscribe', id: 2, topic: 'jobs', filter: { countsOnly: true } });
    await turn();
    expect(frames).toEqual([{ kind: 'snapshot', id: 2, value: { counts } }]);
    expect(publisher.wantsRows()).toBe(false);
    session.receive({ kind: 'ack', id: 2, seq: 0 });
    pass(200);
    const changed = { jobs: [row('/ada/a')], touched: ['/ada/b'], tasks: new Map(), removed: [] };
    publisher.changed(changed);
    await turn();
    expect(frames).toHaveLength(1);
    publisher.countsChanged();
    const told = { kind: 'delta', id: 2, value: { rows: [], removed: [], counts } };
    expect(frames.slice(1)).toEqual([{ ...told, seq: 1 }]);
    session.receive({ kind: 'ack', id: 2, seq: 1 });
    pass(200);
    // As after somebody has looked at the failures.
    publisher.changed({ jobs: [], touched: [], tasks: new Map(), removed: [] });
    expect(frames.slice(2)).toEqual([{ ...told, seq: 2 }]);
    session.receive({ kind: 'subscribe', id: 3, topic: 'jobs', filter: {} });
    expect(publisher.wantsRows()).toBe(true);
  });

  test('a client that falls far behind gets a snapshot instead of what it missed', async () => {
    const { frames, session, publisher, greet, pass } = connect();
    await greet();
    session.receive({ kind: 'subscribe', id: 5, topic: 'jobs', filter: {} });
    await turn();
    for (let job = 0; job < 3000; job += 1) {
      publisher.changed({ jobs: [row(`/ada/${job}`)], touched: [], tasks: new Map(), removed: [] });
    }
    pass(1000);
    session.receive({ kind: 'ack', id: 5, seq: 0 });
    await turn();
    expect(frames.slice(1)).toMatchObject([{ kind: 'snapshot', id: 5 }]);
  });

  test('a subscription to what does not exist ends with the reason', async () => {
    const { frames, session, greet } = connect();
    await greet();
    session.receive({ kind: 'subscribe', id: 6, topic: 'job', filter: { jobId: '/ada/none' } });
    await turn();
    expect(frames).toMatchObject([{ kind: 'refused', id: 6, refusal: { code: 'NOT_FOUND' } }]);
  });

  test('the backend samples only while somebody looks', async () => {
    const { interests, session, greet } = connect();
    await greet();
    session.receive({ kind: 'subscribe', id: 7, topic: 'overview', filter: {} });
    session.receive({ kind: 'subscribe', id: 8, topic: 'overview', filter: {} });
    session.receive({ kind: 'unsubscribe', id: 7 });
    expect(interests).toEqual(['overview  true']);
    session.close();
    expect(interests).toEqual(['overview  true', 'overview  false']);
  });

  test("one connection's acknowledgement does not release another's delta", async () => {
    const first = connect();
    await first.greet();
    first.session.receive({ kind: 'subscribe', id: 5, topic: 'jobs', filter: {} });
    await turn();
    const other = openSession({
      handlers: { hello: () => status } as unknown as Handlers,
      publisher: first.publisher,
      identity: { user: 'ada' },
      logger: { info: () => undefined, warn: () => undefined, error: () => undefined },
      send: () => undefined,
      close: () => undefined,
    });
    other.receive({ kind: 'call', id: 1, method: 'hello', params: { contractVersion, client: 'other' } });
    first.pass(1000);
    first.publisher.changed({ jobs: [row('/ada/a')], touched: [], tasks: new Map(), removed: [] });
    other.receive({ kind: 'ack', id: 5, seq: 0 });
    expect(first.frames).toHaveLength(1);
  });
});
