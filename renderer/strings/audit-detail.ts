/** The details of an audit row in words: those of states and causes as everywhere, times by the reader's clock, no names of fields. */
import { formatDuration } from '../../core/formats/durations.js';
import { formatSize } from '../../core/formats/sizes.js';
import { showTimes } from '../../core/formats/times.js';
import { bandWords, halfLifeWords } from './budgets.js';
import { countJobs, countTasks, formatClockDay, formatCount, stateWords } from './common.js';
import { schedulingWords } from './machines.js';

type Detail = Readonly<Record<string, unknown>>;
/** Null: what it says is said by another part, or is nothing to a person. */
type Part = (value: unknown, all: Detail) => string | null;

const lookUp = (words: Readonly<Record<string, string>>, value: unknown): string =>
  typeof value === 'string' ? (words[value] ?? plainWord(value)) : plain(value);

/** `EXIT_CODE` as `exit code`. */
function plainWord(value: string): string {
  return /^[A-Z][A-Z_]+$/.test(value) ? value.replaceAll('_', ' ').toLowerCase() : value;
}

/** `numTasks` as `num tasks`: of a field that has no words of its own. */
function fieldWords(name: string): string {
  return name.replaceAll(/([a-z])([A-Z])/g, '$1 $2').toLowerCase();
}

function plain(value: unknown): string {
  if (value === null || value === undefined) return 'none';
  if (typeof value === 'string') return showTimes(value, formatClockDay);
  if (typeof value === 'number') return formatCount(value);
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.map(plain).join(', ');
  if (typeof value === 'object') {
    const parts = Object.entries(value).map(([name, each]) => `${name} ${plain(each)}`);
    return parts.length === 0 ? 'none' : parts.join(', ');
  }
  return '';
}

const time = (value: unknown): string => (typeof value === 'number' ? formatClockDay(value) : plain(value));
const amount = (value: unknown): string =>
  value === 'unlimited' ? 'no limit' : value === null || value === 'default' ? 'default' : plain(value);
const count = (value: unknown, one: string, many: string): string =>
  `${plain(value)} ${value === 1 ? one : many}`;
const whenSome =
  (one: string, many: string): Part =>
  (value) =>
    value === 0 ? null : count(value, one, many);
const band = (value: unknown): string => lookUp(bandWords, value).toLowerCase();
const moves = { first: 'to front', last: 'to back', usual: 'to its usual place' };
const hosts = { desktop: 'in the app', headless: 'without a window' };
const kinds = { hold: 'held', release: 'released', move: 'moved' };

const nothing: Part = () => null;

function taint(value: unknown): string {
  if (typeof value !== 'object' || value === null) return plain(value);
  const { key, value: of } = value as { readonly key?: unknown; readonly value?: unknown };
  return of === '' ? plain(key) : `${plain(key)}=${plain(of)}`;
}

function quota(value: unknown): string {
  if (typeof value !== 'object' || value === null) return plain(value);
  const parts = Object.entries(value).flatMap(([name, most]: [string, unknown]) =>
    most === null
      ? []
      : name === 'memoryBytes' && typeof most === 'number'
        ? [`memory ${formatSize(most)}`]
        : [`${fieldWords(name)} ${plain(most)}`],
  );
  return parts.length === 0 ? 'none' : parts.join(', ');
}

/** A value that was changed, before and after, by the name of its field. */
const settings: Readonly<
  Record<string, { readonly name: string; readonly show: (value: unknown) => string }>
> = {
  limit: { name: 'limit', show: amount },
  maxBand: { name: 'best band', show: band },
  allow: { name: 'rights', show: (value) => (Array.isArray(value) ? list(value, band) : band(value)) },
  quota: { name: 'quota', show: quota },
  halfLifeMs: {
    name: 'half-life',
    show: (value) => (typeof value === 'number' && value > 0 ? halfLifeWords(value) : 'off'),
  },
  scheduling: { name: 'state', show: (value) => lookUp(schedulingWords, value).toLowerCase() },
  drainDeadlineMs: { name: 'deadline', show: (value) => (value === null ? 'none' : time(value)) },
  attributes: { name: 'attributes', show: plain },
  taints: { name: 'taints', show: (value) => (Array.isArray(value) ? list(value, taint) : plain(value)) },
  wakeAddress: { name: 'wake address', show: plain },
};

function list(values: readonly unknown[], show: (value: unknown) => string): string {
  return values.length === 0 ? 'none' : values.map(show).join(', ');
}

