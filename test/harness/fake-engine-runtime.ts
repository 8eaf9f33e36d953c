/** The Docker runtime on a fake Engine, with nothing else around it. */
import {
  DockerRuntime,
  type DockerRuntimeOptions,
} from '../../main/backends/workstation/docker/docker-runtime.js';
import type { FakeEngine } from './fake-engine.js';

/** `home`: the folder of the login's own settings. */
export function runtimeOn(
  engine: FakeEngine,
  options: Partial<DockerRuntimeOptions> &
    Pick<DockerRuntimeOptions, 'attemptsFolder' | 'home' | 'onObservations'>,
): DockerRuntime {
  const nothing = () => undefined;
  return new DockerRuntime({
    dataFolder: options.attemptsFolder,
    workerId: 'here',
    environment: {},
    log: { info: nothing, warn: nothing, error: nothing },
    nowMs: () => Date.now(),
    monotonicMs: () => performance.now(),
    find: () => ({ ok: true, endpoint: { kind: 'socket', path: engine.socket }, from: 'the test' }),
    user: null,
    onState: nothing,
    onRunning: nothing,
    onNotice: nothing,
    onConclude: nothing,
    onHeard: nothing,
    onEnded: nothing,
    onUsage: nothing,
    ...options,
  });
}
