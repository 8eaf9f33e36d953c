import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import type { Engine } from './engine.js';
import { ImageEvents } from './image-events.js';

/** Two streams are asked for; the first one ends when the test says so. */
function asked() {
  const signals: AbortSignal[] = [];
  const streams: PassThrough[] = [];
  const docker = {
    getEvents: ({ abortSignal }: { abortSignal: AbortSignal }) => {
      const stream = new PassThrough();
      signals.push(abortSignal);
      streams.push(stream);
      return Promise.resolve(stream);
    },
  };
  const engine = {
    ready: () => Promise.resolve(true),
    ask: (question: (of: typeof docker) => unknown) => Promise.resolve(question(docker)),
  } as unknown as Engine;
  let changes = 0;
  const events = new ImageEvents({ engine, owner: 'us', changed: () => (changes += 1) });
  return { signals, streams, events, changes: () => changes };
}

test('when one stream ends the other is ended too, and both when nobody listens any more', async () => {
  const { signals, streams, events, changes } = asked();
  events.listen(true);
  await expect.poll(() => streams.length).toBe(2);
  // What came before the streams did.
  await expect.poll(changes).toBe(1);
  expect(signals.map(({ aborted }) => aborted)).toEqual([false, false]);
  streams[0]?.end();
  streams[0]?.resume();
  await expect.poll(() => signals.slice(0, 2).map(({ aborted }) => aborted)).toEqual([true, true]);
  await expect.poll(() => streams.length, { timeout: 10_000 }).toBe(4);
  events.listen(false);
  expect(signals.map(({ aborted }) => aborted)).toEqual([true, true, true, true]);
});
