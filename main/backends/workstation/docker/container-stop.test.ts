import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { ContainerView } from '../../../../core/formats/docker/inspect.js';
import { keepEnded } from './container-stop.js';
import { EngineUnreachable, type Engine } from './engine.js';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('what is started anew after its end is ended although the Engine gave no answer once', async () => {
  const views: readonly (Pick<ContainerView, 'running'> | null)[] = [
    null,
    { running: true },
    { running: false },
  ];
  let looks = 0;
  const look = (): Promise<ContainerView | null> => {
    const view = views[Math.min(looks, views.length - 1)] ?? null;
    looks += 1;
    return view === null
      ? Promise.reject(new EngineUnreachable('no answer'))
      : Promise.resolve(view as ContainerView);
  };
  let end: (text: string) => void = () => undefined;
  const work = new Promise<string>((resolve) => {
    end = resolve;
  });
  let kills = 0;
  const engine: Pick<Engine, 'ask'> = {
    ask: () => {
      kills += 1;
      end('all of its log');
      return Promise.resolve() as Promise<never>;
    },
  };
  const kept = keepEnded({ engine: engine as Engine }, 'one', look, work);
  await vi.advanceTimersByTimeAsync(5000);
  expect(kills).toBe(1);
  expect(await kept).toBe('all of its log');
  const before = looks;
  await vi.advanceTimersByTimeAsync(5000);
  expect(looks).toBe(before);
  expect(vi.getTimerCount()).toBe(0);
});
