/** The system's processes, as /proc shows them. Where there is no /proc (macOS, Windows) the table is empty and says so. */
import { readFileSync, readdirSync } from 'node:fs';

export interface ProcessEntry {
  readonly pid: number;
  readonly name: string;
  /** Letter of /proc/PID/stat: R, S, D, T, Z and so on. */
  readonly state: string;
  readonly parentPid: number;
  readonly groupId: number;
  readonly sessionId: number;
  /** Clock ticks since boot; with the pid and the boot id it names the process for good. */
  readonly startTicks: number;
}

/** An entry with the attempt it belongs to by its environment, null when there is none or it may not be read. */
export interface OwnedProcess extends ProcessEntry {
  readonly attemptUid: string | null;
}

/** The view of processes a backend works with; tests give their own to play a reboot or a reused pid. */
export interface ProcessView {
  /** Null where the system has no such thing. */
  bootId(): string | null;
  /** Null when no such process lives; a zombie counts as gone. */
  read(pid: number): ProcessEntry | null;
  /** What the process was started with, its program first; empty when it has gone. */
  argv(pid: number): readonly string[];
  /** Everything that lives, without zombies. */
  scan(): readonly OwnedProcess[];
  /** Null: no /proc. */
  readonly complete: boolean;
}

/** Reads a line of /proc/PID/stat. The name may hold blanks and brackets: it ends at the last bracket. */
export function parseStat(text: string): ProcessEntry | null {
  const open = text.indexOf('(');
  const close = text.lastIndexOf(')');
  if (open < 0 || close < open) return null;
  const rest = text.slice(close + 2).split(' ');
  const entry = {
    pid: Number(text.slice(0, open)),
    name: text.slice(open + 1, close),
    state: rest[0] ?? '?',
    parentPid: Number(rest[1]),
    groupId: Number(rest[2]),
    sessionId: Number(rest[3]),
    startTicks: Number(rest[19]),
  };
  return Number.isInteger(entry.pid) && Number.isInteger(entry.startTicks) ? entry : null;
}

/** The value of a variable in the text of /proc/PID/environ. */
export function environValue(environ: string, name: string): string | null {
  const start = environ.startsWith(`${name}=`) ? 0 : environ.indexOf(`\0${name}=`) + 1;
  if (start === 0 && !environ.startsWith(`${name}=`)) return null;
  const from = start + name.length + 1;
  const end = environ.indexOf('\0', from);
  return environ.slice(from, end < 0 ? undefined : end);
}

function readText(path: string): string | null {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return null; // ended meanwhile, or not ours to read
  }
}

export function readProcess(pid: number): ProcessEntry | null {
  const text = readText(`/proc/${pid}/stat`);
  const entry = text === null ? null : parseStat(text);
  return entry === null || entry.state === 'Z' || entry.state === 'X' ? null : entry;
}

/** Attempt named in the environment the process was started with. */
export function attemptOf(pid: number): string | null {
  const environ = readText(`/proc/${pid}/environ`);
  return environ === null ? null : environValue(environ, 'IRIS_ATTEMPT_UID');
}

function listPids(): readonly number[] {
  try {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map(Number);
  } catch {
    return [];
  }
}

export function createProcessView(): ProcessView {
  const boot = readText('/proc/sys/kernel/random/boot_id');
  return {
    complete: boot !== null,
    bootId: () => (boot === null ? null : boot.trim()),
    read: readProcess,
    argv: (pid) => (readText(`/proc/${pid}/cmdline`) ?? '').split('\0').slice(0, -1),
    scan: () => {
      const found: OwnedProcess[] = [];
      for (const pid of listPids()) {
        const entry = readProcess(pid);
        if (entry !== null) found.push({ ...entry, attemptUid: attemptOf(pid) });
      }
      return found;
    },
  };
}

/** This process and those it descends from. */
export function ownAncestry(view: ProcessView): ReadonlySet<number> {
  const found = new Set<number>([process.pid, process.ppid]);
  for (let next = view.read(process.ppid)?.parentPid ?? 0; next > 0 && !found.has(next);) {
    found.add(next);
    next = view.read(next)?.parentPid ?? 0;
  }
  return found;
}

/** The mask new files get; Node's own way of asking sets it for a moment, under the feet of other threads. */
export function currentUmask(): number {
  const octal = /^Umask:\s+([0-7]+)$/m.exec(readText('/proc/self/status') ?? '')?.[1];
  return octal === undefined ? 0o022 : Number.parseInt(octal, 8);
}
