/** Follows the logs of all attempts of a job as they come: a task's attempts one after the other, tasks side by side. */
import type { AttemptView, TaskView } from '../../core/contract/views.js';
import { logCutOf, type LogCut } from '../../core/formats/log-cut.js';
import { followAttemptLog, whileAway } from './attempt-log.js';
import type { PrefixChoice } from './arguments.js';
import type { HostLink } from './host-link.js';
import type { WatchedJob } from './job-watch.js';
import type { Output } from './output.js';
import { lineSink, rawSink, type LogSink } from './task-output.js';

const lineFeed = 0x0a;
/** Logs read at the same time; the others wait their turn. */
const maxAtOnce = 200;
const usualAwayMs = 30_000;
/** It was reached again when nothing was said against it for so long. */
const wellAfterMs = 60_000;

const cutBy = {
  disk: 'the disk was full here',
  engine: 'the Docker Engine was restarted here',
  unreadable: 'the Docker Engine cannot read its log from here on',
} as const;

export interface JobLogsOptions {
  readonly link: HostLink;
  readonly output: Output;
  readonly prefix: PrefixChoice;
  readonly only?: 'out' | 'err' | undefined;
  /** Attempts not wanted are skipped; all are by default. */
  readonly wanted?: (task: TaskView, attempt: AttemptView) => boolean;
  /** Replaces the sink a task's log goes to. */
  readonly makeSink?: (task: TaskView, attempt: AttemptView, numTasks: number) => LogSink;
  /** Writes what comes before the following and says where it begins; null: at the start. Done again when it could not be read. */
  readonly begin?: (
    attempt: AttemptView,
    sink: LogSink,
  ) => Promise<{ readonly out: number; readonly err: number } | null>;
  /** Only what was written at or after that time. */
  readonly sinceMs?: number | undefined;
  /** False: logs are read to their present end only. */
  readonly follow?: boolean;
  /** An ended attempt's log that cannot be reached is waited for so long; one that may go on, without end. */
  readonly awayMs?: number | undefined;
  /** Called once for a log that cannot be read. */
  readonly failed: (attemptUid: string, error: unknown) => void;
}

export class JobLogs {
  private readonly known = new Set<string>();
  private readonly chains = new Map<number, Promise<void>>();
  /** By attempt; told late for one that runs, by a later update. */
  private readonly cuts = new Map<string, LogCut>();
  /** Attempts that have ended. */
  private readonly over = new Set<string>();
  private running = 0;
  private readonly queue: (() => void)[] = [];
  private leave: () => void = () => undefined;
  /** Resolves once nobody reads what is written any more. */
  readonly abandoned = new Promise<void>((resolve) => {
    this.leave = resolve;
  });

  constructor(private readonly options: JobLogsOptions) {}

  /** Begins to follow attempts not seen before. */
  update(job: WatchedJob): void {
    for (const task of job.tasks.values()) {
      for (const attempt of task.attempts) {
        const cut = logCutOf(attempt.warnings);
        if (cut !== null) this.cuts.set(attempt.uid, cut);
        if (attempt.finishedAtMs !== null) this.over.add(attempt.uid);
        if (this.known.has(attempt.uid)) continue;
        this.known.add(attempt.uid);
        if (this.options.wanted?.(task, attempt) === false) continue;
        const before = this.chains.get(task.index) ?? Promise.resolve();
        this.chains.set(
          task.index,
          before.then(() => this.follow(task, attempt, job.summary.numTasks)),
        );
      }
    }
  }

  /** Resolves when every log known is read to its end. */
  async drained(): Promise<void> {
    await Promise.all(this.chains.values());
  }

  private async follow(task: TaskView, attempt: AttemptView, numTasks: number): Promise<void> {
    if (this.running >= maxAtOnce) await new Promise<void>((resolve) => this.queue.push(resolve));
    this.running += 1;
    const { link, output, prefix, only, follow = true } = this.options;
    const stop = () => output.outputGone && only !== 'err';
    const waits = this.patience(attempt.uid);
    try {
      const sink =
        this.options.makeSink?.(task, attempt, numTasks) ?? makeSink(output, prefix, task.index, numTasks);
      const from = await whileAway({ waits, stop }, async () => this.options.begin?.(attempt, sink) ?? null);
      await followAttemptLog({
        link,
        uid: attempt.uid,
        sink,
        follow,
        from,
        sinceMs: this.options.sinceMs,
        only,
        cut: () => this.cuts.get(attempt.uid) ?? null,
        cutReached: async (withinLine) => {
          // On a terminal a line of its own.
          if (withinLine && sink.inPieces === true) await output.bytes('err', Buffer.of(lineFeed));
          const by = this.cuts.get(attempt.uid)?.by ?? 'disk';
          await output.note(`${cutBy[by]}: output of attempt ${attempt.uid} may be missing.`);
        },
        stop,
        waits,
      });
    } catch (error) {
      this.options.failed(attempt.uid, error);
    } finally {
      if (stop()) this.leave();
      this.running -= 1;
      this.queue.shift()?.();
    }
  }

  /** Whether to wait for a log whose machine cannot be asked, which is said once each time that it is away. */
  private patience(uid: string): (sentence: string) => boolean {
    const { follow = true, output, awayMs = usualAwayMs } = this.options;
    let [sinceMs, lastMs] = [0, Number.NEGATIVE_INFINITY];
    return (sentence) => {
      if (!follow) return false;
      const now = performance.now();
      if (now - lastMs > wellAfterMs) {
        sinceMs = now;
        void output.note(sentence);
      }
      lastMs = now;
      return !this.over.has(uid) || now - sinceMs < awayMs;
    };
  }
}

/** One task's bytes go through as they are; several tasks' lines stay whole, on a terminal with `[index] ` before them. */
export function makeSink(output: Output, prefix: PrefixChoice, index: number, numTasks: number): LogSink {
  const wanted = prefix ?? (output.isTerminal && numTasks > 1);
  if (!wanted && numTasks === 1) return rawSink(output);
  return lineSink(output, wanted ? `[${index}] ` : '');
}
