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
  const isNoted = note(parts, entry, end);
  parts.onConclude(entry);
  parts.reporter.last(entry, observationOf(entry, state, more));
  if (state !== 'MISSING') void leave(parts, entry, end, conclusion, isNoted);
}

/** Until its end is noted, its container is the only one to know of it. */
async function leave(
  parts: Parts,
  entry: AttemptEntry,
  end: AttemptEnd,
  { isClosed, remove }: Conclusion,
  isNoted: boolean,
): Promise<void> {
  for (let noted = isNoted; !noted; noted = note(parts, entry, end)) {
    await pauseOf(waits.fullDiskPauseMs);
    if (isClosed()) return;
  }
  await remove();
}

function note({ log }: Parts, entry: AttemptEntry, end: AttemptEnd): boolean {
  try {
    const containerId = readNote(entry.folder)?.containerId ?? null;
    writeNote(entry.folder, { phase: 'ended', containerId, end });
    return true;
  } catch (error) {
    log.warn('The end of an attempt could not be noted', { uid: entry.uid, error: String(error) });
    return false;
  }
}
