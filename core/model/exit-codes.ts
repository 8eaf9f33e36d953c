/** Exit codes as a shell would show them: the command's own, 128+n for a signal, 124 for a time limit, 125-127 for a failed start. */
import type { Cause } from '../contract/views.js';
import type { Task } from './entities.js';

/** Linux numbers; the ones that can end a process. */
const signalNumbers: Readonly<Record<string, number>> = {
  SIGHUP: 1,
  SIGINT: 2,
  SIGQUIT: 3,
  SIGILL: 4,
  SIGTRAP: 5,
  SIGABRT: 6,
  SIGBUS: 7,
  SIGFPE: 8,
  SIGKILL: 9,
  SIGUSR1: 10,
  SIGSEGV: 11,
  SIGUSR2: 12,
  SIGPIPE: 13,
  SIGALRM: 14,
  SIGTERM: 15,
  SIGSTKFLT: 16,
  SIGXCPU: 24,
  SIGXFSZ: 25,
  SIGVTALRM: 26,
  SIGPROF: 27,
  SIGIO: 29,
  SIGPWR: 30,
  SIGSYS: 31,
};

/** 128+n; null for a name that is no signal that ends a process. */
export function exitCodeOfSignal(signal: string): number | null {
  const number = signalNumbers[signal];
  return number === undefined ? null : 128 + number;
}

export const timeLimitExitCode = 124;

const codeByCause: Partial<Record<Cause['code'], number>> = {
  FOLDER_MISSING: 125,
  FOLDER_NOT_PERMITTED: 125,
  STAGING_FAILED: 125,
  START_FAILED: 125,
  DOCKER_STORAGE_FULL: 125,
  PROGRAM_NOT_EXECUTABLE: 126,
  PROGRAM_NOT_FOUND: 127,
};

/** Exit code of a failed task for its job; null when there is none (lost with its worker, for one). */
export function exitCodeOfTask(task: Task): number | null {
  if (task.cause?.code === 'TIME_LIMIT') return timeLimitExitCode;
  if (task.exitCode !== null) return task.exitCode;
  return task.cause === null ? null : (codeByCause[task.cause.code] ?? null);
}
