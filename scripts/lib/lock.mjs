/** One preparation at a time in a checkout: two commands typed at once must not install over each other. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { localDir } from './paths.mjs';
import { say } from './step.mjs';

const folder = join(localDir, 'prepare.lock');

/** @template T @param {() => Promise<T>} work @returns {Promise<T>} */
export async function withPrepareLock(work) {
  mkdirSync(localDir, { recursive: true });
  let told = false;
  let ownerless = 0;
  for (;;) {
    try {
      mkdirSync(folder);
      break;
    } catch (error) {
      if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'EEXIST') throw error;
    }
    const owner = ownerPid();
    if (owner === null) ownerless += 1;
    // A folder without a live owner was left by a command that was killed.
    if (owner === null ? ownerless > 20 : !isAlive(owner)) {
      rmSync(folder, { recursive: true, force: true });
      continue;
    }
    if (!told && owner !== null)
      say(`Waiting for another command (pid ${owner}) that prepares this checkout.`);
    told ||= owner !== null;
    await delay(100);
  }
  writeFileSync(join(folder, 'pid'), String(process.pid));
  const release = () => rmSync(folder, { recursive: true, force: true });
  process.once('exit', release);
  try {
    return await work();
  } finally {
    process.off('exit', release);
    release();
  }
}

function ownerPid() {
  try {
    return Number(readFileSync(join(folder, 'pid'), 'utf8')) || null;
  } catch {
    return null;
  }
}

/** @param {number} pid */
function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return /** @type {NodeJS.ErrnoException} */ (error).code === 'EPERM';
  }
}
