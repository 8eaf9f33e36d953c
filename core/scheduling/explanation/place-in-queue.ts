/** How many waiting tasks are tried before those of a job. */
import type { WaitReason } from '../../contract/explanation.js';
import type { DemotionView } from '../../contract/views.js';
import { bandRank, bands, type Band } from '../../contract/states.js';
import type { Cluster } from '../cluster.js';
import { gateOf } from '../gates.js';
import type { QueuedJob } from '../inputs.js';
import { bandOf, cursorsOf, eldersOf, type Cursor } from '../order.js';
import type { JobEntry } from '../queue.js';
import type { ExplainContext } from './room-reason.js';

/** Why the job competes in a lower band than it asks for, in numbers; null when it does not. */
export function demotionOf(entry: JobEntry, nowMs: number): DemotionView | null {
  const { job, user } = entry;
  const effective = bandOf(entry);
  if (effective === job.band) return null;
  const { spend, budget } = user;
  return { requested: job.band, effective, user: user.id, spend, limit: budget.limit, atMs: nowMs };
}

/** Null for the first. Who may not start for another reason than room is not counted. */
export function positionReason(context: ExplainContext, entry: JobEntry): WaitReason | null {
  const { queue } = context.cluster;
  const band = bandOf(entry);
  const ahead = new Map<string, number>();
  const add = ({ entry: { user }, tasks }: Turn) => {
    ahead.set(user.id, (ahead.get(user.id) ?? 0) + tasks);
  };
  for (const better of bands.slice(0, bandRank(band))) {
    for (const cursor of cursorsOf(queue.users.values(), better))
      for (const turn of turnsOf(context, cursor)) add(turn);
  }
  const cursors = cursorsOf(queue.users.values(), band);
  // Who has waited long for much goes before all turns.
  const elders = eldersAmong(context, band);
  const elder = elders.indexOf(entry);
  for (const each of elder < 0 ? elders : elders.slice(0, elder)) add({ entry: each, tasks: servedOf(each) });
  if (elder < 0) for (const turn of turnsBefore(context, cursors, entry, new Set(elders))) add(turn);
  const total = [...ahead.values()].reduce((sum, tasks) => sum + tasks, 0);
  if (total === 0) return null;
  const users = [...ahead]
    .map(([user, tasks]) => ({ user, tasks }))
    .sort((left, right) => right.tasks - left.tasks || (left.user < right.user ? -1 : 1))
    .slice(0, 3);
  return { kind: 'position', band, ahead: total, users };
}

interface Turn {
  readonly entry: JobEntry;
  readonly tasks: number;
}

function eldersAmong({ cluster, rules, nowMs }: ExplainContext, band: Band): JobEntry[] {
  if (rules.policy === 'original') return [];
  const elders = eldersOf(cluster, nowMs, rules).byBand[bandRank(band)] ?? [];
  return elders.filter(({ job }) => isOpen(cluster, job, nowMs));
}

/** Of a gang all, of a large job one task goes before the turns. */
function servedOf({ job, indexes }: JobEntry): number {
  return job.gangBy === null ? 1 : indexes.length;
}

/** What users are given in their turns before the first of the job. */
function* turnsBefore(
  context: ExplainContext,
  cursors: readonly Cursor[],
  entry: JobEntry,
  elders: ReadonlySet<JobEntry>,
): Generator<Turn> {
  const own = cursors.findIndex(({ user }) => user === entry.user);
  let turns = 0;
  for (const cursor of cursors.slice(own, own + 1)) {
    for (const turn of turnsOf(context, cursor, elders)) {
      if (turn.entry === entry) break;
      turns += 1;
      yield turn;
    }
  }
  for (const [at, cursor] of cursors.entries()) {
    let left = at < own ? turns + 1 : turns;
    if (at === own || left === 0) continue;
    for (const turn of turnsOf(context, cursor, elders)) {
      yield turn;
      left -= 1;
      if (left === 0) break;
    }
  }
}

/** A user's turns: one task each, or all of a gang. `served` had theirs before. */
function* turnsOf(
  { cluster, nowMs }: ExplainContext,
  cursor: Cursor,
  served: ReadonlySet<JobEntry> = new Set(),
): Generator<Turn> {
  for (const list of cursor.lists) {
    for (const entry of list) {
      if (!isOpen(cluster, entry.job, nowMs)) continue;
      const { indexes, job } = entry;
      if (job.gangBy !== null) {
        if (!served.has(entry)) yield { entry, tasks: indexes.length };
        continue;
      }
      for (let at = served.has(entry) ? 1 : 0; at < indexes.length; at += 1) yield { entry, tasks: 1 };
    }
  }
}

function isOpen(cluster: Cluster, job: QueuedJob, nowMs: number): boolean {
  return gateOf(job, nowMs, (id) => cluster.jobState(id)) === null;
}
