// @vitest-environment jsdom
import { describe, expect, it } from 'vitest';
import { eventually } from '../../test/harness/eventually.js';
import { FakeHost } from '../../test/harness/fake-host.js';
import { createDesktop } from './desktop-context.js';
import { createHost } from './host.js';

describe('desktop', () => {
  it.each([
    ['after one that failed', false, 1],
    ['at once', true, 0],
  ])('asks anew on the first connection %s', async (_how, reachable, times) => {
    const fake = new FakeHost({ jobs: 3 });
    fake.reachable = reachable;
    const timers: (() => void)[] = [];
    const desktop = createDesktop(fake.bridge, {
      host: createHost({
        connect: fake.bridge.connect,
        setTimer: (run) => {
          timers.push(run);
          return () => undefined;
        },
      }),
    });
    let missed = 0;
    desktop.jobs.onMissed(() => (missed += 1));
    if (!reachable) {
      await eventually(() => desktop.host.connection.get().kind).toBe('lost');
      fake.reachable = true;
      desktop.host.reconnect();
    }
    await eventually(() => desktop.counts.get() !== null).toBe(true);
    expect(missed).toBe(times);
    desktop.close();
  });
});
