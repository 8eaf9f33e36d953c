/** `job run`: submits, follows, and ends as the job ends. */
import { randomUUID } from 'node:crypto';
import { isTerminalJobState } from '../../../core/contract/states.js';
import { RefusalError } from '../../../core/contract/errors.js';
import { dryRunCommand } from './explain.js';
import type { PrefixChoice } from '../arguments.js';
import type { Context } from '../context.js';
import { endSentence, jobEnd, waitSentence, warningSentences } from '../ending.js';
import { exitCodes, jobExitCode } from '../exit-codes.js';
import { interruptExitCode, type InterruptSignal } from '../interrupts.js';
import { JobLogs } from '../job-logs.js';
import { isSettled, watchJob, type WatchedJob } from '../job-watch.js';
import { buildRunRequest, type RunRequest } from '../run-request.js';

/** How long `--no-wait` looks at a new job for a reason why it waits. */
const firstLookMs = 1_500;
/** Silence after the end of a job, while its processes are not gone yet, before a person is told. */
const tellLingeringMs = 3_000;

export async function runCommand(
  context: Context,
  words: readonly string[],
  prefix: PrefixChoice,
): Promise<number> {
  const built = buildRunRequest(words, context);
  if (!built.ok) throw new RefusalError(built.refusal);
  for (const flag of built.value.ignored) await context.output.note(`${flag} has no effect here.`);
  if (built.value.options.dryRun) return await dryRunCommand(context, built.value);
  return built.value.options.noWait
    ? await submitOnly(context, built.value)
    : await submitAndFollow(context, built.value, prefix);
}

async function submit(context: Context, run: RunRequest): Promise<string> {
  // One id for all tries: a submission whose answer was lost is not made twice.
  const requestId = randomUUID();
  const answer = await context.link.persist((connection) =>
    connection.call('job.submit', { requestId, request: run.request }),
  );
  for (const warning of answer.warnings) await context.output.note(warning);
  if (answer.existed) await context.output.note(`${answer.jobId} exists already and was kept.`);
  return answer.jobId;
}

async function submitOnly(context: Context, run: RunRequest): Promise<number> {
  const { output } = context;
  const jobId = await submit(context, run);
  const job = await firstLook(context, jobId);
  if (output.json) {
    await output.value({
      jobId,
      state: job.summary.state,
      waiting: job.summary.waiting,
      cause: job.summary.cause,
    });
  } else {
    await output.text(`${jobId}\n`);
  }
  if (job.summary.state === 'PENDING') await output.note(waitSentence(job.summary));
  const end = endSentence(job.summary);
  if (isTerminalJobState(job.summary.state) && end !== null) await output.note(end);
  return exitCodes.ok;
}

/** The job once the scheduler has looked at it, or after a moment as it is. */
async function firstLook(context: Context, jobId: string): Promise<WatchedJob> {
  let last: WatchedJob | null = null;
  let enough = false;
  let timer: NodeJS.Timeout | undefined;
  const look = (job: WatchedJob): boolean => {
    last = job;
    return enough || job.summary.state !== 'PENDING' || job.summary.waiting !== null;
  };
  const seen = watchJob(context.link, jobId, look, 'some');
  const timeUp = new Promise<WatchedJob | null>((resolve) => {
    timer = setTimeout(() => {
      enough = true;
      resolve(last);
    }, firstLookMs);
  });
  try {
    return (await Promise.race([seen, timeUp])) ?? (await seen);
  } finally {
    clearTimeout(timer);
  }
}

async function submitAndFollow(context: Context, run: RunRequest, prefix: PrefixChoice): Promise<number> {
  const { output, link } = context;
  const leave = createLeave(context, run.options.terminateOnExit);
  try {
    const jobId = await Promise.race([submit(context, run), leave.atOnce]);
    if (typeof jobId === 'number') return jobId;
    await output.note(`job ${jobId}`);
    leave.submitted(jobId);
    const logs = new JobLogs({
      link,
      output,
      prefix,
      failed: (uid, error) => void noteLogFailure(context, uid, error),
    });
    const ended = followToEnd(context, jobId, logs);
    const outcome = await Promise.race([ended, leave.atOnce]);
    if (typeof outcome === 'number') return outcome;
    const end = endSentence(outcome.summary);
    if (end !== null) await output.note(end);
    for (const warning of warningSentences(outcome.tasks.values())) await output.note(warning);
    const code = leave.exitCode() ?? jobExitCode(outcome.summary, [...outcome.tasks.values()]);
    if (output.json) await output.value({ ...jobEnd(outcome), exitCode: code });
    return code;
  } finally {
    leave.dispose();
  }
}

