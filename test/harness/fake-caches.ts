/** Caches of the fake host's machines: measured when asked, which takes as long as a test lets it. */
import { cacheNames, type CacheName, type MachineCaches } from '../../core/contract/caches.js';
import type { MethodName, MethodResult, ParsedParams } from '../../core/contract/api.js';
import { RefusalError, refusal } from '../../core/contract/errors.js';
import type { CacheControl } from '../../main/backends/backend.js';
import type { FakeHost } from './fake-host.js';
import { fakeImageNews } from './fake-machines.js';

type Handlers = { [M in MethodName]: (params: ParsedParams<M>) => MethodResult<M> };

export function fakeCachesOf(machineId: string, more: Partial<MachineCaches> = {}): MachineCaches {
  return {
    machineId,
    folder: '/home/anna/.local/share/iris-desktop/caches',
    state: 'UNKNOWN',
    measuredAtMs: null,
    message: null,
    caches: cacheNames.map((name) => ({ name, bytes: null, note: null })),
    removing: false,
    left: null,
    ...more,
  };
}

/** Of those that are measured. */
export function fakeSizes(sizes: Partial<Record<CacheName, number>>): MachineCaches['caches'] {
  return cacheNames.map((name) => ({ name, bytes: sizes[name] ?? 0, note: null }));
}

/** As the host tells of them. */
export function setCaches(host: FakeHost, machineId: string, more: Partial<MachineCaches>): MachineCaches {
  const before = host.lab.caches.find((known) => known.machineId === machineId) ?? fakeCachesOf(machineId);
  const after = { ...before, ...more };
  host.lab.caches = host.lab.caches.some((known) => known.machineId === machineId)
    ? host.lab.caches.map((known) => (known.machineId === machineId ? after : known))
    : [...host.lab.caches, after];
  host.lab.cacheChanges += 1;
  host.tell('images', () => fakeImageNews(host.lab));
  return after;
}

export function fakeCacheHandlers(host: FakeHost): Pick<Handlers, Extract<MethodName, `cache.${string}`>> {
  const find = (machineId: string): MachineCaches => {
    const found = host.lab.caches.find((known) => known.machineId === machineId);
    if (found !== undefined) return found;
    throw new RefusalError(refusal('FAILED_PRECONDITION', `${machineId} runs no containers.`));
  };
  return {
    'cache.list': () => ({ machines: [...host.lab.caches] }),
    'cache.measure': ({ machineId }) => {
      find(machineId);
      const caches = fakeSizes(host.lab.cacheSizes);
      return setCaches(host, machineId, {
        state: 'MEASURED',
        measuredAtMs: host.nowMs,
        message: null,
        caches,
      });
    },
    'cache.empty': ({ machineId, names }) => {
      const caches = find(machineId).caches.map((one) =>
        names.includes(one.name) && one.bytes !== null ? { ...one, bytes: 0 } : one,
      );
      return setCaches(host, machineId, { caches, removing: true });
    },
  };
}

/** Where nobody asks about them. */
export const noCaches: CacheControl = {
  view: () => fakeCachesOf('here'),
  measure: () => Promise.resolve(fakeCachesOf('here')),
  empty: () => Promise.resolve([]),
};
