/**
 * The end of an attempt whose folder holds no claim. As a rule nobody has started it. But the folder may have been removed while it ran:
 * then what lives of it is ended before its task may run again, and the cause says so.
 */
import type { ProcessView } from '../../../machine/processes.js';
import { observationOf, type AttemptEntry } from './attempt-entry.js';
import type { AttemptEnding } from './attempt-ending.js';
import type { ProcessIdentity } from './claim.js';
import type { Reporter } from './reporter.js';

export interface UnclaimedParts {
  readonly processes: ProcessView;
  readonly nowMs: () => number;
}

export function endUnclaimed(
  entry: AttemptEntry,
  ending: Pick<AttemptEnding, 'finish'>,
  reporter: Pick<Reporter, 'last'>,
  { processes, nowMs }: UnclaimedParts,
): void {
  const finishedAtMs = nowMs();
  const supervisor = livingOf(entry.uid, processes);
  if (supervisor === null) {
    reporter.last(entry, observationOf(entry, 'MISSING', { finishedAtMs }));
    return;
  }
  entry.supervisor = supervisor;
  // Nobody watches it, and it has nowhere to write an end: it goes with the rest.
  entry.supervisorGone = true;
  const message = `The attempt's folder ${entry.folder} was removed by somebody while the task ran and the controller was away. How the task would have ended cannot be known any more, and its log and what it kept in IRIS_WORKDIR are lost; what still ran of it was ended.`;
  const otherwise = { code: 'FOLDER_LOST', message } as const;
  ending.finish(entry, { finishedAtMs, durationMs: null, status: null, otherwise }, true);
}

/** By the uid in its environment; null: nothing of it lives. */
function livingOf(uid: string, processes: ProcessView): ProcessIdentity | null {
  const found = processes.scan().find(({ attemptUid, state }) => attemptUid === uid && state !== 'Z');
  if (found === undefined) return null;
  const pid = found.sessionId;
  return { bootId: processes.bootId() ?? '-', pid, startTicks: processes.read(pid)?.startTicks ?? null };
}
