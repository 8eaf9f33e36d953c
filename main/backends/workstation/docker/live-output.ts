/**
 * Hears what a container prints as it prints it. A container waits for a listener that does not listen, once a megabyte has come to it.
 * So nobody listens to one that prints much, as its lines reach the log soon enough; over SSH a program at the far end listens, which
 * lets go of it when nobody takes in what it heard; and over a network, where a listener that was cut off is known as such only after a
 * quarter of an hour, only one is listened to that would not print a megabyte by then.
 */
import { LiveTail } from '../../../../core/formats/docker/live-tail.js';
import { LogFrameReader, type LogStream } from '../../../../core/formats/docker/log-frames.js';
import type { Engine, EngineFacts } from './engine.js';

export interface LiveOutputOptions {
  readonly engine: Engine;
  readonly container: string;
  readonly tty: boolean;
  /** It has not been started yet. */
  readonly fromStart: boolean;
  readonly onHeard: () => void;
}

/** What one may print at once, and what each second adds to that. */
const mostBytes: Record<EngineFacts['reach'], { readonly atOnce: number; readonly aSecond: number }> = {
  here: { atOnce: 1024 ** 2, aSecond: 1024 ** 2 },
  relay: { atOnce: 1024 ** 2, aSecond: 128 * 1024 },
  network: { atOnce: 128 * 1024, aSecond: 1024 },
};
/** A start waits for its listener only so long. */
const openMs = 3000;
/** It is tried again first and at last after. */
const firstPauseMs = 5000;
const longestPauseMs = 60_000;
/** Not while it logs more than this in a pause. */
const quietBytes = 32 * 1024;
/** Each is a session of its own at the far end. */
const mostRelays = 8;
const relays = new WeakMap<Engine, number>();

const tailsOf = (fromStart: boolean): Record<LogStream, LiveTail> => ({
  out: new LiveTail(fromStart),
  err: new LiveTail(fromStart),
});

export class LiveOutput {
  private tails: Record<LogStream, LiveTail>;
  private attached: AbortController | null = null;
  private relayed = false;
  private over = false;
  private retry: NodeJS.Timeout | null = null;
  private pauseMs = firstPauseMs;
  private loggedMeanwhile = 0;
  private allowed = 0;
  private allowedAtMs = 0;

  constructor(private readonly options: LiveOutputOptions) {
    this.tails = tailsOf(options.fromStart);
  }

  /** Resolves once it is heard, or cannot be now: the log is whole without it. */
  async open(): Promise<void> {
    const { engine, container } = this.options;
    if (engine.known() === null) await engine.ready(0);
    if (this.over) return;
    // Podman would take the question itself for what is typed.
    if (engine.known()?.podman === true) {
      this.close();
      return;
    }
    const reach = engine.known()?.reach ?? 'network';
    const taken = relays.get(engine) ?? 0;
    const abort = (this.attached = new AbortController());
    if (reach === 'relay' && taken >= mostRelays) {
      this.lose(abort);
      return;
    }
    this.relayed = reach === 'relay';
    if (this.relayed) relays.set(engine, taken + 1);
    this.allowed = mostBytes[reach].atOnce;
    this.allowedAtMs = performance.now();
    const what = { stream: true, stdout: true, stderr: true, abortSignal: abort.signal };
    try {
      const stream = await engine.ask(
        async (_, listener) => (listener === null ? null : listener.getContainer(container).attach(what)),
        openMs,
      );
      if (stream === null) this.close();
      else this.listen(stream, abort, reach);
    } catch {
      this.lose(abort);
    }
  }

  logged(stream: LogStream, data: Uint8Array): void {
    if (this.attached === null) this.loggedMeanwhile += data.length;
    else this.tails[stream].log(data);
  }

  /** What comes next in the log, as far as it was heard. */
  tail(stream: LogStream): Uint8Array {
    return this.attached === null ? new Uint8Array() : this.tails[stream].tail();
  }

  /** The end of the last line, as it is heard before its place is known. */
  unplacedEnd(stream: LogStream): Uint8Array {
    return this.attached === null ? new Uint8Array() : this.tails[stream].unplacedEnd();
  }

  close(): void {
    this.over = true;
    if (this.retry !== null) clearTimeout(this.retry);
    this.retry = null;
    this.letGo();
  }

  private listen(stream: NodeJS.ReadableStream, abort: AbortController, reach: EngineFacts['reach']): void {
    const frames = new LogFrameReader();
    stream.on('data', (piece: Buffer) => {
      if (this.attached !== abort) return;
      try {
        if (this.options.tty) this.tails.out.hear(piece);
        else for (const frame of frames.push(piece)) this.tails[frame.stream].hear(frame.data);
      } catch {
        this.close(); // no frames: the log is read by itself
        return;
      }
      this.pauseMs = firstPauseMs;
      if (this.isTooMuch(piece.length, reach)) this.lose(abort);
      else this.options.onHeard();
    });
    for (const end of ['end', 'close', 'error']) stream.on(end, () => this.lose(abort));
    if (this.attached !== abort) abort.abort();
  }

  private isTooMuch(bytes: number, reach: EngineFacts['reach']): boolean {
    const { atOnce, aSecond } = mostBytes[reach];
    const now = performance.now();
    this.allowed = Math.min(atOnce, this.allowed + ((now - this.allowedAtMs) / 1000) * aSecond) - bytes;
    this.allowedAtMs = now;
    return this.allowed < 0;
  }

  /** It is tried again: what is heard then has to find its place in the log. */
  private lose(abort: AbortController): void {
    if (this.attached !== abort) return;
    this.letGo();
    if (this.over) return;
    this.tails = tailsOf(false);
    this.options.onHeard(); // nothing more
    this.tryLater();
  }

  private letGo(): void {
    this.attached?.abort();
    this.attached = null;
    const { engine } = this.options;
    if (this.relayed) relays.set(engine, (relays.get(engine) ?? 1) - 1);
    this.relayed = false;
  }

  private tryLater(): void {
    this.loggedMeanwhile = 0;
    this.retry = setTimeout(() => {
      this.retry = null;
      this.pauseMs = Math.min(longestPauseMs, this.pauseMs * 2);
      if (this.loggedMeanwhile > quietBytes) this.tryLater();
      else void this.open();
    }, this.pauseMs).unref();
  }
}
