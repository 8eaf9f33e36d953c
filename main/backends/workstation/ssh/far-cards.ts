/**
 * The cards of a machine reached by SSH: looked at each minute and when something moves, and followed in between while somebody looks or
 * attempts hold some, as the cards of this machine are.
 */
import { createGpuReader, type GpuReader, type GpuReading } from '../../../machine/gpus.js';
import { FarCardsTool, FarErrorLog } from './far-cards-tool.js';
import type { FarText, FarWord } from './far-words.js';
import { cardsFile, type MachineFacts } from './machine-memory.js';

export interface FarCardsOptions {
  readonly name: string;
  readonly home: string;
  readonly nowMs: () => number;
  readonly monotonicMs: () => number;
  /** Each time they were read, in whatever way; `whole`: everything was looked at. */
  readonly onReading: (reading: GpuReading, whole: boolean) => void;
  readonly loopMs?: number | undefined;
}

const lookEveryMs = 60_000;
/** A look at all cards is not made again sooner, whatever moves. */
const betweenLooksMs = 2000;

export class FarCards {
  private readonly tool = new FarCardsTool(() => this.lookSoon());
  private readonly errors = new FarErrorLog();
  private reader: GpuReader | null = null;
  private bootId: string | null = null;
  private isConnected = false;
  private lookedMs = Number.NEGATIVE_INFINITY;
  private looking: Promise<void> | null = null;
  private later: NodeJS.Timeout | null = null;
  private following = false;

  constructor(private readonly options: FarCardsOptions) {}

  connected(send: (...texts: readonly FarText[]) => void, { bootId, memoryBytes }: MachineFacts): void {
    this.tool.connected(send);
    this.isConnected = true;
    if (this.reader === null || this.bootId !== bootId) this.makeReader(bootId, memoryBytes);
    this.lookedMs = Number.NEGATIVE_INFINITY;
    this.following = false;
  }

  disconnected(): void {
    this.isConnected = false;
    this.tell(false);
    this.tool.disconnected();
  }

  /** To be called about every second. */
  tick(follow: boolean): void {
    if (!this.isConnected) return;
    if (this.options.monotonicMs() - this.lookedMs >= lookEveryMs) void this.look();
    this.tell(follow);
  }

  word(word: FarWord): void {
    if (word.kind !== 'kernel') this.tool.word(word);
    else if (this.errors.word(word)) void this.look();
  }

  /** Resolves when everything was looked at once more. */
  look(): Promise<void> {
    if (this.later !== null) clearTimeout(this.later);
    this.later = null;
    this.lookedMs = this.options.monotonicMs();
    this.looking ??= this.read().finally(() => {
      this.looking = null;
    });
    return this.looking;
  }

  release(uuid: string): boolean {
    const known = this.reader?.release?.(uuid) ?? false;
    if (known) void this.look().then(() => this.look());
    return known;
  }

  close(): void {
    this.disconnected();
    if (this.later !== null) clearTimeout(this.later);
    this.reader?.close?.();
  }

  private async read(): Promise<void> {
    const reading = await this.reader?.read((pid) => this.tool.attemptOf(pid));
    // What was cut off says nothing of the cards.
    if (reading !== undefined && this.isConnected) this.options.onReading(reading, true);
  }

  private tell(follow: boolean): void {
    if (this.following === follow) return;
    this.following = follow;
    this.reader?.follow?.(follow, {
      reading: (reading) => {
        if (this.isConnected) this.options.onReading(reading, false);
      },
      look: () => this.lookSoon(),
    });
  }

  private lookSoon(): void {
    if (!this.isConnected || this.later !== null) return;
    const waitMs = Math.max(0, this.lookedMs + betweenLooksMs - this.options.monotonicMs());
    this.later = setTimeout(() => void this.look(), waitMs);
    this.later.unref();
  }

  private makeReader(bootId: string, memoryBytes: number): void {
    const { name, home, nowMs, loopMs } = this.options;
    this.reader?.close?.();
    this.bootId = bootId;
    const userOf = (pid: number): string | null => this.tool.userOf(pid);
    this.reader = createGpuReader({
      nowMs,
      healthFile: cardsFile(home, name),
      kernelLog: this.errors,
      elsewhere: { tool: this.tool, bootId, memoryBytes, userOf },
      ...(loopMs === undefined ? {} : { loopMs }),
    });
  }
}
