import { describe, expect, it } from 'vitest';
import { refusal, RefusalError } from '../../core/contract/errors.js';
import type { Counts } from '../../core/contract/views.js';
import { startClusterWatch } from '../../main/shell/cluster-watch.js';

const told: Counts = { running: 1, waiting: 2, failedUnseen: 0, finished: 5 };
const fresh: Counts = { ...told, running: 3 };

/** A watch that was told `told` once; `status` is what the controller answers when asked. */
function watchWith(call: (method: string) => Promise<unknown>, subscribe: unknown) {
  const timers: (() => void)[] = [];
  const watch = startClusterWatch(
    { call: call as never, subscribe: subscribe as never, onState: () => () => undefined },
    () => undefined,
    (run) => {
      timers.push(run);
      return () => timers.splice(timers.indexOf(run), 1);
    },
  );
  return { watch, timers };
}

const noJobs = { total: 0, rows: [] };

function watchOf(status: () => Promise<unknown>, snapshot: Counts | null = told) {
  return watchWith(
    (method) => (method === 'status' ? status() : Promise.resolve(noJobs)),
    (_topic: string, _filter: object, onSnapshot: (value: { counts: Counts }) => void) => {
      if (snapshot !== null) onSnapshot({ counts: snapshot });
      return () => undefined;
    },
  );
}

describe('what is unfinished now', () => {
  it('is asked of the controller, because what was told last may be old', async () => {
    const { watch, timers } = watchOf(() => Promise.resolve({ counts: fresh }));
    expect(await watch.countsNow()).toEqual(fresh);
    expect(timers).toEqual([]);
  });

  it('is what was told last when the controller refuses', async () => {
    const { watch } = watchOf(() => Promise.reject(new RefusalError(refusal('UNAVAILABLE', 'stopping'))));
    expect(await watch.countsNow()).toEqual(told);
  });

  it('is what was told last when the controller does not answer soon', async () => {
    const { watch, timers } = watchOf(() => new Promise(() => undefined));
    const answer = watch.countsNow();
    for (const run of timers) run();
    expect(await answer).toEqual(told);
  });

  it('is not known where nothing was ever told', async () => {
    const { watch } = watchOf(() => Promise.reject(new RefusalError(refusal('UNAVAILABLE', 'none'))), null);
    expect(await watch.countsNow()).toBeNull();
  });
});

it('the running jobs are listed again a moment after jobs have changed, once for all that change meanwhile', () => {
  const asked: string[] = [];
  const filters: object[] = [];
  let tell: (value: { counts: Counts }) => void = () => undefined;
  const { watch, timers } = watchWith(
    (method) => {
      asked.push(method);
      return Promise.resolve(noJobs);
    },
    (_topic: string, filter: object, _snapshot: unknown, onDelta: typeof tell) => {
      filters.push(filter);
      tell = onDelta;
      return () => undefined;
    },
  );
  expect(filters).toEqual([{ countsOnly: true }]);
  tell({ counts: fresh });
  tell({ counts: told });
  expect(asked).toEqual([]);
  expect(timers).toHaveLength(1);
  timers[0]?.();
  expect(asked).toEqual(['job.list']);
  tell({ counts: fresh });
  expect(timers).toHaveLength(2);
  watch.close();
});
