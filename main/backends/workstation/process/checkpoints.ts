/**
 * What a task and its backend tell each other about losing its place: the task touches a file after each checkpoint, and is told in
 * another one that it has to go. Both lie in its working folder.
 */
import { lstatSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { StopNotice } from '../../backend.js';
import { workFolder } from './attempt-start.js';
import type { AttemptEntry } from './attempt-entry.js';

/** A task finds its path in IRIS_CHECKPOINT_FILE. */
export function checkpointFile(work: string): string {
  return path.join(work, 'checkpoint');
}

/** Whole or not there at all for whoever looks at the same time. */
export function writeNotice(folder: string, notice: StopNotice): void {
  const file = path.join(workFolder(folder), 'preemption.json');
  const next = `${file}.${process.pid}`;
  const told = { deadline: new Date(notice.deadlineMs).toISOString(), reason: notice.reason };
  writeFileSync(next, `${JSON.stringify(told)}\n`, { mode: 0o600 });
  renameSync(next, file);
}

export interface CheckpointWatchOptions {
  readonly nowMs: () => number;
  /** It has made another checkpoint. */
  readonly onCheckpoint: (entry: AttemptEntry) => void;
  readonly everyMs?: number | undefined;
}

const defaultEveryMs = 3000;

/** Looks at the files of the attempts it was given now and then. */
export class CheckpointWatch {
  private readonly running = new Set<AttemptEntry>();
  private timer: NodeJS.Timeout | null = null;

  constructor(private readonly options: CheckpointWatchOptions) {}

  add(entry: AttemptEntry): void {
    if (this.running.has(entry)) return;
    this.running.add(entry);
    this.timer ??= setInterval(() => this.lookAtAll(), this.options.everyMs ?? defaultEveryMs).unref();
    this.look(entry);
  }

  remove(entry: AttemptEntry): void {
    this.running.delete(entry);
    if (this.running.size === 0) this.close();
  }

  /** Once more at its end, so that its last observation knows. One that was never added made none worth keeping. */
  lastLook(entry: AttemptEntry): void {
    if (this.running.has(entry)) this.read(entry);
  }

  close(): void {
    if (this.timer !== null) clearInterval(this.timer);
    this.timer = null;
  }

  private lookAtAll(): void {
    for (const entry of this.running) this.look(entry);
  }

  private look(entry: AttemptEntry): void {
    if (this.read(entry)) this.options.onCheckpoint(entry);
  }

  /** True: there is a later one than before. */
  private read(entry: AttemptEntry): boolean {
    let atMs: number;
    try {
      // Not where a link leads: that may be a file system that does not answer.
      atMs = Math.floor(lstatSync(checkpointFile(workFolder(entry.folder))).mtimeMs);
    } catch {
      return false; // it has made none
    }
    // A time to come would say that nothing is ever lost.
    const seen = Math.min(atMs, this.options.nowMs());
    if (entry.checkpointAtMs !== null && seen <= entry.checkpointAtMs) return false;
    entry.checkpointAtMs = seen;
    return true;
  }
}
