/** The words that say where a log may be cut, and the place read back from them: it is told as a sentence, and shown where it is. */

export interface LogCut {
  /** Bytes of each stream before the place. */
  readonly out: number;
  readonly err: number;
  /** What cut it; a full disk unless told. */
  readonly by?: 'engine' | 'unreadable';
}

export const logCutCode = 'LOG_STORAGE_FULL';
/** The Docker Engine was restarted under a container that went on. */
export const engineCutCode = 'LOG_ENGINE_RESTARTED';
/** The Docker Engine cannot read what it has written of it. */
export const unreadableCode = 'LOG_UNREADABLE';
/** Of warnings that the log may be cut. */
export const logCutCodes: ReadonlySet<string> = new Set([logCutCode, engineCutCode, unreadableCode]);

const nothingLost = 'Nothing of the log is lost.';

/** Of a container that has ended: its log is the Engine's as well. Stays true once there is room. */
export function logWaitsMessage(folder: string): string {
  return `Its container ended while the disk that its log is copied to (${folder}) was full: how it ended is told late, once there is room for the rest of its log. ${nothingLost}`;
}

/** Whether a warning about the log says that all of it is there or will be. */
export function leavesLogWhole({ message }: { readonly message: string }): boolean {
  return message.endsWith(nothingLost);
}

export function logCutMessage(folder: string, when: string, { out, err }: LogCut): string {
  return `The disk that holds its log (${folder}) was full ${when}: the log may be cut after ${out} bytes of its output and ${err} bytes of its error output.`;
}

export function engineCutMessage({ out, err }: LogCut): string {
  return `The Docker Engine was restarted while the task ran, and what it had not written down of the task's output is lost: the log may be cut after ${out} bytes of its output and ${err} bytes of its error output.`;
}

/** `why`: the Engine's own words. */
export function unreadableMessage(why: string, { out, err }: LogCut): string {
  return `The Docker Engine cannot read its own log of the container to its end, as after a full disk or a loss of power (${why}): the log may be cut after ${out} bytes of its output and ${err} bytes of its error output.`;
}

const place = /cut after (\d+) bytes of its output and (\d+) bytes of its error output\.$/;

/** The place of the first warning that names one. */
export function logCutOf(
  warnings: readonly { readonly code: string; readonly message: string }[],
): LogCut | null {
  for (const { code, message } of warnings) {
    const found = logCutCodes.has(code) ? place.exec(message) : null;
    if (found === null) continue;
    const cut = { out: Number(found[1]), err: Number(found[2]) };
    if (code === engineCutCode) return { ...cut, by: 'engine' };
    return code === unreadableCode ? { ...cut, by: 'unreadable' } : cut;
  }
  return null;
}

/**
 * How many bytes of a piece of a stream stand before the place, or null when it is not in this piece. A place at the end of a piece is
 * in that one, not in the next, so that it is met once, and also when nothing follows.
 */
export function bytesBeforeCut(
  cut: LogCut | null,
  piece: { readonly stream: 'out' | 'err'; readonly offset: number; readonly length: number },
): number | null {
  if (cut === null || piece.length === 0) return null;
  const within = cut[piece.stream] - piece.offset;
  const starts = within === 0 && piece.offset === 0;
  return starts || (within > 0 && within <= piece.length) ? within : null;
}
