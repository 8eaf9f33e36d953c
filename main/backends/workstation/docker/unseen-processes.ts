/**
 * What runs of a container that its Engine does not know to run: one that was killed while it started the container forgets that, and from
 * then on neither ends it nor lets anybody else do so (seen with Engine 20.10). Its control group still has the container's id as its name.
 */
import { readFileSync, readdirSync } from 'node:fs';
import { pauseOf, waits } from './attempt-turns.js';

const stepMs = 100;

/** Ends what runs of it on this machine; resolves with the pids of what is left. */
export async function endUnseen(container: string): Promise<readonly number[]> {
  for (let waitedMs = 0; ; waitedMs += stepMs) {
    const left = processesOf(container);
    const ending = left.filter(kill);
    if (ending.length === 0 || waitedMs >= waits.unseenMs) return left;
    await pauseOf(stepMs);
  }
}

function processesOf(container: string): number[] {
  const isOf = (pid: string): boolean => {
    try {
      return readFileSync(`/proc/${pid}/cgroup`, 'utf8').includes(container);
    } catch {
      return false; // gone meanwhile, or not to be looked at
    }
  };
  try {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name) && isOf(name))
      .map(Number);
  } catch {
    return []; // not Linux
  }
}

/** False: it may not be ended, or is gone. */
function kill(pid: number): boolean {
  try {
    process.kill(pid, 'SIGKILL');
    return true;
  } catch {
    return false;
  }
}
