/**
 * Notices that a log may be cut: its task writes the file itself, and nobody else sees the writes a full disk refuses. What can be
 * seen is that the disk was full at some moment of the task's life, and how far its log was then.
 */
import { statfsSync, statSync } from 'node:fs';
import path from 'node:path';
import type { Cause } from '../../../../core/contract/views.js';
import {
  logCutCode,
  logCutMessage,
  logWaitsMessage,
  unreadableCode,
  unreadableMessage,
} from '../../../../core/formats/log-cut.js';
import type { AttemptEntry } from './attempt-entry.js';

/** A disk with less than this is full for all purposes. */
const fullBelowBytes = 64 * 1024;
/** One with less than this can be full, and have room again, within half a second. */
const scarceBelowBytes = 1024 ** 3;

/** The folder when there is no room left where it lies. */
export function fullDisk(folder: string): string | null {
  const free = freeBytes(folder);
  return free !== null && free < fullBelowBytes ? folder : null;
}

/** Null: cannot be told. */
function freeBytes(folder: string): number | null {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize;
  } catch {
    return null;
  }
}

/** To be called when the disk is full. `disk`: what lies on it, when that is not the attempt's own folder. */
export function logMayBeCut(
  folder: string,
  when: 'while the task ran' | 'when the task ended',
  disk = folder,
): Cause {
  const size = (stream: string) => sizeOf(path.join(folder, stream));
  return { code: logCutCode, message: logCutMessage(disk, when, { out: size('out'), err: size('err') }) };
}

/** `why`: what the Engine said of its own log. */
export function logUnreadable(folder: string, why: string): Cause {
  const size = (stream: string) => sizeOf(path.join(folder, stream));
  return { code: unreadableCode, message: unreadableMessage(why, { out: size('out'), err: size('err') }) };
}

export function logWaitsForRoom(folder: string): Cause {
  return { code: logCutCode, message: logWaitsMessage(folder) };
}

export interface LogStorageWatchOptions {
  /** All logs lie here, on one file system. */
  readonly attemptsFolder: string;
  readonly warn: (entry: AttemptEntry, warning: Cause) => void;
  readonly everyMs?: number | undefined;
  /** Of the file system that folder is on; null: cannot be told. */
  readonly readFree?: ((folder: string) => number | null) | undefined;
}

const defaultEveryMs = 500;
const scarceEveryMs = 50;
/** A look that takes longer, as over a network, is not made more often. */
const dearMs = 2;
/** So many in a row: one alone may have taken long because others had the processor. */
const dearLooks = 4;

/**
 * Looks at the disk now and then while anything runs, and ten times as often while there is little room. A disk that was full only
 * between two looks is not noticed: who is refused a write is told, nobody else.
 */
export class LogStorageWatch {
  private readonly running = new Map<string, AttemptEntry>();
  private timer: NodeJS.Timeout | null = null;
  private dearInARow = 0;

  constructor(private readonly options: LogStorageWatchOptions) {}

  add(entry: AttemptEntry): void {
    this.running.set(entry.uid, entry);
    if (this.timer === null) this.beat();
  }

  remove(uid: string): void {
    this.running.delete(uid);
    if (this.running.size === 0) this.close();
  }

  /** Also at once when a write of our own was refused. */
  look(): void {
    this.lookAt(this.free());
  }

  close(): void {
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = null;
  }

  private beat(): void {
    const began = performance.now();
    const free = this.free();
    this.dearInARow = performance.now() - began < dearMs ? 0 : this.dearInARow + 1;
    const scarce = free !== null && free < scarceBelowBytes && this.dearInARow < dearLooks;
    const everyMs = this.options.everyMs ?? defaultEveryMs;
    this.timer = setTimeout(() => this.beat(), scarce ? Math.min(scarceEveryMs, everyMs) : everyMs).unref();
    this.lookAt(free);
  }

  private free(): number | null {
    return (this.options.readFree ?? freeBytes)(this.options.attemptsFolder);
  }

  private lookAt(free: number | null): void {
    if (free === null || free >= fullBelowBytes) return;
    for (const entry of this.running.values()) {
      if (!entry.warnings.has('LOG_STORAGE_FULL'))
        this.options.warn(entry, logMayBeCut(entry.folder, 'while the task ran'));
    }
  }
}

/** None where it cannot be looked at. */
export function sizeOf(file: string): number {
  try {
    return statSync(file).size;
  } catch {
    return 0; // not made yet, or its disk fails
  }
}
