/** The switch that writes each round down, for a fault in a decision to be looked at elsewhere. Off unless somebody turns it on. */
import { createWriteStream, mkdirSync, openSync, type WriteStream } from 'node:fs';
import path from 'node:path';
import { constants, createGzip, type Gzip } from 'node:zlib';
import { RefusalError, refusal } from '../../core/contract/errors.js';
import { RoundEncoder, type RecordedRound } from '../../core/scheduling/record.js';
import { describeError, type Logger } from './logger.js';

/** A record ends there, before it is packed: it is turned on for minutes, and forgotten. */
const usualMaxBytes = 1 << 30;

interface Open {
  readonly path: string;
  readonly file: WriteStream;
  readonly gzip: Gzip;
  readonly encoder: RoundEncoder;
  bytes: number;
}

export class RoundRecorder {
  private open: Open | null = null;

  constructor(
    private readonly folder: string,
    private readonly parts: {
      readonly logger: Logger;
      readonly nowMs: () => number;
      readonly maxRecordBytes?: number;
    },
  ) {}

  /** The file written to; null while it is off. */
  get path(): string | null {
    return this.open?.path ?? null;
  }

  get isOn(): boolean {
    return this.open !== null;
  }

  /** Turning on what is on goes on with the same file. Resolves when the file is whole after turning off; STORAGE_FAILED when none can be made. */
  async set(on: boolean): Promise<string | null> {
    if (on) this.start();
    else await this.stop();
    return this.path;
  }

  note(round: RecordedRound): void {
    const { open } = this;
    if (open === null) return;
    const line = `${open.encoder.encode(round)}\n`;
    open.bytes += line.length;
    open.gzip.write(line);
    if (open.bytes < (this.parts.maxRecordBytes ?? usualMaxBytes)) return;
    this.parts.logger.warn('The record of rounds has become too long and was ended', { path: open.path });
    void this.stop();
  }

  async stop(): Promise<void> {
    const { open } = this;
    this.open = null;
    if (open === null) return;
    await new Promise<void>((resolve) => {
      open.file.once('close', () => resolve());
      open.gzip.end();
    });
  }

  private start(): void {
    if (this.open !== null) return;
    const time = new Date(this.parts.nowMs()).toISOString().replaceAll(':', '-');
    const file = path.join(this.folder, `rounds-${time}.jsonl.gz`);
    const stream = createWriteStream(file, { fd: this.openFile(file) });
    // Each line reaches the file by itself: a host that is killed leaves a record that can be read to there.
    const gzip = createGzip({ flush: constants.Z_SYNC_FLUSH });
    const failed = (error: unknown): void => {
      this.parts.logger.error('The record of rounds could not be written', {
        path: file,
        ...describeError(error),
      });
      if (this.open?.file === stream) this.open = null;
      stream.destroy();
    };
    stream.on('error', failed);
    gzip.on('error', failed);
    gzip.pipe(stream);
    this.open = { path: file, file: stream, gzip, encoder: new RoundEncoder(), bytes: 0 };
  }

  /** At once, so that who turns it on learns that it cannot be. */
  private openFile(file: string): number {
    try {
      mkdirSync(this.folder, { recursive: true, mode: 0o700 });
      return openSync(file, 'wx', 0o600);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      const message = `The record of rounds ${file} cannot be made: ${reason}. Make room or give access to ${this.folder}, and turn it on again.`;
      throw new RefusalError(refusal('STORAGE_FAILED', message));
    }
  }
}
