/** One long-lived call of nvidia-smi that prints a line a card every two seconds: far cheaper than a call each time. */
import { parseSampleLine, sampleColumns, type NvidiaSample } from '../../core/formats/nvidia-smi/csv.js';
import { isWarning } from '../../core/formats/nvidia-smi/xml.js';
import type { CardsCall, CardsTool } from './nvidia-tool.js';

export interface GpuLoopOptions {
  readonly tool: CardsTool;
  /** Cards to ask about; null: all. */
  readonly ids: () => readonly string[] | null;
  readonly onSample: (sample: NvidiaSample) => void;
  /** It said something else, or ended: what is wrong is for a look at everything to find out. */
  readonly onTrouble: () => void;
  readonly everyMs?: number | undefined;
}

const defaultEveryMs = 2000;
const firstPauseMs = 2000;
const longestPauseMs = 60_000;
const longestLine = 4096;

export class GpuLoop {
  private call: CardsCall | null = null;
  private wanted = false;
  private pauseMs = firstPauseMs;
  private again: NodeJS.Timeout | null = null;
  private watchdog: NodeJS.Timeout | null = null;

  constructor(private readonly options: GpuLoopOptions) {}

  follow(on: boolean): void {
    if (this.wanted === on) return;
    this.wanted = on;
    if (on) this.start();
    else this.stop();
  }

  /** With the cards there are now. */
  restart(): void {
    if (!this.wanted) return;
    this.stop();
    this.start();
  }

  private start(): void {
    const { tool, everyMs = defaultEveryMs } = this.options;
    if (this.call !== null || tool.hangs() !== null) {
      if (this.call === null) this.later();
      return;
    }
    const ids = this.options.ids();
    let rest = '';
    const call: CardsCall = tool.follow(
      [
        `--query-gpu=${sampleColumns.join(',')}`,
        '--format=csv,noheader,nounits',
        `--loop-ms=${everyMs}`,
        ...(ids === null ? [] : ['-i', ids.join(',')]),
      ],
      {
        text: (piece) => {
          if (call !== this.call) return;
          this.watch(call, tool.timeoutMs);
          const lines = (rest + piece).split('\n');
          rest = (lines.pop() ?? '').slice(-longestLine);
          for (const line of lines) this.take(line);
        },
        ended: () => this.ended(call),
      },
    );
    this.call = call;
    this.watch(call, tool.timeoutMs, () => {
      // Before its first word it may have to wake the cards; a look tells whether they are silent.
      this.watch(call, tool.longestMs - tool.timeoutMs - everyMs);
      this.options.onTrouble();
    });
  }

  private take(line: string): void {
    // One that the driver says with each answer is no reason to look at everything each time.
    if (line.trim() === '' || isWarning(line.trim())) return;
    const sample = parseSampleLine(line);
    if (sample === null) {
      this.options.onTrouble();
      return;
    }
    this.pauseMs = firstPauseMs;
    this.options.onSample(sample);
  }

  /** Silent for longer than that it hangs, unless something else is to be done first. */
  private watch(call: CardsCall, patienceMs: number, first?: () => void): void {
    if (this.watchdog !== null) clearTimeout(this.watchdog);
    const over = (): void => {
      call.giveUp();
      this.ended(call);
    };
    this.watchdog = setTimeout(
      () => {
        if (call === this.call) (first ?? over)();
      },
      (this.options.everyMs ?? defaultEveryMs) + patienceMs,
    ).unref();
  }

  private ended(call: CardsCall): void {
    if (call !== this.call) return;
    this.call = null;
    if (this.watchdog !== null) clearTimeout(this.watchdog);
    if (!this.wanted) return;
    this.options.onTrouble();
    this.later();
  }

  private later(): void {
    if (this.again !== null) clearTimeout(this.again);
    this.again = setTimeout(() => {
      this.again = null;
      if (this.wanted) this.start();
    }, this.pauseMs).unref();
    this.pauseMs = Math.min(longestPauseMs, this.pauseMs * 2);
  }

  private stop(): void {
    if (this.again !== null) clearTimeout(this.again);
    if (this.watchdog !== null) clearTimeout(this.watchdog);
    this.again = null;
    const call = this.call;
    this.call = null;
    call?.end();
  }
}
