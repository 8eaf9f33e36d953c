/**
 * Watches logs grow: tells who asks, and notes marks (places where both streams' sizes were seen together), from which the merged
 * order comes. The task writes its files itself; nothing here is in its way.
 */
import {
  type FSWatcher,
  appendFileSync,
  readFileSync,
  renameSync,
  statSync,
  watch,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import type { LogHeard, LogMark } from '../backends/backend.js';

export interface LogGrowthOptions {
  readonly nowMs: () => number;
  readonly onGrew: (uid: string, outSize: number, errSize: number, heard: LogHeard | null) => void;
  readonly onFault: (uid: string, error: unknown) => void;
}

const sampleMs = 100;
/** Marks are a help: those of the last second may be lost with the host. */
const flushMs = 1000;
/** While only one stream grows one mark in this time is enough. */
const quietMarkMs = 10_000;
const mostMarks = 10_000;

interface Tracked {
  readonly folder: string;
  readonly marks: LogMark[];
  /** Marks before this index are in the file. */
  flushed: number;
  watcher: FSWatcher | null;
  timer: NodeJS.Timeout | null;
  flushTimer: NodeJS.Timeout | null;
  /** What is told with the sizes. */
  heard: LogHeard | null;
}

export class LogGrowth {
  private readonly tracked = new Map<string, Tracked>();
  private readonly listened = new Set<string>();
  /** Heard of those that are not tracked yet. */
  private readonly early = new Map<string, LogHeard>();

  constructor(private readonly options: LogGrowthOptions) {}

  isTracked(uid: string): boolean {
    return this.tracked.has(uid);
  }

  track(uid: string, folder: string): void {
    if (this.tracked.has(uid)) return;
    const marks = readMarks(folder);
    const entry: Tracked = {
      folder,
      marks,
      flushed: marks.length,
      watcher: null,
      timer: null,
      flushTimer: null,
      heard: this.early.get(uid) ?? null,
    };
    this.early.delete(uid);
    this.tracked.set(uid, entry);
    this.look(uid, entry);
  }

  /** The attempt ended: its sizes are final. */
  ended(uid: string): void {
    this.early.delete(uid);
    const entry = this.tracked.get(uid);
    if (entry === undefined) return;
    this.sample(uid, entry);
    this.drop(uid, entry);
  }

  listen(uid: string, on: boolean): void {
    if (!on) this.listened.delete(uid);
    else if (!this.listened.has(uid)) {
      this.listened.add(uid);
      const entry = this.tracked.get(uid);
      // Who asks for the log learns its sizes, not this. Never inside the call.
      if (entry !== undefined && entry.heard !== null) setImmediate(() => this.tell(uid, entry));
    }
  }

  /** Its last line as it is heard, where the log does not have it; null: no more. */
  heard(uid: string, heard: LogHeard | null): void {
    const entry = this.tracked.get(uid);
    if (entry !== undefined) {
      entry.heard = heard;
      this.tell(uid, entry);
    } else if (heard === null) this.early.delete(uid);
    else this.early.set(uid, heard);
  }

  private tell(uid: string, { folder, heard }: Tracked): void {
    if (!this.listened.has(uid) || !this.tracked.has(uid)) return;
    this.options.onGrew(uid, sizeOf(path.join(folder, 'out')), sizeOf(path.join(folder, 'err')), heard);
  }

  isListened(uid: string): boolean {
    return this.listened.has(uid);
  }

  marks(uid: string, folder: string): readonly LogMark[] {
    return this.tracked.get(uid)?.marks ?? readMarks(folder);
  }

  close(): void {
    for (const [uid, entry] of [...this.tracked]) this.drop(uid, entry);
  }

  private drop(uid: string, entry: Tracked): void {
    entry.watcher?.close();
    if (entry.timer !== null) clearTimeout(entry.timer);
    if (entry.flushTimer !== null) clearTimeout(entry.flushTimer);
    this.flush(uid, entry);
    this.tracked.delete(uid);
  }

  /**
   * One event arms a sample and takes the watch away until then: a task that writes a line at a time costs ten looks a second, not
   * an event a line.
   */
  private look(uid: string, entry: Tracked): void {
    entry.timer = null;
    const later = (): void => {
      entry.watcher?.close();
      entry.watcher = null;
      entry.timer ??= setTimeout(() => this.look(uid, entry), sampleMs);
    };
    try {
      entry.watcher = watch(entry.folder, { persistent: false }, later);
      entry.watcher.on('error', later);
    } catch (error) {
      // No watches left on this system: look at intervals.
      this.options.onFault(uid, error);
      entry.timer = setTimeout(() => this.look(uid, entry), 1000);
    }
    // After the watch stands, so that nothing falls between.
    this.sample(uid, entry);
  }

  private sample(uid: string, entry: Tracked): void {
    const mark: LogMark = {
      atMs: this.options.nowMs(),
      out: sizeOf(path.join(entry.folder, 'out')),
      err: sizeOf(path.join(entry.folder, 'err')),
    };
    const last = entry.marks.at(-1);
    if (
      last !== undefined ? mark.out === last.out && mark.err === last.err : mark.out === 0 && mark.err === 0
    )
      return;
    noteMark(entry, mark);
    entry.flushTimer ??= setTimeout(() => {
      entry.flushTimer = null;
      this.flush(uid, entry);
    }, flushMs);
    if (this.listened.has(uid)) this.options.onGrew(uid, mark.out, mark.err, entry.heard);
  }

  private flush(uid: string, entry: Tracked): void {
    try {
      if (entry.marks.length > mostMarks) {
        thin(entry.marks);
        const file = marksPath(entry.folder);
        writeFileSync(`${file}.new`, entry.marks.map(lineOf).join(''), { mode: 0o600 });
        renameSync(`${file}.new`, file);
      } else if (entry.flushed < entry.marks.length) {
        appendFileSync(marksPath(entry.folder), entry.marks.slice(entry.flushed).map(lineOf).join(''), {
          mode: 0o600,
        });
      }
      entry.flushed = entry.marks.length;
    } catch (error) {
      this.options.onFault(uid, error);
    }
  }
}

function noteMark(entry: Tracked, mark: LogMark): void {
  const last = entry.marks.at(-1);
  const before = entry.marks.at(-2);
  const unwritten = entry.marks.length > entry.flushed;
  if (last !== undefined && before !== undefined && unwritten && mark.atMs - before.atMs < quietMarkMs) {
    const oneStream =
      (before.out === last.out && last.out === mark.out) ||
      (before.err === last.err && last.err === mark.err);
    if (oneStream) {
      entry.marks[entry.marks.length - 1] = mark;
      return;
    }
  }
  entry.marks.push(mark);
}

/** Every second mark goes; the last stays. */
function thin(marks: LogMark[]): void {
  const kept = marks.filter((_, index) => index % 2 === (marks.length - 1) % 2);
  marks.splice(0, marks.length, ...kept);
}

function marksPath(folder: string): string {
  return path.join(folder, 'marks');
}

function lineOf(mark: LogMark): string {
  return `${mark.atMs} ${mark.out} ${mark.err}\n`;
}

export function readMarks(folder: string): LogMark[] {
  let text: string;
  try {
    text = readFileSync(marksPath(folder), 'latin1');
  } catch {
    return []; // a short attempt has none
  }
  return parseMarks(text);
}

/** `after`: the mark before the first of these. */
export function parseMarks(text: string, after?: LogMark): LogMark[] {
  const marks: LogMark[] = [];
  let out = after?.out ?? 0;
  let err = after?.err ?? 0;
  for (const line of text.split('\n')) {
    const match = /^(\d+) (\d+) (\d+)$/.exec(line);
    if (match === null) continue; // a line cut by a crash or a full disk
    const mark = { atMs: Number(match[1]), out: Number(match[2]), err: Number(match[3]) };
    // A cut number could seem to go back; order never does.
    if (mark.out < out || mark.err < err) continue;
    ({ out, err } = mark);
    marks.push(mark);
  }
  return marks;
}

function sizeOf(file: string): number {
  try {
    return statSync(file).size;
  } catch {
    return 0;
  }
}
