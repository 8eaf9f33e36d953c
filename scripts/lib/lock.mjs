/**
 * One preparation at a time in a checkout: two commands typed at once must not install over each other.
 *
 * Each command holds a ticket, a file only it makes, and the smallest ticket of a living command goes on. A
 * lock that is taken over from a dead command cannot be had this way without a moment in which two take it
 * over: the second would remove what the first has just made. Here nobody removes what may be another's: a
 * dead command's ticket has a name no other will bear. The numbers are drawn as in Lamport's bakery, where a
 * command that is still drawing is waited for.
 */
import { mkdirSync, readFileSync, readdirSync, renameSync, rmSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { localDir } from './paths.mjs';
import { say } from './step.mjs';

const folder = join(localDir, 'prepare.lock');
const DRAWING = 'drawing';

/** @typedef {{ file: string; number: number; drawing: boolean; pid: number; born: string }} Ticket */

/** @template T @param {() => Promise<T>} work @returns {Promise<T>} */
export async function withPrepareLock(work) {
  const mine = drawTicket();
  const release = () => leave(mine);
  process.once('exit', release);
  try {
    let told = false;
    for (let ahead = firstAhead(mine); ahead !== null; ahead = firstAhead(mine)) {
      if (!told) say(`Waiting for another command (pid ${ahead.pid}) that prepares this checkout.`);
      told = true;
      await delay(100);
    }
    return await work();
  } finally {
    process.off('exit', release);
    release();
  }
}

/** @returns {Ticket} */
function drawTicket() {
  const { pid } = process;
  const born = birthOf(pid) ?? String(Date.now());
  const drawing = `${DRAWING}.${pid}.${born}`;
  for (;;) {
    mkdirSync(folder, { recursive: true });
    try {
      writeFileSync(join(folder, drawing), '');
      break;
    } catch (error) {
      // The last one out removes the folder, perhaps between these two lines.
      if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'ENOENT') throw error;
    }
  }
  const number = Math.max(0, ...tickets().map((ticket) => ticket.number)) + 1;
  const file = `${number}.${pid}.${born}`;
  renameSync(join(folder, drawing), join(folder, file));
  return { file, number, drawing: false, pid, born };
}

/**
 * A living command this one has to wait for. Who draws is asked before the numbers are read: whoever is not
 * seen drawing either has a number by then or will draw a greater one.
 *
 * @param {Ticket} mine
 */
function firstAhead(mine) {
  const drawing = living(mine).find((ticket) => ticket.drawing);
  if (drawing !== undefined) return drawing;
  return (
    living(mine).find(
      ({ drawing: draws, number, pid }) =>
        !draws && (number < mine.number || (number === mine.number && pid < mine.pid)),
    ) ?? null
  );
}

/** @param {Ticket} mine */
function living(mine) {
  return tickets().filter((ticket) => {
    if (ticket.file === mine.file) return false;
    if (isAlive(ticket)) return true;
    rmSync(join(folder, ticket.file), { force: true });
    return false;
  });
}

/** @returns {Ticket[]} */
function tickets() {
  return readdirSync(folder).flatMap((file) => {
    const [number = '', pid = '', born] = file.split('.');
    if (born === undefined) return [];
    const drawing = number === DRAWING;
    return [{ file, number: drawing ? 0 : Number(number), drawing, pid: Number(pid), born }];
  });
}

/** @param {Ticket} mine */
function leave(mine) {
  rmSync(join(folder, mine.file), { force: true });
  try {
    rmdirSync(folder);
  } catch {
    // Another command waits, or has removed it.
  }
}

/** @param {Ticket} ticket */
function isAlive({ pid, born }) {
  const birth = birthOf(pid);
  if (birth !== null) return birth === born;
  if (process.platform === 'linux') return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return /** @type {NodeJS.ErrnoException} */ (error).code === 'EPERM';
  }
}

/**
 * When a process began, in ticks since the machine's start: a pid alone may be another's by now. Null where
 * the machine does not tell.
 *
 * @param {number} pid
 */
function birthOf(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? null;
  } catch {
    return null;
  }
}
