import { describe, expect, test } from 'vitest';
import { createContractClient } from './client.js';
import { clientFrameSchema, type ClientFrame } from './protocol.js';
import type { Result } from './errors.js';

const counts = { running: 1, waiting: 0, failedUnseen: 0, finished: 3 };

function setUp() {
  const sent: ClientFrame[] = [];
  const client = createContractClient((frame) =>
    sent.push(clientFrameSchema.parse(JSON.parse(JSON.stringify(frame)))),
  );
  const seen: string[] = [];
  const subscribe = () =>
    client.subscribe(
      'jobs',
      {},
      {
        snapshot: (value) => seen.push(`snapshot ${value.counts.running}`),
        delta: (value) => seen.push(`delta ${value.counts.running}`),
        ended: (reason) => seen.push(`ended ${reason.code}`),
      },
    );
  const snapshot = (id: number, running = 1) =>
    client.receive({ kind: 'snapshot', id, value: { counts: { ...counts, running } } });
  const delta = (id: number, seq: number, running: number) =>
    client.receive({
      kind: 'delta',
      id,
      seq,
      value: { rows: [], removed: [], counts: { ...counts, running } },
    });
  return { client, sent, seen, subscribe, snapshot, delta };
}

describe('calls', () => {
  test('are answered by their id, in whatever order', () => {
    const { client, sent } = setUp();
    const answers: Result<unknown>[] = [];
    client.call('overview.get', {}, (result) => answers.push(result));
    client.call('shutdown', { reason: 'test' }, (result) => answers.push(result));
    expect(sent).toEqual([
      { kind: 'call', id: 1, method: 'overview.get', params: {} },
      { kind: 'call', id: 2, method: 'shutdown', params: { reason: 'test' } },
    ]);
    client.receive({ kind: 'result', id: 2, value: {} });
    client.receive({ kind: 'refused', id: 1, refusal: { code: 'NOT_FOUND', message: 'no', fields: [] } });
    expect(answers).toEqual([
      { ok: true, value: {} },
      { ok: false, refusal: { code: 'NOT_FOUND', message: 'no', fields: [] } },
    ]);
  });

  test('are answered once', () => {
    const { client } = setUp();
    let answers = 0;
    client.call('overview.get', {}, () => (answers += 1));
    expect(client.receive({ kind: 'result', id: 1, value: {} })).toBe(true);
    expect(client.receive({ kind: 'result', id: 1, value: {} })).toBe(true);
    expect(answers).toBe(1);
  });

  test('a call made from an answer goes out', () => {
    const { client, sent } = setUp();
    client.call('overview.get', {}, () => client.call('shutdown', { reason: 'then' }, () => undefined));
    client.receive({ kind: 'result', id: 1, value: {} });
    expect(sent.map((frame) => frame.id)).toEqual([1, 2]);
  });
});

describe('subscriptions', () => {
  test('a snapshot, then deltas in order, each confirmed', () => {
    const { sent, seen, subscribe, snapshot, delta } = setUp();
    subscribe();
    snapshot(1);
    delta(1, 1, 2);
    delta(1, 2, 3);
    expect(seen).toEqual(['snapshot 1', 'delta 2', 'delta 3']);
    expect(sent).toEqual([
      { kind: 'subscribe', id: 1, topic: 'jobs', filter: {} },
      { kind: 'ack', id: 1, seq: 0 },
      { kind: 'ack', id: 1, seq: 1 },
      { kind: 'ack', id: 1, seq: 2 },
    ]);
  });

  test('a gap: subscribes anew, the delta after the gap is not shown, the new snapshot is', () => {
    const { sent, seen, subscribe, snapshot, delta } = setUp();
    subscribe();
    snapshot(1);
    delta(1, 2, 9);
    expect(sent.slice(2)).toEqual([
      { kind: 'unsubscribe', id: 1 },
      { kind: 'subscribe', id: 2, topic: 'jobs', filter: {} },
    ]);
    delta(1, 3, 9);
    snapshot(2, 5);
    delta(2, 1, 6);
    expect(seen).toEqual(['snapshot 1', 'snapshot 5', 'delta 6']);
  });

  test('a later snapshot replaces all, and numbers start again', () => {
    const { seen, subscribe, snapshot, delta } = setUp();
    subscribe();
    snapshot(1);
    delta(1, 1, 2);
    snapshot(1, 7);
    delta(1, 1, 8);
    expect(seen).toEqual(['snapshot 1', 'delta 2', 'snapshot 7', 'delta 8']);
  });

  test('ended by the caller: nothing more is shown, also when a gap had renamed it', () => {
    const { sent, seen, subscribe, snapshot, delta } = setUp();
    const end = subscribe();
    snapshot(1);
    delta(1, 5, 9);
    end();
    end();
    snapshot(2);
    expect(sent.filter((frame) => frame.kind === 'unsubscribe').map((frame) => frame.id)).toEqual([1, 2]);
    expect(seen).toEqual(['snapshot 1']);
  });

  test('ended by the caller while a delta is shown: not confirmed', () => {
    const sent: ClientFrame[] = [];
    const client = createContractClient((frame) => sent.push(frame));
    const end = client.subscribe(
      'jobs',
      {},
      { snapshot: () => undefined, delta: () => end(), ended: () => undefined },
    );
    client.receive({ kind: 'snapshot', id: 1, value: { counts } });
    client.receive({ kind: 'delta', id: 1, seq: 1, value: { rows: [], removed: [], counts } });
    expect(sent.map((frame) => frame.kind)).toEqual(['subscribe', 'ack', 'unsubscribe']);
  });

  test('refused: over, with the reason', () => {
    const { client, seen, subscribe, snapshot } = setUp();
    subscribe();
    client.receive({ kind: 'refused', id: 1, refusal: { code: 'NOT_FOUND', message: 'no job', fields: [] } });
    snapshot(1);
    expect(seen).toEqual(['ended NOT_FOUND']);
  });
});

describe('the connection', () => {
  test('gone: every open call and subscription ends, once', () => {
    const { client, seen, subscribe } = setUp();
    const answers: Result<unknown>[] = [];
    client.call('overview.get', {}, (result) => answers.push(result));
    subscribe();
    client.disconnected();
    client.disconnected();
    expect(answers).toMatchObject([{ ok: false, refusal: { code: 'DISCONNECTED' } }]);
    expect(seen).toEqual(['ended DISCONNECTED']);
  });

  test('a reason that is known is given to all', () => {
    const { client, seen, subscribe } = setUp();
    subscribe();
    client.disconnected({ code: 'UNAVAILABLE', message: 'stopping', fields: [] });
    expect(seen).toEqual(['ended UNAVAILABLE']);
  });

  test.each([
    null,
    'x',
    {},
    { kind: 'result' },
    { kind: 'delta', id: 1, seq: 0, value: 1 },
    { kind: 'call', id: 1 },
    { kind: 'result', id: 1, value: 1, more: 1 },
  ])('what is no host frame is ignored: %j', (frame) => {
    const { client, seen, subscribe } = setUp();
    subscribe();
    expect(client.receive(frame)).toBe(false);
    expect(seen).toEqual([]);
  });
});
