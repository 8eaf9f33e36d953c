/** Who is listened to, before anything is asked of the Engine that could be taken for something else. */
import { expect, test } from 'vitest';
import type { Engine } from './engine.js';
import { LiveOutput } from './live-output.js';

test('an Engine that was not looked at yet is looked at first, as Podman would type the question', async () => {
  const asked: string[] = [];
  let known: { podman: boolean; reach: 'here' } | null = null;
  const engine = {
    known: () => known,
    ready: () => {
      asked.push('what it is');
      known = { podman: true, reach: 'here' };
      return Promise.resolve(true);
    },
    ask: () => {
      asked.push('to be listened to');
      return Promise.resolve(null);
    },
  } as unknown as Engine;
  const live = new LiveOutput({
    engine,
    container: 'c',
    tty: true,
    fromStart: false,
    onHeard: () => undefined,
  });
  await live.open();
  live.close();
  expect(asked).toEqual(['what it is']);
});
