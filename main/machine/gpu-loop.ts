/** One long-lived call of nvidia-smi that prints a line a card every two seconds: far cheaper than a call each time. */
import type { ChildProcess } from 'node:child_process';
import { parseSampleLine, sampleColumns, type NvidiaSample } from '../../core/formats/nvidia-smi/csv.js';
import type { NvidiaTool } from './nvidia-tool.js';

export interface GpuLoopOptions {
  readonly tool: NvidiaTool;
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
  private child: ChildProcess | null = null;
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
    if (this.child !== null || tool.hangs() !== null) {
      if (this.child === null) this.later();
      return;
    }
    const ids = this.options.ids();
    const child = tool.start(
      [
        `--query-gpu=${sampleColumns.join(',')}`,
        '--format=csv,noheader,nounits',
        `--loop-ms=${everyMs}`,
        ...(ids === null ? [] : ['-i', ids.join(',')]),
      ],
      () => this.ended(child),
    );
    this.child = child;
    let rest = '';
    child.stdout?.on('data', (piece: Buffer) => {
      if (child !== this.child) return;
      this.watch(child, everyMs);
      const lines = (rest + piece.toString('latin1')).split('\n');
      rest = (lines.pop() ?? '').slice(-longestLine);
      for (const line of lines) this.take(line);
    });
    // Nothing waits for it, so it must not fill.
    child.stderr?.resume();
    child.once('close', () => this.ended(child));
    this.watch(child, everyMs);
  }

  private take(line: string): void {
    if (line.trim() === '') return;
    const sample = parseSampleLine(line);
    if (sample === null) {
      this.options.onTrouble();
      return;
    }
    this.pauseMs = firstPauseMs;
    this.options.onSample(sample);
  }

  /** Silent for that long it hangs. */
  private watch(child: ChildProcess, everyMs: number): void {
    if (this.watchdog !== null) clearTimeout(this.watchdog);
    this.watchdog = setTimeout(() => {
      if (child !== this.child) return;
      this.options.tool.giveUp(child);
      this.ended(child);
    }, everyMs + this.options.tool.timeoutMs).unref();
  }

  private ended(child: ChildProcess): void {
    if (child !== this.child) return;
    this.child = null;
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
    const child = this.child;
    this.child = null;
    if (child === null) return;
    child.kill('SIGKILL');
    child.unref();
    child.stdout?.destroy();
    child.stderr?.destroy();
  }
}
