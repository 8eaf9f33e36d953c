import { expect, test } from 'vitest';
import { changeMachine, settleDrains } from './machine-change.js';
import { World } from './test-world.js';

test('a wall clock that was set on does not bring its deadline nearer', () => {
  const world = new World();
  const running = world.run(`${world.submit()}/0`, 'w1');
  world.step((draft) =>
    changeMachine(draft, {
      machineId: 'w1',
      change: { kind: 'drain', deadlineMs: 60_000 },
      actor: 'owner',
      mayManage: true,
      nowMs: world.nowMs,
    }),
  );
  const deadlineMs = world.nowMs + 60_000;
  world.nowMs += 600_000;
  let leftMs = 59_000;
  const asked: string[] = [];
  const drain = () =>
    world.step((draft) =>
      settleDrains(draft, world.nowMs, (key) => {
        asked.push(key);
        return -leftMs;
      }),
    );
  drain();
  expect(asked).toEqual([`machine/w1 ${deadlineMs}`]);
  expect(world.attempt(running).state).toBe('RUNNING');
  leftMs = 0;
  drain();
  expect(world.attempt(running).state).toBe('PREEMPTED');
});
