/** A backend without a machine that keeps what it is told and runs nothing: a test reports for it. */
import type { Backend, BackendListener, DesiredAttempt } from '../../main/backends/backend.js';
import { fakeWorker } from './fake-backend.js';

export function toldBackend(told: {
  readonly started: (listener: BackendListener) => void;
  readonly wanted: (attempts: readonly DesiredAttempt[]) => void;
}): Backend {
  return {
    describe: () => ({ id: 'fake', kind: 'workstation', capabilities: [] }),
    start: (listener) => {
      told.started(listener);
      return Promise.resolve();
    },
    observe: () => [fakeWorker],
    reconcile: told.wanted,
    feasible: () => null,
    readLog: () => Promise.resolve({ data: new Uint8Array(), size: 0 }),
    logMarks: () => Promise.resolve([]),
    watchLog: () => undefined,
    watchWorkers: () => undefined,
    close: () => Promise.resolve(),
  };
}
