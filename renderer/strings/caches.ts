/** Strings about the caches that containers of a machine share. */
import type { CacheName } from '../../core/contract/caches.js';
import { formatSize } from '../../core/formats/sizes.js';

const contents: Readonly<Record<CacheName, string>> = {
  uv: 'Python packages, by uv',
  hf: 'Models and data sets of Hugging Face',
  cargo: 'Crates, by cargo',
  cache: 'What jobs keep there themselves',
};

const anew: Readonly<Record<Exclude<CacheName, 'cache'>, string>> = {
  uv: 'Python packages that uv had fetched',
  hf: 'models and data sets of Hugging Face',
  cargo: 'crates of cargo',
};

function listed(names: readonly string[]): string {
  const last = names.at(-1) ?? '';
  return names.length < 2 ? last : `${names.slice(0, -1).join(', ')} and ${last}`;
}

export const caches = {
  title: 'Caches',
  of: (machine: string): string => `Caches, ${machine}`,
  what: 'The caches',
  contents,
  name: 'Cache',
  holds: 'Holds',
  target: 'In containers',
  size: 'Size',
  sum: (bytes: number): string => formatSize(bytes),
  measured: 'measured',
  unknown: 'What all containers of this machine share, so that nothing is fetched twice. Not measured yet.',
  measure: 'Measure',
  measureAgain: 'Measure again',
  measureOn: (machine: string): string => `Measure the caches on ${machine}`,
  measuring: 'Measuring',
  measuringNote: 'Adding up what is there, for two minutes at most.',
  notMeasured: 'Not measured.',
  removing: 'What was emptied is being removed.',
  empty: (name: string): string => `Empty ${name}`,
  emptyAll: 'Empty all',
  emptyAllOn: (machine: string): string => `Empty all caches on ${machine}`,
  emptyTitle: (names: readonly CacheName[], machine: string): string =>
    names.length === 1
      ? `Empty the cache ${names[0] ?? ''} on ${machine}?`
      : `Empty the caches on ${machine}?`,
  emptyBody: (names: readonly CacheName[], bytes: number): string => {
    const fetched = names.flatMap((name) => (name === 'cache' ? [] : [anew[name]]));
    return [
      ...(bytes > 0 ? [`About ${formatSize(bytes)} become free.`] : []),
      ...(fetched.length > 0 ? [`Jobs that need it fetch anew: ${listed(fetched)}.`] : []),
      ...(names.includes('cache') ? ['What jobs kept in /cache themselves is gone for good.'] : []),
    ].join(' ');
  },
  emptyAction: (names: readonly CacheName[]): string =>
    names.length === 1 ? `Empty ${names[0] ?? ''}` : 'Empty caches',
  nothing: 'Nothing is in it.',
  notEmptied: (message: string): string => `Not emptied. ${message}`,
  notMeasuredFor: (message: string): string => `Not measured. ${message}`,
} as const;
