/**
 * Hears what a container prints as it prints it. A container that prints faster than it is heard waits for whoever listens, so nobody
 * listens to one that prints much (its lines reach the log soon enough), nor over a connection that may be cut.
 */
import { LiveTail } from '../../../../core/formats/docker/live-tail.js';
import { LogFrameReader, type LogStream } from '../../../../core/formats/docker/log-frames.js';
import type { Engine } from './engine.js';

export interface LiveOutputOptions {
  readonly engine: Engine;
  readonly container: string;
  readonly tty: boolean;
  /** It has not been started yet. */
  readonly fromStart: boolean;
  readonly onHeard: () => void;
}

/** Who prints more than this in a second is not listened to any more. */
const mostBytes = 1024 ** 2;
const rateMs = 1000;

export class LiveOutput {
  private readonly tails: Record<LogStream, LiveTail>;
  private readonly abort = new AbortController();
  private over = false;
  private heard = 0;
  private sinceMs = performance.now();

  constructor(private readonly options: LiveOutputOptions) {
    const { fromStart } = options;
    this.tails = { out: new LiveTail(fromStart), err: new LiveTail(fromStart) };
  }

  /** Resolves once it is heard, or cannot be: the log is whole without it. */
  async open(): Promise<void> {
    const { engine, container, tty } = this.options;
    if ((engine.known()?.socketPath ?? null) === null) {
      this.over = true;
      return;
    }
    try {
      const what = { stream: true, stdout: true, stderr: true, abortSignal: this.abort.signal };
      const stream = await engine.ask((docker) => docker.getContainer(container).attach(what));
      const frames = new LogFrameReader();
      stream.on('data', (piece: Buffer) => {
        try {
          if (tty) this.tails.out.hear(piece);
          else for (const frame of frames.push(piece)) this.tails[frame.stream].hear(frame.data);
          this.count(piece.length);
          if (!this.over) this.options.onHeard();
        } catch {
          this.close(); // no frames: the log is read by itself
        }
      });
      stream.on('error', () => this.close());
    } catch {
      this.close();
    }
  }

  logged(stream: LogStream, data: Uint8Array): void {
    if (!this.over) this.tails[stream].log(data);
  }

  /** What comes next in the log, as far as it was heard. */
  tail(stream: LogStream): Uint8Array {
    return this.over ? new Uint8Array() : this.tails[stream].tail();
  }

  close(): void {
    this.over = true;
    this.abort.abort();
  }

  private count(bytes: number): void {
    const now = performance.now();
    if (now - this.sinceMs > rateMs) {
      this.heard = 0;
      this.sinceMs = now;
    }
    this.heard += bytes;
    if (this.heard > mostBytes) this.close();
  }
}
