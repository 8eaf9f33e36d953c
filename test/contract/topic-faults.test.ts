/** A topic whose reading fails for a moment goes on by itself: nobody looks at what was true an hour ago, or hears of no end any more. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { RefusalError, refusal } from '../../core/contract/errors.js';
import type { HostFrame } from '../../core/contract/protocol.js';
import type { InboxItem } from '../../core/contract/views.js';
import { Publisher } from '../../main/controller/publisher.js';
import type { TopicSources } from '../../main/controller/topic-values.js';
import { createShellClient } from '../../main/shell/shell-client.js';
import type { LinkFrame } from '../../main/server/frame-text.js';

let failing: RefusalError | null;
let frames: HostFrame[];
let logged: string[];
let publisher: Publisher;
let nowMs: number;

const slow = new RefusalError(refusal('UNAVAILABLE', 'Reading inbox took longer than 10000 ms.'));
const answer = <T>(value: T) => (failing === null ? Promise.resolve(value) : Promise.reject(failing));

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  failing = null;
  frames = [];
  logged = [];
  nowMs = 0;
  const sources = {
    unread: () => answer(3),
    overview: () => answer('all there is'),
    log: () => answer({ outSize: 4, errSize: 0, complete: false }),
    interest: () => undefined,
  } as unknown as TopicSources;
  publisher = new Publisher(
    sources,
    () => nowMs,
    (error) => logged.push((error as Error).message),
  );
});
afterEach(() => vi.useRealTimers());

const turn = () => new Promise((resolve) => setImmediate(resolve));

async function pass(ms: number): Promise<void> {
  nowMs += ms;
  vi.advanceTimersByTime(ms);
  await turn();
}

async function subscribed(topic: 'inbox' | 'overview') {
  const handle = publisher.subscribe(1, topic, {}, (frame) => frames.push(frame));
  await turn();
  handle.acknowledge(0);
  await pass(1000);
  return handle;
}

test('ends that could not be told are looked up with the snapshot that follows', async () => {
  const handle = await subscribed('inbox');
  failing = slow;
  publisher.inboxChanged([{ id: 1 } as InboxItem]);
  await turn();
  await pass(1000);
  await pass(1000);
  expect(frames.slice(1)).toEqual([]);
  failing = null;
  await pass(1000);
  expect(frames.slice(1)).toEqual([{ kind: 'snapshot', id: 1, value: { unread: 3 } }]);
  handle.acknowledge(0);
  await pass(1000);
  publisher.inboxChanged([{ id: 2 } as InboxItem]);
  await turn();
  expect(frames.slice(2)).toEqual([
    { kind: 'delta', id: 1, seq: 1, value: { items: [{ id: 2 }], unread: 3 } },
  ]);
});

test('the overview is read again when it could not be', async () => {
  await subscribed('overview');
  failing = slow;
  publisher.changed({ jobs: [], touched: [], tasks: new Map(), removed: [] });
  await turn();
  failing = null;
  expect(frames.slice(1)).toEqual([]);
  await pass(1000);
  expect(frames.slice(1)).toEqual([{ kind: 'snapshot', id: 1, value: 'all there is' }]);
});

test('what is not there any more is not asked for again, and nobody waits for the first reading', async () => {
  await subscribed('overview');
  failing = new RefusalError(refusal('NOT_FOUND', 'It is gone.'));
  publisher.changed({ jobs: [], touched: [], tasks: new Map(), removed: [] });
  await turn();
  expect(frames.slice(1)).toMatchObject([{ kind: 'refused', id: 1, refusal: { code: 'NOT_FOUND' } }]);
  failing = slow;
  publisher.subscribe(2, 'inbox', {}, (frame) => frames.push(frame));
  await turn();
  expect(frames.slice(2)).toMatchObject([{ kind: 'refused', id: 2, refusal: { code: 'UNAVAILABLE' } }]);
});

test.each(['overview', 'inbox'] as const)(
  'that %s cannot be read any more is told of, as it is old',
  async (topic) => {
    const handle = await subscribed(topic);
    failing = new RefusalError(refusal('DATABASE_CORRUPT', 'A page is damaged.'));
    if (topic === 'inbox') publisher.inboxChanged([]);
    else publisher.changed({ jobs: [], touched: [], tasks: new Map(), removed: [] });
    await turn();
    for (let second = 0; second < 5; second += 1) await pass(1000);
    expect([frames.slice(1), logged]).toEqual([[], Array(6).fill('A page is damaged.')]);
    // What was read in between begins the time anew.
    failing = null;
    await pass(1000);
    expect(frames.slice(1)).toMatchObject([{ kind: 'snapshot' }]);
    handle.acknowledge(0);
    await pass(1000);
    failing = new RefusalError(refusal('DATABASE_CORRUPT', 'A page is damaged.'));
    if (topic === 'inbox') publisher.inboxChanged([]);
    else publisher.changed({ jobs: [], touched: [], tasks: new Map(), removed: [] });
    await turn();
    for (let second = 0; second < 10; second += 1) await pass(1000);
    expect(frames.slice(2)).toEqual([]);
    await pass(1000);
    expect(frames.slice(2)).toMatchObject([
      { kind: 'refused', id: 1, refusal: { code: 'DATABASE_CORRUPT' } },
    ]);
    await pass(5000);
    expect(frames).toHaveLength(3);
  },
);

test('the desktop subscribes again when a subscription ends and its connection does not', async () => {
  const asked: number[] = [];
  let receive: (frame: LinkFrame) => void = () => undefined;
  const client = createShellClient({
    openClient: (given) => {
      receive = given;
      return {
        send: (frame) => {
          if (frame.kind === 'call')
            queueMicrotask(() => receive({ kind: 'result', id: frame.id, value: {} }));
          if (frame.kind === 'subscribe') asked.push(frame.id);
        },
        close: () => undefined,
      };
    },
  });
  const seen: unknown[] = [];
  const leave = client.subscribe(
    'inbox',
    {},
    (value) => seen.push(value),
    () => undefined,
  );
  await turn();
  expect(asked).toHaveLength(1);
  receive({ kind: 'refused', id: asked[0] ?? 0, refusal: slow.refusal });
  await pass(5000);
  expect(asked).toHaveLength(2);
  receive({ kind: 'snapshot', id: asked[1] ?? 0, value: { unread: 1 } });
  expect(seen).toEqual([{ unread: 1 }]);
  receive({ kind: 'refused', id: asked[1] ?? 0, refusal: slow.refusal });
  leave();
  await pass(5000);
  expect(asked).toHaveLength(2);
  client.close();
});

test('what is heard of a line is told with the log to whoever comes later, and no more once it is in the log', async () => {
  const sizes = { outSize: 4, errSize: 0, complete: false };
  const heard = { out: '\r 7%', err: '' };
  const follow = async (id: number) => {
    const handle = publisher.subscribe(id, 'log', { attemptUid: 'a' }, (frame) => frames.push(frame));
    await turn();
    handle.acknowledge(0);
    await pass(1000);
    return handle;
  };
  const first = await follow(1);
  publisher.logGrew('a', { ...sizes, heard });
  await turn();
  const second = await follow(2);
  const values = () => frames.flatMap((frame) => ('value' in frame ? [frame.value] : []));
  expect(values()).toEqual([sizes, { ...sizes, heard }, { ...sizes, heard }]);
  publisher.logGrew('a', sizes);
  await turn();
  for (const handle of [first, second]) handle.end();
  publisher.logGrew('a', { ...sizes, heard });
  await follow(3);
  expect(values().at(-1)).toEqual(sizes);
});
