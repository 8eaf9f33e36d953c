/** How many waiting tasks are tried before those of a job. */
import type { WaitReason } from '../../contract/explanation.js';
import { bandRank, bands, type Band } from '../../contract/states.js';
import { cursorsOf, isDemoted, type Cursor } from '../order.js';
import { gateOf } from '../gates.js';
import type { JobEntry } from '../queue.js';
import type { ExplainContext } from './room-reason.js';

export function bandOf(entry: JobEntry): Band {
  return isDemoted(entry.user, entry.job.band) ? 'BATCH' : entry.job.band;
}

/** Null for the first. Who may not start for another reason than room is not counted. */
export function positionReason(context: ExplainContext, entry: JobEntry): WaitReason | null {
  const { queue } = context.cluster;
  const band = bandOf(entry);
  const ahead = new Map<string, number>();
  const add = (user: string, tasks: number) => {
    if (tasks > 0) ahead.set(user, (ahead.get(user) ?? 0) + tasks);
  };
  for (const better of bands.slice(0, bandRank(band))) {
    for (const cursor of cursorsOf(queue.users.values(), better))
      for (const turn of turnsOf(context, cursor, Number.POSITIVE_INFINITY)) add(cursor.user.id, turn.tasks);
  }
  const cursors = cursorsOf(queue.users.values(), band);
  const own = cursors.findIndex(({ user }) => user === entry.user);
  const mine = cursors[own];
  if (mine === undefined) return null;
  let turns = 0;
  for (const turn of turnsOf(context, mine, Number.POSITIVE_INFINITY)) {
    if (turn.entry === entry) break;
    turns += 1;
    add(entry.user.id, turn.tasks);
  }
  for (const [at, cursor] of cursors.entries()) {
    if (at === own) continue;
    for (const turn of turnsOf(context, cursor, at < own ? turns + 1 : turns))
      add(cursor.user.id, turn.tasks);
  }
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

/** The first turns of a user: one task, or all of a gang. */
function* turnsOf({ cluster, nowMs }: ExplainContext, cursor: Cursor, most: number): Generator<Turn> {
  let given = 0;
  for (const list of cursor.lists) {
    for (const entry of list) {
      if (gateOf(entry.job, nowMs, (id) => cluster.jobState(id)) !== null) continue;
      const gang = entry.job.gangBy !== null;
      const turns = gang ? 1 : entry.indexes.length;
      for (let turn = 0; turn < turns; turn += 1) {
        if (given >= most) return;
        given += 1;
        yield { entry, tasks: gang ? entry.indexes.length : 1 };
      }
    }
  }
}
