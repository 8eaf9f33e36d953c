/**
 * Copies a container's log into the attempt's own files, each byte once. How far the copy has come is noted beside the files after
 * what was copied: whoever goes on asks the Engine from there, and checks what stands behind it against what comes.
 */
import { closeSync, ftruncateSync, openSync } from 'node:fs';
import path from 'node:path';
import { FrameError, type LogStream } from '../../../../core/formats/docker/log-frames.js';
import {
  joinsTaken,
  logStart,
  ResumeFilter,
  sinceOf,
  type StampedMessage,
} from '../../../../core/formats/docker/log-resume.js';
import type { LogHeard } from '../../backend.js';
import { writeWhole } from './attempt-note.js';
import { EngineUnreachable, type Engine } from './engine.js';
import { HeardLine } from './heard-line.js';
import { LiveOutput } from './live-output.js';
import { brokenBy, receiveLog, takeStamped, type LogRequest, type Take } from './log-stream.js';
import {
  beginBehind,
  fits,
  placeFile,
  readBetween,
  readPlace,
  sizeOf,
  writeAll,
  type Place,
} from './log-place.js';

export interface LogCopyOptions {
  readonly folder: string;
  readonly container: string;
  /** Told by the container's own settings: a terminal's log has no frames. */
  readonly tty: boolean;
  readonly engine: Engine;
  readonly onFault: (error: unknown) => void;
  /** Its last line as it is heard, as long as its place in the log is not known: of what ran before it was listened to. */
  readonly onHeard: (heard: LogHeard | null) => void;
}

/** The place is noted at most so often. */
const noteEveryMs = 250;
const againAfterMs = 300;
const followAfterMs = 200;
/** What the Engine cannot read now it mostly cannot later. */
const brokenPauseMs = 10_000;
const quietMs = 1000;
/** What is heard before it is logged is shown so much later: mostly it is logged by then. */
const showAfterMs = 100;
/** Of an ended container so many are looked at again, in case its stream ended before they came. */
const lastMessages = 200;
/** Behind what was noted, at most so much is kept over a restart of ours. */
const mostKept = 1024 ** 2;
const noBytes = new Uint8Array();
/** The Engine is waited for so long at a time. */
const reconnectMs = 60_000;

export class LogCopy {
  private readonly files: Record<LogStream, number>;
  private place: Place;
  private noteTimer: NodeJS.Timeout | null = null;
  private stop: (() => void) | null = null;
  private wake: (() => void) | null = null;
  /** Nothing came since it was looked at last. */
  private quiet = false;
  private closed = false;
  /** Said of the log that it cannot be read on. */
  private broken: string | null = null;
  private ending = false;
  private following: Promise<void> | null = null;
  /** Taken and not written yet, and how far the reading that took it has come. */
  private readonly fresh: Record<LogStream, Uint8Array[]> = { out: [], err: [] };
  private reached: ResumeFilter | null = null;
  private writeSoon: NodeJS.Immediate | null = null;
  private fault: Error | null = null;
  private live: LiveOutput | null = null;
  private readonly line: HeardLine;
  private showTimer: NodeJS.Timeout | null = null;
  /** At the ends of the files, behind what was copied: heard, and not logged yet. */
  private shown: Record<LogStream, Uint8Array> = { out: noBytes, err: noBytes };
  /** The files hold more than their sizes say, and could not be cut. */
  private uncut = false;

  constructor(private readonly options: LogCopyOptions) {
    this.line = new HeardLine(options.onHeard);
    const open = (name: string) => openSync(path.join(options.folder, name), 'a+', 0o600);
    this.files = { out: open('out'), err: open('err') };
    try {
      this.place = this.goOn();
    } catch (error) {
      this.closeFiles();
      throw error;
    }
  }

  /** Hears it from now on, so that lines are seen before they are whole. */
  async hear(fromStart: boolean): Promise<void> {
    this.live = new LiveOutput({ ...this.options, fromStart, onHeard: () => this.showSoon() });
    await this.live.open();
  }

  /** Follows until `finish` or `close`; goes on by itself after a break. */
  follow(): void {
    this.following ??= this.keepFollowing();
  }

  /**
   * The container has ended: takes what is left. Gives why the Engine cannot read all of it; null: it is whole. Rejects when the Engine
   * cannot be asked; may be called again then.
   */
  async finish(): Promise<string | null> {
    this.ending = true;
    if (this.following !== null) {
      this.wake?.();
      // The Engine ends the stream with the container; one that does not is cut once nothing more comes, and read again.
      const timer = setInterval(() => {
        if (this.quiet) this.stop?.();
        this.quiet = true;
      }, quietMs);
      await this.following;
      clearInterval(timer);
      this.following = null;
    }
    if (this.closed) return null;
    this.live?.close();
    this.line.end();
    // What its last messages cannot be read of may be read from its beginning.
    const end = await brokenBy(() => this.readEnd());
    const broken = end.done === true ? null : (await brokenBy(() => this.read())).why;
    // What was heard and is not in the log is none of it.
    if (this.shown.out.length + this.shown.err.length > 0) this.cut(this.place.sizes);
    this.note();
    return broken;
  }

