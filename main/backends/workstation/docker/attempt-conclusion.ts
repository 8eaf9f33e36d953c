/** The end of an attempt in a container: noted in its folder, told, and then its containers removed. */
import { observationOf, type AttemptEntry } from '../process/attempt-entry.js';
import { readNote, writeNote, type AttemptEnd } from './attempt-note.js';
import { pauseOf, waits } from './attempt-turns.js';
import type { ContainerContext } from './container-context.js';

type Parts = Pick<ContainerContext, 'log' | 'reporter' | 'onConclude'>;

export interface Conclusion {
  readonly isClosed: () => boolean;
  /** Its containers. */
  readonly remove: () => Promise<void>;
}

/** Noted before it is told: after a restart it is told again, and nothing is started again. */
export function concludeAttempt(
  parts: Parts,
  entry: AttemptEntry,
  end: AttemptEnd,
  conclusion: Conclusion,
): void {
  const { state, ...more } = end;
  const fault = note(entry, end);
  if (fault !== null)
    parts.log.warn('The end of an attempt cannot be noted yet', { uid: entry.uid, error: fault });
  parts.onConclude(entry);
  parts.reporter.last(entry, observationOf(entry, state, more));
  if (state !== 'MISSING') void leave(entry, end, conclusion, fault === null);
}

/** Until its end is noted, its container is the only one to know of it. */
async function leave(
  entry: AttemptEntry,
  end: AttemptEnd,
  { isClosed, remove }: Conclusion,
  isNoted: boolean,
): Promise<void> {
  for (let noted = isNoted; !noted; noted = note(entry, end) === null) {
    await pauseOf(waits.fullDiskPauseMs);
    if (isClosed()) return;
  }
  await remove();
}

/** Null: it is; otherwise why it is not. */
function note(entry: AttemptEntry, end: AttemptEnd): string | null {
  try {
    const containerId = readNote(entry.folder)?.containerId ?? null;
    writeNote(entry.folder, { phase: 'ended', containerId, end });
    return null;
  } catch (error) {
    return String(error);
  }
}