function isDetail(value: unknown): value is Detail {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** `limit default becomes 4,000, best band interactive becomes batch`. */
function changes(after: unknown, { before }: Detail): string | null {
  if (!isDetail(after)) return after === undefined ? null : plain(after);
  const earlier: Detail = isDetail(before) ? before : {};
  const parts = Object.entries(after).flatMap(([field, value]) => {
    const was = earlier[field];
    if (JSON.stringify(was) === JSON.stringify(value)) return [];
    const { name, show } = settings[field] ?? { name: fieldWords(field), show: plain };
    return [was === undefined ? `${name} ${show(value)}` : `${name} ${show(was)} becomes ${show(value)}`];
  });
  return parts.length === 0 ? null : parts.join(', ');
}

const parts: Readonly<Record<string, Part>> = {
  // An attempt is named by its path; its uid is in what hovering shows.
  uid: nothing,
  attempt: nothing,
  number: (value) => (typeof value === 'number' ? `attempt ${value + 1}` : plain(value)),
  state: (value) => lookUp(stateWords, value),
  reported: (value) => `ended as ${lookUp(stateWords, value)}`,
  exitCode: (value) => (value === null ? null : `exit code ${plain(value)}`),
  signal: (value) => (value === null ? null : `signal ${plain(value)}`),
  // The exit code says it.
  cause: (value, all) =>
    value === 'EXIT_CODE' && typeof all['exitCode'] === 'number' ? null : lookUp({}, value),
  code: (value, all) => (all['message'] === undefined ? lookUp({}, value) : null),
  message: plain,
  worker: (value) => `on ${plain(value)}`,
  devices: (value) => `with ${count(Array.isArray(value) ? value.length : value, 'GPU', 'GPUs')}`,
  band: (value, all) => (all['kind'] === 'band' ? `band becomes ${band(value)}` : `band ${band(value)}`),
  spend: (value, all) => `${plain(value)} of ${amount(all['limit'])} in use`,
  limit: (value, all) => (all['spend'] === undefined ? `limit ${amount(value)}` : null),
  afterAttempt: (value) => (typeof value === 'number' ? `after attempt ${value + 1}` : plain(value)),
  failures: whenSome('failure', 'failures'),
  preemptions: whenSome('preemption or loss', 'preemptions or losses'),
  tasks: (value) => (typeof value === 'number' ? countTasks(value) : plain(value)),
  task: (value) => `first ${plain(value)}`,
  jobs: (value) => (Array.isArray(value) ? countJobs(value.length) : plain(value)),
  retryOf: (value) => `again of ${plain(value)}`,
  by: (value) => `by ${plain(value)}`,
  lost: (value) =>
    typeof value === 'number'
      ? value === 0
        ? null
        : `${countTasks(value)} lost`
      : `${plain(value)} was lost`,
  requeued: (value) => (typeof value === 'number' ? `${countTasks(value)} requeued` : plain(value)),
  drainDeadline: () => 'deadline passed',
  emptied: (value) => (Array.isArray(value) ? value.map(plain).join(', ') : plain(value)),
  bytes: (value) => (typeof value === 'number' ? formatSize(value) : null),
  releasedGpu: (value) => `released ${plain(value)}`,
  address: (value) => (value === null ? null : plain(value)),
  waitsFor: (value) =>
    `until ${plain(value)} ${Array.isArray(value) && value.length > 1 ? 'have' : 'has'} left`,
  forJob: (value) => `for ${plain(value)}`,
  killedAtMs: (value) => `killed at ${time(value)} if it has not left`,
  atMs: nothing,
  kind: (value) => (value === 'band' ? null : lookUp(kinds, value)),
  host: (value) => lookUp(hosts, value),
  pid: (value) => `process ${String(value)}`,
  unfinished: whenSome('attempt to take up again', 'attempts to take up again'),
  afterUncleanEnd: (value) => (value === true ? 'the one before it ended without a word' : null),
  reason: plain,
  to: (value) => lookUp(moves, value),
  before: nothing,
  after: changes,
  finishedAtMs: (value) => (value === null ? null : `ended at ${time(value)}`),
};

function partText(name: string, value: unknown, all: Detail): string | null {
  const known = parts[name];
  if (known !== undefined) return known(value, all);
  if (typeof value === 'number' && name.endsWith('AtMs'))
    return `${fieldWords(name.slice(0, -4))} at ${time(value)}`;
  if (typeof value === 'number' && name.endsWith('Ms'))
    return `${fieldWords(name.slice(0, -2))} ${formatDuration(value)}`;
  return `${fieldWords(name)} ${lookUp({}, value)}`;
}

const mostDetail = 300;

/** A detail in one line: `Failed, exit code 1`; what is not there is left out. */
export function detailText(detail: Detail): string {
  const text = Object.entries(detail)
    .flatMap(([name, value]) => (value === undefined ? [] : (partText(name, value, detail) ?? [])))
    .join(', ');
  return text.length > mostDetail ? `${text.slice(0, mostDetail)}…` : text;
}

/** The same as it is kept, for the hover: fields by their names. */
export function detailRecord(detail: Detail): string {
  return Object.entries(detail)
    .map(([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join('\n');
}
