/**
 * The `claim` file of an attempt's folder: who runs the attempt, and how it ended. Written by supervisor.sh (its head says how),
 * or by us to fence an attempt off, so that nobody can start it any more.
 */
import { closeSync, mkdirSync, openSync, readFileSync, writeSync } from 'node:fs';
import path from 'node:path';
import { isErrorCode } from './error-code.js';

/** A process named for good: its pid alone may be somebody else's by now. */
export interface ProcessIdentity {
  readonly bootId: string;
  readonly pid: number;
  /** Clock ticks since boot at its start; null where the system has no /proc, and until it was met alive where its claim has none. */
  readonly startTicks: number | null;
}

/** What the supervisor wrote when the command ended. */
export interface CommandStatus {
  /** `timeout`: the supervisor ended it at its time limit. */
  readonly kind: 'exit' | 'timeout';
  readonly code: number;
  /** Seconds by the system's boot clock; null where there is none. */
  readonly durationMs: number | null;
}

export type Claim =
  /** No such file: nobody has started it. */
  | { readonly kind: 'none' }
  /** Fenced off by us: nobody ever will. */
  | { readonly kind: 'fenced' }
  /** Created but not filled: its supervisor was killed, or had no room, before it started the command. */
  | { readonly kind: 'unfilled' }
  | {
      readonly kind: 'claimed';
      readonly supervisor: ProcessIdentity;
      /** Null while the command runs, and for good when the supervisor was killed. */
      readonly status: CommandStatus | null;
    };

const slotLength = 95;
const fencedSlot = 'fenced .'.padEnd(slotLength);

export function claimPath(folder: string): string {
  return path.join(folder, 'claim');
}

export function parseClaim(text: string): Claim {
  const [slot, bootId, self] = text.split('\n');
  if (slot === fencedSlot) return { kind: 'fenced' };
  const match = /^(\d+) \(/.exec(self ?? '');
  if (slot === undefined || bootId === undefined || match === null || !text.endsWith('\n'))
    return { kind: 'unfilled' };
  return {
    kind: 'claimed',
    supervisor: { bootId, pid: Number(match[1]), startTicks: startTicksOf(self ?? '') },
    status: parseStatus(slot),
  };
}

function parseStatus(slot: string): CommandStatus | null {
  const match = /^(exit|timeout) (\d+) \d+ (\S+) (\S+) \. *$/.exec(slot);
  if (match === null) return null;
  const seconds = Number(match[4]) - Number(match[3]);
  return {
    kind: match[1] === 'timeout' ? 'timeout' : 'exit',
    code: Number(match[2]),
    durationMs: Number.isFinite(seconds) ? Math.max(0, Math.round(seconds * 1000)) : null,
  };
}

/** Field 22 of a stat line, the twentieth after the name; the name in brackets may hold blanks and brackets itself. */
function startTicksOf(statLine: string): number | null {
  let at = statLine.lastIndexOf(')') + 2;
  for (let field = 1; field < 20; field += 1) {
    at = statLine.indexOf(' ', at) + 1;
    if (at === 0) return null;
  }
  const end = statLine.indexOf(' ', at);
  const value = statLine.slice(at, end < 0 ? undefined : end);
  return /^\d+$/.test(value) ? Number(value) : null;
}

export function readClaim(folder: string): Claim {
  try {
    return parseClaim(readFileSync(claimPath(folder), 'latin1'));
  } catch (error) {
    if (isErrorCode(error, 'ENOENT') || isErrorCode(error, 'ENOTDIR')) return { kind: 'none' };
    throw error;
  }
}

/** Takes the attempt so that a supervisor that comes late leaves at once. False when one was first. */
export function fence(folder: string): boolean {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  let file: number;
  try {
    file = openSync(claimPath(folder), 'wx', 0o600);
  } catch (error) {
    if (isErrorCode(error, 'EEXIST')) return false;
    throw error;
  }
  try {
    writeSync(file, `${fencedSlot}\n`);
  } finally {
    closeSync(file);
  }
  return true;
}
