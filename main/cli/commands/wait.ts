/** `job wait`: until jobs have ended; exits as the first of them that failed. */
import { RefusalError, refusal } from '../../../core/contract/errors.js';
import { durationExpected, formatDuration, parseDuration } from '../../../core/formats/durations.js';
import type { Context } from '../context.js';
import { endSentence, jobEnd } from '../ending.js';
import { exitCodes } from '../exit-codes.js';
import { isSettled, watchJob, type WatchedJob } from '../job-watch.js';
import { resolveTargets } from '../targets.js';

export interface WaitOptions {
  readonly timeout?: string;
  readonly stdin?: boolean;
}

export async function waitCommand(
  context: Context,
  named: readonly string[],
  options: WaitOptions,
): Promise<number> {
  const { output } = context;
  const timeoutMs = options.timeout === undefined ? null : parseTimeout(options.timeout);
  const ids = await resolveTargets(context, named, options.stdin === true);
  const timeUp = timer(timeoutMs);
  const ended: WatchedJob[] = [];
  try {
    const all = Promise.all(
      ids.map((id) => watchJob(context.link, id, isSettled).then((job) => ended.push(job))),
    );
    if ((await Promise.race([all, timeUp.over])) === 'time is up') {
      const open = ids.filter((id) => !ended.some((job) => job.summary.id === id));
      await output.note(`after ${formatDuration(timeoutMs ?? 0)} not ended: ${open.join(', ')}`);
      if (output.json) await output.value(ended.map(jobEnd));
      return exitCodes.timeLimit;
    }
  } finally {
    timeUp.clear();
  }
  const inOrder = ids.flatMap((id) => ended.filter((job) => job.summary.id === id));
  const ends = inOrder.map(jobEnd);
  for (const job of inOrder) {
    const sentence = endSentence(job.summary);
    if (sentence !== null) await output.note(sentence);
    if (!output.json) await output.text(`${job.summary.id} ${job.summary.state}\n`);
  }
  if (output.json) await output.value(ends);
  return ends.find((end) => end.exitCode !== 0)?.exitCode ?? exitCodes.ok;
}

function parseTimeout(text: string): number {
  const ms = parseDuration(text);
  if (ms !== undefined) return ms;
  throw new RefusalError(
    refusal('INVALID_ARGUMENT', `--timeout ${text}: expected ${durationExpected}.`, [
      { field: '--timeout', value: text, expected: durationExpected },
    ]),
  );
}

function timer(ms: number | null): { over: Promise<'time is up'>; clear(): void } {
  let handle: NodeJS.Timeout | undefined;
  const over = new Promise<'time is up'>((resolve) => {
    // Node takes at most 2^31 - 1 ms; a longer wait than 24 days is none.
    if (ms !== null && ms < 2 ** 31) handle = setTimeout(() => resolve('time is up'), ms);
  });
  return { over, clear: () => clearTimeout(handle) };
}