  close(): void {
    if (this.closed) return;
    this.stop?.();
    this.live?.close();
    this.line.end();
    if (this.showTimer !== null) clearTimeout(this.showTimer);
    this.writeQueued();
    this.closed = true;
    if (this.noteTimer !== null) {
      clearTimeout(this.noteTimer);
      this.tryNote();
    }
    this.closeFiles();
  }

  private closeFiles(): void {
    closeSync(this.files.out);
    closeSync(this.files.err);
  }

  private goesOn(): boolean {
    return !this.closed && !this.ending;
  }

  private pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms).unref();
      this.wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  private async keepFollowing(): Promise<void> {
    // What ends before is read once, at its end.
    await this.pause(followAfterMs);
    while (this.goesOn()) {
      try {
        await this.read();
      } catch (error) {
        if (!this.goesOn()) return;
        const isBroken = error instanceof FrameError;
        if (!isBroken || error.message !== this.broken) this.options.onFault(error);
        this.broken = isBroken ? error.message : null;
        if (isBroken) await this.pause(brokenPauseMs);
        if (error instanceof EngineUnreachable) await this.options.engine.ready(reconnectMs);
      }
      if (this.goesOn()) await this.pause(againAfterMs);
    }
  }

  private async read(): Promise<void> {
    const since = this.options.tty ? null : sinceOf(this.place.point);
    const take = this.options.tty ? this.takerOfTerminal() : this.takerOfFrames();
    await this.receive(since === null ? {} : { since: Number(since) }, take);
  }

  /**
   * Looks whether the last messages are there, which costs the Engine a look at the end of its file instead of the whole. False: that
   * cannot be told this way. What was taken is the log up to some message; so when the first of the last messages was taken before, or
   * they are all there are, nothing is missing in front of them.
   */
  private async readEnd(): Promise<boolean> {
    const { point } = this.place;
    if (this.options.tty || point.out.wentBack || point.err.wentBack) return false;
    // Podman joins what is one line to one message when it is asked for the last ones, and only then.
    if (this.options.engine.known()?.podman === true) return false;
    const last: StampedMessage[] = [];
    const take = takeStamped((message) => void last.push(message));
    await this.receive({ tail: lastMessages }, take);
    if (last.length >= lastMessages && !joinsTaken(last, point)) return false;
    const filter = new ResumeFilter(point);
    for (const message of last) if (filter.isNew(message)) this.queue(message.stream, message.data);
    this.reached = filter;
    this.writeQueued();
    this.throwFault();
    return true;
  }

  private throwFault(): void {
    if (this.fault !== null) throw this.fault;
  }

  /** Rejects also when what came could not be written. */
  private async receive(what: LogRequest, take: Take): Promise<void> {
    this.fault = null;
    this.reached = null;
    const heard: Take = (piece) => {
      this.quiet = false;
      take(piece);
    };
    const opened = (end: () => void): void => {
      this.stop = end;
      if (this.closed) end();
    };
    await receiveLog(this.options, what, heard, opened).finally(() => {
      this.stop = null;
      this.writeQueued();
    });
    this.throwFault();
  }

  private takerOfFrames(): Take {
    const filter = new ResumeFilter(this.place.point);
    const takeFrames = takeStamped((message) => {
      if (filter.isNew(message)) this.queue(message.stream, message.data);
    });
    return (piece) => {
      // Before it is taken: what stands in front of a fault is written, and not to be taken again.
      this.reached = filter;
      takeFrames(piece);
      this.noteSoon();
    };
  }

  /** A terminal's bytes have no stamps between them; they are the same again each time, so what was taken is counted off. */
  private takerOfTerminal(): Take {
    let skip = this.place.sizes.out - this.place.begins.out;
    return (piece) => {
      const fresh = piece.subarray(Math.min(skip, piece.length));
      skip -= piece.length - fresh.length;
      if (fresh.length > 0) this.queue('out', fresh);
      this.noteSoon();
    };
  }

  /** The Engine sends each message by itself; those of one turn are written at once. */
  private queue(stream: LogStream, data: Uint8Array): void {
    this.live?.logged(stream, data);
    if (this.live !== null) this.showSoon(); // what was heard may have found its place only now
    this.fresh[stream].push(data);
    this.writeSoon ??= setImmediate(() => this.writeQueued());
  }

  /** What cannot be written is read again: the files are cut to what they held, and the reading ends. */
  private writeQueued(): void {
    if (this.writeSoon === null) return;
    clearImmediate(this.writeSoon);
    this.writeSoon = null;
    const sizes = { ...this.place.sizes };
    try {
      if (this.uncut) this.cut(sizes);
      for (const stream of ['out', 'err'] as const) {
        const pieces = this.fresh[stream].splice(0);
        if (pieces.length === 0) continue;
        const data = Buffer.concat(pieces);
        this.write(stream, data, sizes[stream]);
        sizes[stream] += data.length;
      }
      this.place = { ...this.place, sizes, point: this.reached?.point() ?? this.place.point };
    } catch (error) {
      this.fresh.out.length = 0;
      this.fresh.err.length = 0;
      this.reached = null;
      this.fault = error instanceof Error ? error : new Error(String(error));
      this.tryCut();
      this.stop?.();
    }
  }

  /** What is shown already is the same as a rule, and stays; what is not is taken back. */
  private write(stream: LogStream, data: Uint8Array, size: number): void {
    const shown = this.shown[stream];
    const same = Math.min(shown.length, data.length);
    const fits = Buffer.compare(shown.subarray(0, same), data.subarray(0, same)) === 0;
    this.shown[stream] = fits ? shown.subarray(same) : noBytes;
    if (!fits) ftruncateSync(this.files[stream], size);
    writeAll(this.files[stream], fits ? data.subarray(same) : data);
  }

  private showSoon(): void {
    if (!this.closed) this.showTimer ??= setTimeout(() => this.show(), showAfterMs);
  }

  private show(): void {
    this.showTimer = null;
    this.line.look(this.live);
    if (this.uncut) return;
    try {
      for (const stream of ['out', 'err'] as const) {
        const tail = this.live?.tail(stream) ?? noBytes;
        const { length } = this.shown[stream];
        // Fewer bytes than are shown, or others, are settled by the log.
        if (this.fresh[stream].length > 0 || tail.length <= length) continue;
        if (Buffer.compare(this.shown[stream], tail.subarray(0, length)) !== 0) continue;
        writeAll(this.files[stream], tail.subarray(length));
        this.shown[stream] = tail;
      }
    } catch {
      this.tryCut(); // a full disk: the log will say so
    }
  }

  private noteSoon(): void {
    this.noteTimer ??= setTimeout(() => {
      this.noteTimer = null;
      this.tryNote();
    }, noteEveryMs);
  }

  /** A place noted before does as well: what comes again is known by what stands behind it. */
  private tryNote(): void {
    try {
      this.note();
    } catch (error) {
      this.options.onFault(error);
    }
  }

  private note(): void {
    this.writeQueued();
    writeWhole(placeFile(this.options.folder), JSON.stringify(this.place));
  }

  /** What the last copy noted, with the files cut to it; a copy of another container begins where they end. */
  private goOn(): Place {
    const { container } = this.options;
    const now = { out: sizeOf(this.files.out), err: sizeOf(this.files.err) };
    const noted = readPlace(this.options.folder);
    if (noted?.container !== container) {
      const from = beginBehind(noted, now);
      this.cut(from);
      const place = { container, point: logStart, sizes: from, begins: from };
      writeWhole(placeFile(this.options.folder), JSON.stringify(place));
      return place;
    }
    if (fits(noted.sizes, now)) {
      this.keepShown(noted.sizes, now);
      return noted;
    }
    // The files are shorter than noted, as after a power cut: the Engine still has all of it.
    const begins = fits(noted.begins, now) ? noted.begins : { out: 0, err: 0 };
    this.cut(begins);
    return { container, point: logStart, sizes: begins, begins };
  }

  /** Shown and not logged yet, or copied and not noted: the log brings it again, and it stays where that is the same. */
  private keepShown(sizes: Place['sizes'], now: Place['sizes']): void {
    if (now.out - sizes.out > mostKept || now.err - sizes.err > mostKept) {
      this.cut(sizes);
      return;
    }
    for (const stream of ['out', 'err'] as const)
      this.shown[stream] = readBetween(this.files[stream], sizes[stream], now[stream]);
  }

  /** On a disk that fails nothing is written before they are cut after all. */
  private tryCut(): void {
    try {
      this.cut(this.place.sizes);
    } catch {
      this.uncut = true;
    }
  }

  private cut(sizes: Place['sizes']): void {
    this.shown = { out: noBytes, err: noBytes };
    ftruncateSync(this.files.out, sizes.out);
    ftruncateSync(this.files.err, sizes.err);
    this.uncut = false;
  }
}
