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

export type FakeCachesState = 'none' | 'unknown' | 'measuring' | 'measured' | 'refused' | 'failed' | 'left';

/** For looking at each state of them: those of the first machine are in it, those of the others not measured. */
export function fakeCachesIn(host: FakeHost, state: FakeCachesState): void {
  const gib = 1024 ** 3;
  const [first, ...others] = host.machines.filter(({ docker }) => docker.state === 'READY');
  if (first === undefined || state === 'none') return;
  host.lab.cacheSizes = { uv: 12.4 * gib, hf: 214 * gib, cache: 0.8 * gib };
  const known = {
    state: 'MEASURED',
    measuredAtMs: host.nowMs - 190_000,
    caches: fakeSizes(host.lab.cacheSizes),
  } as const;
  const note = 'It is a symbolic link: what it leads to is neither measured nor emptied from here.';
  const message = `The caches on ${first.id} were not measured within 120 s: the disk they lie on (/home/anna/.local/share/iris-desktop/caches) is slow, or does not answer.`;
  const left = {
    bytes: 2.1 * gib,
    message:
      '2.1 GiB of what was emptied could not be removed: it belongs to other users, as what root makes in a container does. To remove it there: sudo rm -rf /home/anna/.local/share/iris-desktop/caches/.emptied-mb3k2x',
  };
  const states: Readonly<Record<FakeCachesState, Partial<MachineCaches>>> = {
    none: {},
    unknown: {},
    measuring: { ...known, state: 'MEASURING' },
    measured: known,
    refused: known,
    failed: { ...known, state: 'FAILED', message },
    left: {
      ...known,
      caches: known.caches.map((one) => (one.name === 'hf' ? { ...one, bytes: null, note } : one)),
      left,
    },
  };
  setCaches(host, first.id, states[state]);
  for (const { id } of others) setCaches(host, id, state === 'left' ? { removing: true } : {});
  if (state === 'refused')
    host.refuseNext(
      'cache.empty',
      refusal(
        'FAILED_PRECONDITION',
        `/anna/train-llm/0 and 2 more run in a container on ${first.id}, or are being started, and may have the caches mounted. Empty them when none does; irisctl machine drain ${first.id} --wait waits for that.`,
      ),
      100,
    );
}

/** Where nobody asks about them. */
export const noCaches: CacheControl = {
  view: () => fakeCachesOf('here'),
  measure: () => Promise.resolve(fakeCachesOf('here')),
  empty: () => Promise.resolve([]),
};
