/** From what was seen of an ended attempt to its state and its cause. Pure. */
import os from 'node:os';
import { formatSize } from '../../../../core/formats/sizes.js';
import { formatDuration } from '../../../../core/formats/durations.js';
import { withLastWords } from '../../../../core/formats/last-words.js';
import type { Cause } from '../../../../core/contract/views.js';
import type { StopReason } from '../../backend.js';
import type { LastWords } from './last-words.js';

export interface EndFacts {
  /** Code as a shell gives it: 128 + n for signal n. Null: it ended without one being written. */
  readonly code: number | null;
  /** The supervisor's own time limit struck. */
  readonly timedOut: boolean;
  /** The stop that was under way when it ended. */
  readonly stop: { readonly reason: StopReason; readonly signals: ReadonlySet<string> } | null;
  readonly memory: { readonly limitBytes: number; readonly measured: boolean } | null;
  readonly timeLimitMs: number | null;
  /** `ended`: it was ended because of that, so that its exit code says nothing. */
  readonly deviceFault?: { readonly reason: string; readonly ended: boolean } | null;
  /** Path of a full disk its log lies on. */
  readonly fullDisk: string | null;
  /** Of one that failed. */
  readonly words?: LastWords | null;
  readonly program: string;
  /** The cause when there is no code. */
  readonly otherwise: Cause;
}

export interface Outcome {
  readonly state: 'SUCCEEDED' | 'FAILED' | 'KILLED' | 'WORKER_FAILED';
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly cause: Cause | null;
}

const signalNames = new Map(Object.entries(os.constants.signals).map(([name, number]) => [number, name]));

/** The signal a shell's exit code could stand for. */
export function signalOf(code: number | null): string | null {
  return code === null || code <= 128 ? null : (signalNames.get(code - 128) ?? null);
}

export function outcomeOf(facts: EndFacts): Outcome {
  const { code } = facts;
  const signal = signalOf(code);
  const ended = (state: Outcome['state'], cause: Cause): Outcome => ({
    state,
    exitCode: code,
    signal,
    cause,
  });
  // What the kernel ended for want of memory may have been one process of many, long before the limit of time struck.
  const timedOut = facts.timedOut || facts.stop?.reason === 'timeout';
  if (facts.memory !== null && code !== 0 && (facts.memory.measured || !timedOut)) {
    const how = facts.memory.measured ? 'used more than' : 'reached';
    return ended('FAILED', {
      code: 'MEMORY_LIMIT',
      message: `The task ${how} its memory limit of ${formatSize(facts.memory.limitBytes)} and was ended. Ask for more memory, or use less.`,
    });
  }
  if (timedOut) {
    const limit = facts.timeLimitMs === null ? '' : ` of ${formatDuration(facts.timeLimitMs)}`;
    return ended('FAILED', {
      code: 'TIME_LIMIT',
      message: `The task reached its time limit${limit} and was ended${leftWith(code, signal)}.`,
    });
  }
  if (facts.stop !== null) return ended('KILLED', stopCause(facts.stop.reason, signal, facts.stop.signals));
  const { deviceFault = null } = facts;
  if (deviceFault !== null && (deviceFault.ended || code !== 0))
    return ended('WORKER_FAILED', { code: 'GPU_LOST', message: deviceFault.reason });
  if (code === 0) return { state: 'SUCCEEDED', exitCode: 0, signal: null, cause: null };
  if (code === null) return ended('WORKER_FAILED', facts.otherwise);
  if (facts.fullDisk !== null) {
    return ended('FAILED', {
      code: 'LOG_STORAGE_FULL',
      message: `${facts.program} ended with exit code ${code}, and the disk that holds its log (${facts.fullDisk}) is full.`,
    });
  }
  const last = facts.words?.last ?? null;
  if (signal !== null) {
    return ended('FAILED', {
      code: 'EXIT_OR_SIGNAL',
      message: withLastWords(
        `${facts.program} ended with exit code ${code}, or by the signal ${signal}${signalHint(signal)}: the two look the same here.`,
        last,
      ),
    });
  }
  return {
    state: 'FAILED',
    exitCode: code,
    signal: null,
    cause: { code: 'EXIT_CODE', message: exitMessage(facts.program, code, facts.words) },
  };
}

/** Of one that succeeded all the same; null: how it ended says it, or nothing of it was. */
export function killedForMemory(
  killed: boolean,
  code: number | null,
  limitBytes: number | null,
): Cause | null {
  if (!killed || code !== 0 || limitBytes === null) return null;
  const message = `The system ended a process of the task because its memory limit of ${formatSize(limitBytes)} was reached, and its command ended with exit code 0 all the same: what it has made may lack something.`;
  return { code: 'MEMORY_LIMIT', message };
}

/** The attempt's exit code says only that time was up. */
function leftWith(code: number | null, signal: string | null): string {
  if (signal !== null) return ` by ${signal}`;
  return code === null ? '' : `; its command left with exit code ${code}`;
}

export const supervisorLost: Cause = {
  code: 'SUPERVISOR_LOST',
  message:
    'The process that watched over the task was killed from outside, so how the task ended is not known; what was left of it was ended.',
};

export const rebooted: Cause = {
  code: 'REBOOTED',
  message: 'The machine was started anew while the task ran.',
};

/** As the original has it, with the line that most often tells why. */
function exitMessage(program: string, code: number, words: LastWords | null | undefined): string {
  const said = `${program} ended with exit code ${code}`;
  const { last, ofNoRoom } = words ?? { last: null, ofNoRoom: null };
  const see = last === null ? ' (see its error output)' : '';
  if (code === 127)
    return withLastWords(`${said}: by convention, a command it called was not found${see}.`, last);
  if (code === 126)
    return withLastWords(`${said}: by convention, a command it called could not be executed${see}.`, last);
  if (ofNoRoom !== null)
    return `${said}, and said at its end that there was no room on a disk, or in a quota: ${ofNoRoom}`;
  return withLastWords(`${said}.`, last);
}

function signalHint(signal: string): string {
  if (signal === 'SIGKILL') return ' (killed by force: by a user, or by the system when memory ran out)';
  if (signal === 'SIGSEGV' || signal === 'SIGBUS') return ' (a crash: it touched memory it may not)';
  if (signal === 'SIGABRT') return ' (it gave up by itself)';
  return '';
}

export function stopCause(reason: StopReason, signal: string | null, sent: ReadonlySet<string>): Cause {
  const by = signal !== null && sent.has(signal) ? ` It ended by ${signal}, sent by Iris.` : '';
  switch (reason) {
    case 'cancelled':
      return { code: 'STOPPED_BY_USER', message: `The task was stopped on request.${by}` };
    case 'preempted':
      return { code: 'PREEMPTED', message: `The task made room for one of a better band.${by}` };
    case 'job-ended':
      return { code: 'JOB_ENDED', message: `The task was stopped because its job ended.${by}` };
    case 'superseded':
      return {
        code: 'JOB_ENDED',
        message: `The task was stopped because a later attempt takes its place.${by}`,
      };
    case 'timeout':
      return { code: 'TIME_LIMIT', message: `The task reached its time limit and was ended.${by}` };
  }
}
