/** What a task said last, where that tells more than how it ended. */
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import path from 'node:path';
import { LogLineReader } from '../../../../core/formats/docker/log-lines.js';
import { withoutControls } from '../../../../core/formats/terminal-text.js';

const tailBytes = 4096;
const lineBytes = 500;
/** As the C library and those who wrap it say ENOSPC and EDQUOT. */
const noRoom = /No space left on device|Disk quota exceeded|\bENOSPC\b|\bEDQUOT\b/i;

export interface LastWords {
  /** The last line of its error output: mostly why it failed. Null: there is none. */
  readonly last: string | null;
  /**
   * What it said at the end, on either, of a disk or quota that was full: nobody but who was refused a write knows of one that had room
   * again at once.
   */
  readonly ofNoRoom: string | null;
}

export function lastWords(folder: string, terminal = false): LastWords {
  return wordsOf(lastLines(path.join(folder, 'err')), lastLines(path.join(folder, 'out')), terminal);
}

/** The same of the ends of both as they were read elsewhere. */
export function lastWordsIn(err: Uint8Array, out: Uint8Array): LastWords {
  return wordsOf(linesOf(err), linesOf(out), false);
}

/** `terminal`: both were written to one, so that errors are in the output. */
function wordsOf(err: readonly string[], out: readonly string[], terminal: boolean): LastWords {
  const ofNoRoom = [err, out].flatMap((lines) => lines.findLast((line) => noRoom.test(line)) ?? [])[0];
  return { last: (terminal ? out : err).at(-1) ?? null, ofNoRoom: ofNoRoom ?? null };
}

/** Null: there is nothing. */
export function lastLine(file: string): string | null {
  return lastLines(file).at(-1) ?? null;
}

function lastLines(file: string): readonly string[] {
  try {
    return linesOf(tailOf(file));
  } catch {
    return []; // not there, or its disk fails: how the task ended is told all the same
  }
}

function linesOf(tail: Uint8Array): readonly string[] {
  const reader = new LogLineReader(lineBytes);
  const lines = [...reader.push(tail), ...reader.end()];
  return lines.map((line) => withoutControls(line).trim()).filter((line) => line !== '');
}

function tailOf(file: string): Buffer {
  // Who put a pipe in its place cannot make us wait for a writer.
  const handle = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const stats = fstatSync(handle);
    if (!stats.isFile()) return Buffer.alloc(0);
    const tail = Buffer.alloc(Math.min(stats.size, tailBytes));
    const read = readSync(handle, tail, 0, tail.length, stats.size - tail.length);
    return tail.subarray(0, read);
  } finally {
    closeSync(handle);
  }
}
