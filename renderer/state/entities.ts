/**
 * Every job row the window knows, once. Batches from the `jobs` topic and answers of the list go in; a row component listens to its
 * own id only, so one changed row renders one row. One notification a batch.
 */
import { isTerminalJobState } from '../../core/contract/states.js';
import type { JobSummary } from '../../core/contract/views.js';

export interface JobBatch {
  /** Rows known before that changed, as they were. */
  readonly changed: readonly { readonly before: JobSummary; readonly after: JobSummary }[];
  /** Rows not known before. They are not kept: whoever lists them fetches them. */
  readonly unknown: readonly JobSummary[];
  readonly removed: readonly string[];
}

export interface JobEntities {
  readonly get: (id: string) => JobSummary | undefined;
  /** Rows of an answer: kept, and listeners of those that differ are called. */
  readonly put: (rows: readonly JobSummary[]) => void;
  /** A delta of the topic. */
  readonly apply: (rows: readonly JobSummary[], removed: readonly string[]) => void;
  /** Rows for which this is true are not forgotten, shown or not: somebody acts on them by what they say. */
  readonly hold: (isHeld: (id: string) => boolean) => void;
  readonly listen: (id: string, listener: () => void) => () => void;
  /** Called once for each delta, after the rows' own listeners. */
  readonly onBatch: (listener: (batch: JobBatch) => void) => () => void;
  /** Changes were missed (the connection was away, the window hidden): rows known may be old. */
  readonly missed: () => void;
  readonly onMissed: (listener: () => void) => () => void;
  readonly size: number;
}

/** Above this many rows the oldest that nobody shows or holds are forgotten. */
const mostRows = 20_000;

/** Rows are plain data from one serialiser, so of a field that is an object the text is a fair comparison. */
function same(a: JobSummary, b: JobSummary): boolean {
  if (a === b) return true;
  const keys = Object.keys(b) as (keyof JobSummary)[];
  if (Object.keys(a).length !== keys.length) return false;
  for (const key of keys) {
    const [one, other] = [a[key], b[key]];
    if (one === other) continue;
    if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false;
    if (JSON.stringify(one) !== JSON.stringify(other)) return false;
  }
  return true;
}

/**
 * An answer is read from the database by another thread than the one that tells of changes: what it says of a job that ended meanwhile may
 * come after the change that told of the end. Nothing that is over goes on; a later job of the same name was submitted later.
 */
function isOlder(row: JobSummary, known: JobSummary): boolean {
  return (
    isTerminalJobState(known.state) &&
    !isTerminalJobState(row.state) &&
    row.submittedAtMs <= known.submittedAtMs
  );
}

export function createJobEntities(limit: number = mostRows): JobEntities {
  const rows = new Map<string, JobSummary>();
  const listeners = new Map<string, Set<() => void>>();
  const batchListeners = new Set<(batch: JobBatch) => void>();
  const missedListeners = new Set<() => void>();

  function notify(ids: Iterable<string>): void {
    for (const id of ids) for (const listener of [...(listeners.get(id) ?? [])]) listener();
  }

  let isHeld: (id: string) => boolean = () => false;

  function forgetOldest(): void {
    if (rows.size <= limit) return;
    for (const id of rows.keys()) {
      if (rows.size <= limit) return;
      if (!listeners.has(id) && !isHeld(id)) rows.delete(id);
    }
  }

  return {
    get: (id) => rows.get(id),
    put(incoming) {
      const touched: string[] = [];
      for (const row of incoming) {
        const before = rows.get(row.id);
        // To the end of the order: what was asked for last is forgotten last.
        rows.delete(row.id);
        if (before !== undefined && (same(before, row) || isOlder(row, before))) {
          rows.set(row.id, before);
          continue;
        }
        rows.set(row.id, row);
        touched.push(row.id);
      }
      forgetOldest();
      notify(touched);
    },
    apply(incoming, removed) {
      const changed: { before: JobSummary; after: JobSummary }[] = [];
      const unknown: JobSummary[] = [];
      const gone: string[] = [];
      for (const after of incoming) {
        const before = rows.get(after.id);
        if (before === undefined) unknown.push(after);
        else if (!same(before, after)) {
          rows.set(after.id, after);
          changed.push({ before, after });
        }
      }
      for (const id of removed) {
        if (rows.delete(id)) gone.push(id);
      }
      notify(changed.map((change) => change.after.id));
      notify(gone);
      if (changed.length + unknown.length + removed.length === 0) return;
      const batch: JobBatch = { changed, unknown, removed };
      for (const listener of [...batchListeners]) listener(batch);
    },
    hold(held) {
      isHeld = held;
    },
    listen(id, listener) {
      const set = listeners.get(id) ?? new Set();
      listeners.set(id, set);
      set.add(listener);
      return () => {
        set.delete(listener);
        if (set.size === 0 && listeners.get(id) === set) listeners.delete(id);
      };
    },
    onBatch(listener) {
      batchListeners.add(listener);
      return () => {
        batchListeners.delete(listener);
      };
    },
    missed() {
      for (const listener of [...missedListeners]) listener();
    },
    onMissed(listener) {
      missedListeners.add(listener);
      return () => {
        missedListeners.delete(listener);
      };
    },
    get size() {
      return rows.size;
    },
  };
}