async function followToEnd(context: Context, jobId: string, logs: JobLogs): Promise<WatchedJob> {
  let lingering: NodeJS.Timeout | undefined;
  let saidWaiting = '';
  const saidBuilding = new Set<string>();
  try {
    const job = await watchJob(context.link, jobId, (state) => {
      logs.update(state);
      saidWaiting = noteWaiting(context, state, saidWaiting);
      noteBuilding(context, state, saidBuilding);
      if (isSettled(state)) return true;
      if (isTerminalJobState(state.summary.state)) {
        lingering ??= setTimeout(
          () =>
            void context.output.note(`${jobId} has ended; waiting until the last of its processes are gone.`),
          tellLingeringMs,
        );
      }
      return false;
    });
    await logs.drained();
    return job;
  } finally {
    clearTimeout(lingering);
  }
}

/** Says why the job waits, once for each kind of reason. */
function noteWaiting(context: Context, job: WatchedJob, said: string): string {
  const { summary } = job;
  if (summary.state !== 'PENDING' || summary.waiting === null || summary.waiting.code === said) return said;
  void context.output.note(waitSentence(summary));
  return summary.waiting.code;
}

/** Says what holds up an attempt that is being made ready, as a registry that does not answer. */
function noteBuilding(context: Context, { tasks }: WatchedJob, said: Set<string>): void {
  for (const { attempts } of tasks.values())
    for (const { uid, state, warnings } of attempts.slice(-1))
      for (const { message } of state === 'BUILDING' ? warnings : []) {
        if (said.has(uid + message)) continue;
        said.add(uid + message);
        void context.output.note(message);
      }
}

async function noteLogFailure(context: Context, uid: string, error: unknown): Promise<void> {
  await context.output.note(
    `the log of attempt ${uid} cannot be read: ${error instanceof Error ? error.message : String(error)}`,
  );
}

interface Leave {
  /** Resolves with the exit code when irisctl shall end without waiting any longer. */
  readonly atOnce: Promise<number>;
  submitted(jobId: string): void;
  /** What to exit with when the job was stopped by a signal to us; undefined otherwise. */
  exitCode(): number | undefined;
  dispose(): void;
}

/**
 * Signals to us: the first stops the job and lets it end in view, the second leaves at once. A lost terminal (SIGHUP) leaves the job
 * running, as a lost connection does.
 */
function createLeave(context: Context, terminateOnExit: boolean): Leave {
  const { output, link } = context;
  let first: InterruptSignal | null = null;
  let jobId: string | null = null;
  let leaveNow: (code: number) => void = () => undefined;
  const atOnce = new Promise<number>((resolve) => (leaveNow = resolve));

  function stop(id: string, signal: InterruptSignal): void {
    const requestId = randomUUID();
    void output.note(
      `stopping ${id}; ${signal === 'SIGINT' ? 'Ctrl-C' : signal} again leaves without waiting for its end.`,
    );
    link
      .persist((connection) => connection.call('job.stop', { requestId, jobIds: [id] }))
      .catch(async (error: unknown) => {
        await output.note(
          `${id} could not be stopped: ${error instanceof Error ? error.message : String(error)}`,
        );
        leaveNow(interruptExitCode(signal));
      });
  }

  const dispose = context.interrupts.listen((signal) => {
    const leavesRunning = signal === 'SIGHUP' || !terminateOnExit;
    if (first !== null || (leavesRunning && jobId !== null)) {
      if (leavesRunning && jobId !== null)
        void output.note(`${jobId} goes on; see it with: irisctl job logs -f ${jobId}`);
      leaveNow(interruptExitCode(first ?? signal));
      return;
    }
    first = signal;
    if (jobId !== null) stop(jobId, signal);
    else
      void output.note('not submitted yet; stopping as soon as the host has answered. Again leaves at once.');
  });

  return {
    atOnce,
    submitted(id) {
      jobId = id;
      if (first === null) return;
      if (first === 'SIGHUP' || !terminateOnExit) leaveNow(interruptExitCode(first));
      else stop(id, first);
    },
    exitCode: () => (first === null ? undefined : interruptExitCode(first)),
    dispose,
  };
}
