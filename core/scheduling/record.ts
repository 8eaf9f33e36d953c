/**
 * A record of rounds, one line of JSON each: what changed of the rows since the line before, and what was decided. Most of a cluster
 * stays as it is between two rounds, so that lines are short where a snapshot of each would not be.
 */
import type { Decision } from './decision.js';
import type { RoundInput } from './replay.js';

/** Lists of the input whose items have a key. */
const keys = {
  workers: (item: RoundInput['workers'][number]) => item.id,
  budgets: (item: RoundInput['budgets'][number]) => item.user,
  jobs: (item: RoundInput['jobs'][number]) => item.job.id,
  claims: (item: RoundInput['claims'][number]) => item.taskId,
  attempts: (item: RoundInput['attempts'][number]) => item.uid,
  jobStates: (item: RoundInput['jobStates'][number]) => item[0],
} as const;
type ListName = keyof typeof keys;
const listNames = Object.keys(keys) as readonly ListName[];

interface ListChange {
  readonly put: readonly unknown[];
  readonly gone: readonly string[];
}

interface Line extends Omit<RoundInput, ListName> {
  readonly lists: Readonly<Partial<Record<ListName, ListChange>>>;
  readonly decision: Decision;
}

export interface RecordedRound {
  readonly input: RoundInput;
  readonly decision: Decision;
}

/** Texts of the items as written last, by list and key. */
type Known = Record<ListName, Map<string, string>>;

function nothingKnown(): Known {
  return {
    workers: new Map(),
    budgets: new Map(),
    jobs: new Map(),
    claims: new Map(),
    attempts: new Map(),
    jobStates: new Map(),
  };
}

export class RoundEncoder {
  private readonly known = nothingKnown();

  /** The next line, without a line break. */
  encode({ input, decision }: RecordedRound): string {
    const { workers, budgets, jobs, claims, attempts, jobStates, ...rest } = input;
    const lists: Partial<Record<ListName, ListChange>> = {};
    const note = <Name extends ListName>(name: Name, items: RoundInput[Name], key: (typeof keys)[Name]) => {
      const change = this.change(name, items, key as (item: unknown) => string);
      if (change.put.length + change.gone.length > 0) lists[name] = change;
    };
    note('workers', workers, keys.workers);
    note('budgets', budgets, keys.budgets);
    note('jobs', jobs, keys.jobs);
    note('claims', claims, keys.claims);
    note('attempts', attempts, keys.attempts);
    note('jobStates', jobStates, keys.jobStates);
    return JSON.stringify({ ...rest, lists, decision } satisfies Line);
  }

  private change(name: ListName, items: readonly unknown[], key: (item: unknown) => string): ListChange {
    const known = this.known[name];
    const left = new Set(known.keys());
    const put: unknown[] = [];
    for (const item of items) {
      const id = key(item);
      const text = JSON.stringify(item);
      left.delete(id);
      if (known.get(id) === text) continue;
      known.set(id, text);
      put.push(item);
    }
    for (const id of left) known.delete(id);
    return { put, gone: [...left] };
  }
}

export class RoundDecoder {
  private readonly known = nothingKnown();

  /** The lines of one record, in their order. Throws on what no encoder wrote. */
  decode(text: string): RecordedRound {
    const { lists, decision, ...rest } = JSON.parse(text) as Line;
    const format: number = rest.format;
    if (format !== 1) throw new Error(`Format ${format} of a record is not known; expected 1.`);
    for (const name of listNames) {
      const change = lists[name];
      if (change === undefined) continue;
      const known = this.known[name];
      for (const id of change.gone) known.delete(id);
      for (const item of change.put)
        known.set((keys[name] as (item: unknown) => string)(item), JSON.stringify(item));
    }
    const items = <Name extends ListName>(name: Name): RoundInput[Name] => {
      const sorted = [...this.known[name]].sort(([left], [right]) => (left < right ? -1 : 1));
      return sorted.map(([, item]) => JSON.parse(item) as unknown) as unknown as RoundInput[Name];
    };
    const input: RoundInput = {
      ...rest,
      workers: items('workers'),
      budgets: items('budgets'),
      jobs: items('jobs'),
      claims: items('claims'),
      attempts: items('attempts'),
      jobStates: items('jobStates'),
    };
    return { input, decision };
  }
}
