/** What a task said last, where that tells more than how it ended. */
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import path from 'node:path';
import { LogLineReader } from '../../../../core/formats/docker/log-lines.js';

const tailBytes = 4096;
const lineBytes = 500;
/** As the C library and those who wrap it say ENOSPC and EDQUOT. */
const noRoom = /No space left on device|Disk quota exceeded|\bENOSPC\b|\bEDQUOT\b/i;

/** Null: there is nothing. */
export function lastLine(file: string): string | null {
  return lastLines(file).at(-1) ?? null;
}

/**
 * The last words about a disk or quota that was full, in what it said at the end: nobody but who was refused a write knows of one that
 * had room again at once.
 */
export function saidOfNoRoom(folder: string): string | null {
  for (const name of ['err', 'out']) {
    const line = lastLines(path.join(folder, name)).findLast((each) => noRoom.test(each));
    if (line !== undefined) return line;
  }
  return null;
}

function lastLines(file: string): readonly string[] {
  let tail: Buffer;
  try {
    tail = tailOf(file);
  } catch {
    return []; // not there, or its disk fails: how the task ended is told all the same
  }
  const reader = new LogLineReader(lineBytes);
  const lines = [...reader.push(tail), ...reader.end()];
  return lines.map((line) => line.trim()).filter((line) => line !== '');
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
