/** Whether the owner of a claim may still live. Dead is only what is proved to be: a doubt keeps the claim. */
import { readFileSync, readlinkSync } from 'node:fs';
import { createProcessView, readProcess } from '../../../machine/processes.js';
import type { Claim, ClaimIdentity } from './claim-file.js';

export interface Surroundings {
  readonly bootId: string;
  readonly pidNamespace: string;
}

export function surroundingsHere(): Surroundings {
  return { bootId: createProcessView().bootId() ?? 'unknown', pidNamespace: namespaceHere() };
}

function namespaceHere(): string {
  try {
    return readlinkSync('/proc/self/ns/pid');
  } catch {
    return 'unknown'; // not this system
  }
}

export function identityOf(pid: number): ClaimIdentity {
  return { pid, startTicks: readProcess(pid)?.startTicks ?? null };
}

export function isProvablyDead(claim: Claim, here: Surroundings): boolean {
  if (claim.bootId !== here.bootId) return here.bootId !== 'unknown' && claim.bootId !== 'unknown';
  if (claim.pidNamespace !== here.pidNamespace || claim.container) return false;
  return isDead(claim.host) && (claim.supervisor === null || isDead(claim.supervisor));
}

/** Another user's process may be hidden from /proc, but the system says whether there is one to signal. */
function isDead({ pid, startTicks }: ClaimIdentity): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ESRCH') return true;
  }
  const entry = readProcess(pid);
  if (entry !== null) return startTicks !== null && entry.startTicks !== startTicks;
  return isZombie(pid);
}

function isZombie(pid: number): boolean {
  try {
    return / [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'latin1').replace(/^.*\)/s, ''));
  } catch {
    return false; // hidden from us, or gone this moment: the next look tells
  }
}
