/** How an attempt ended, in words, and what a person can try. */
import type { AttemptView, Cause, TaskView } from '../../../core/contract/views.js';
import { isTerminalTaskState } from '../../../core/contract/states.js';
import { endings as words } from '../../strings/job.js';

const signalNumbers: Readonly<Record<number, string>> = {
  1: 'SIGHUP',
  2: 'SIGINT',
  3: 'SIGQUIT',
  4: 'SIGILL',
  6: 'SIGABRT',
  7: 'SIGBUS',
  8: 'SIGFPE',
  9: 'SIGKILL',
  11: 'SIGSEGV',
  13: 'SIGPIPE',
  14: 'SIGALRM',
  15: 'SIGTERM',
  24: 'SIGXCPU',
  25: 'SIGXFSZ',
};

/** Name of the signal an exit code above 128 stands for by the shell's custom; null for other codes. */
export function signalOfExitCode(exitCode: number): string | null {
  return exitCode > 128 && exitCode < 193 ? (signalNumbers[exitCode - 128] ?? null) : null;
}

/**
 * `exit code 1`, `signal SIGKILL`, both with "or" when the one number may mean either, both with "by" when they are two facts (time
 * was up, and SIGTERM ended it); null while it runs or when nothing is known.
 */
export function endingText(attempt: Pick<AttemptView, 'exitCode' | 'signal'>): string | null {
  if (attempt.signal !== null && attempt.exitCode !== null) {
    const alike = signalOfExitCode(attempt.exitCode) === attempt.signal;
    return (alike ? words.either : words.both)(attempt.exitCode, attempt.signal);
  }
  if (attempt.signal !== null) return words.signal(attempt.signal);
  if (attempt.exitCode === null) return null;
  const signal = signalOfExitCode(attempt.exitCode);
  return signal === null ? words.exitCode(attempt.exitCode) : words.either(attempt.exitCode, signal);
}

/** Whether a message says of the ending all that there is to it, in whatever words. */
export function saysEnding(message: string, attempt: Pick<AttemptView, 'exitCode' | 'signal'>): boolean {
  const { exitCode } = attempt;
  const signal = attempt.signal ?? (exitCode === null ? null : signalOfExitCode(exitCode));
  const says = (word: string | number) => new RegExp(`\\b${word}\\b`).test(message);
  return (exitCode === null || says(`exit code ${exitCode}`)) && (signal === null || says(signal));
}

export interface FailedAttempt {
  readonly task: TaskView;
  /** Null when the task ended without having been started. */
  readonly attempt: AttemptView | null;
}

/** The attempt a failed job is about: of the first failed task by index, its last. */
export function failedAttempt(tasks: readonly TaskView[]): FailedAttempt | null {
  const failed =
    tasks.find((task) => task.state === 'FAILED' || task.state === 'WORKER_FAILED') ??
    tasks.find((task) => isTerminalTaskState(task.state) && task.state !== 'SUCCEEDED');
  return failed === undefined ? null : { task: failed, attempt: failed.attempts.at(-1) ?? null };
}

export interface Advice {
  readonly text: string;
  /** What the button beside it does; null for none. */
  readonly action: 'edit' | 'run-again' | null;
}

/** What to try after such an end; null when there is nothing to say. `isSilent`: it printed nothing, so the log tells nothing. */
export function adviceFor(cause: Cause | null, attempt: AttemptView | null, isSilent = false): Advice | null {
  const exitCode = attempt?.exitCode ?? null;
  const signal = attempt?.signal ?? (exitCode === null ? null : signalOfExitCode(exitCode));
  switch (cause?.code) {
    case 'MEMORY_LIMIT':
      return { text: words.moreMemory(attempt?.peakMemoryBytes ?? null), action: 'edit' };
    case 'TIME_LIMIT':
      return { text: words.moreTime, action: 'edit' };
    case 'PROGRAM_NOT_FOUND':
      return { text: words.programNotFound, action: 'edit' };
    case 'PROGRAM_NOT_EXECUTABLE':
      return { text: words.programNotExecutable, action: 'edit' };
    case 'FOLDER_MISSING':
    case 'FOLDER_NOT_PERMITTED':
      return { text: words.folder, action: 'edit' };
    case 'SCHEDULING_DEADLINE':
      return { text: words.deadline, action: 'edit' };
    case 'WORKER_LOST':
    case 'REBOOTED':
    case 'SUPERVISOR_LOST':
    case 'PREEMPTED':
      return { text: words.runAgain, action: 'run-again' };
    case 'LOG_STORAGE_FULL':
      return { text: words.diskFull, action: 'run-again' };
    case 'DOCKER_STORAGE_FULL':
      return { text: words.dockerFull, action: 'run-again' };
    case 'STOPPED_BY_USER':
    case 'PARENT_ENDED':
    case 'JOB_ENDED':
      return null;
    default:
      break;
  }
  if (signal === 'SIGKILL') return { text: words.killed, action: 'edit' };
  if (signal === 'SIGSEGV' || signal === 'SIGBUS' || signal === 'SIGILL')
    return isSilent ? { text: words.crashedSilent, action: 'edit' } : { text: words.crashed, action: null };
  if (signal === 'SIGABRT')
    return isSilent ? { text: words.abortedSilent, action: 'edit' } : { text: words.aborted, action: null };
  if (attempt?.exitCode === 2) return { text: words.arguments, action: 'edit' };
  if (attempt === null) return null;
  return isSilent ? { text: words.saySomething, action: 'edit' } : { text: words.readLog, action: null };
}
