/** The lines of the list: of each band its head, its jobs in the order given, and what is not shown. */
import type { QueuedJobView, QueueView } from '../../../core/contract/queue.js';
import type { Band } from '../../../core/contract/states.js';

export type QueueLine =
  | { readonly kind: 'band'; readonly band: Band; readonly total: number; readonly users: readonly string[] }
  | { readonly kind: 'empty'; readonly band: Band }
  | {
      readonly kind: 'job';
      readonly band: Band;
      readonly job: QueuedJobView;
      /** From 1, among the jobs of the band. */
      readonly place: number;
      /** Which of the band's columns of users it stands in. */
      readonly slot: number;
    }
  | { readonly kind: 'more'; readonly band: Band; readonly count: number };

/** Columns for users; the last stands for all further ones. */
export const userSlots = 7;

/** `me` has the first column, wherever else in the order one stands. */
export function queueLines(bands: QueueView['bands'], me: string | null): QueueLine[] {
  return bands.flatMap(({ band, total, jobs }): QueueLine[] => {
    if (total === 0) return [{ kind: 'empty', band }];
    const users = new Map<string, number>();
    if (me !== null && jobs.some((job) => job.user === me)) users.set(me, 0);
    const lines: QueueLine[] = [];
    jobs.forEach((job, index) => {
      const slot = users.get(job.user) ?? Math.min(users.size, userSlots - 1);
      users.set(job.user, slot);
      lines.push({ kind: 'job', band, job, place: index + 1, slot });
    });
    const rest = total - jobs.length;
    return [
      { kind: 'band', band, total, users: [...users.keys()] },
      ...lines,
      ...(rest > 0 ? [{ kind: 'more', band, count: rest } as const] : []),
    ];
  });
}

/** `anna` is `AN`, `anna.schmidt` is `AS`. */
export function initialsOf(user: string): string {
  const [first = '', second = ''] = user.split(/[^\p{L}\p{N}]+/u).filter((part) => part !== '');
  const letters = second === '' ? first.slice(0, 2) : `${first.slice(0, 1)}${second.slice(0, 1)}`;
  return (letters === '' ? user.slice(0, 2) : letters).toUpperCase();
}

export interface JobLines {
  readonly lines: readonly QueueLine[];
  /** Line of each job. */
  readonly lineOf: ReadonlyMap<string, number>;
  /** In order. */
  readonly ids: readonly string[];
}

export function indexLines(lines: readonly QueueLine[]): JobLines {
  const lineOf = new Map<string, number>();
  lines.forEach((line, index) => {
    if (line.kind === 'job') lineOf.set(line.job.jobId, index);
  });
  return { lines, lineOf, ids: [...lineOf.keys()] };
}
