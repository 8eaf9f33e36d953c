/** How attempts end: their processes ended and verified gone, what was seen turned into the last observation. */
import type { Cause } from '../../../../core/contract/views.js';
import type { AttemptObservation } from '../../backend.js';
import { observationOf, type AttemptEntry } from './attempt-entry.js';
import type { CommandEnd } from './command-end.js';
import { readGroupUsage, removeGroups } from './control-groups.js';
import type { LinkLog } from './launcher-link.js';
import { lastWords } from './last-words.js';
import { fullDisk, logMayBeCut } from './log-storage.js';
import { killedForMemory, outcomeOf } from './outcome.js';
import { noteSent, wasSent } from './sent-signal.js';
import type { EndTarget, SessionEnder } from './session-end.js';

/** What is asked of others at an end. */
export interface AttemptHooks {
  /** What still uses its devices after all of it that is known has ended. */
  readonly devicesLeft: (entry: AttemptEntry) => Promise<Cause | null>;
  /** Why a device of it cannot be trusted; null: none is in trouble. */
  readonly deviceFault: (entry: AttemptEntry) => string | null;
  /** Its last observation is made now. */
  readonly onConclude: (entry: AttemptEntry) => void;
}

export interface AttemptEndingOptions extends AttemptHooks {
  readonly ender: SessionEnder;
  readonly log: LinkLog;
  readonly monotonicMs: () => number;
  /** The last observation. */
  readonly report: (entry: AttemptEntry, observation: AttemptObservation) => void;
  readonly warn: (entry: AttemptEntry, warning: Cause) => void;
}

/** After a command ended by itself, what it left behind is given this long. */
const leftoverGraceMs = 2000;

export class AttemptEnding {
  constructor(private readonly options: AttemptEndingOptions) {}

  /** Processes of an attempt that live now. */
  members(entry: AttemptEntry): ReturnType<SessionEnder['members']> {
    const target = this.targetOf(entry);
    return target === null ? Promise.resolve([]) : this.options.ender.members(target);
  }

  targetOf(entry: AttemptEntry): EndTarget | null {
    if (entry.supervisor === null) return null;
    return {
      uid: entry.uid,
      supervisorPid: entry.supervisor.pid,
      supervisorStartTicks: entry.supervisor.startTicks,
      sessionKnown: entry.sessionKnown,
      groups: entry.groups,
    };
  }

  /** Starts to end everything of an attempt; its last observation follows when its end is seen. */
  endProcesses(entry: AttemptEntry, signal: string, deadlineMs: () => number): void {
    const target = this.targetOf(entry);
    if (target === null || entry.ending !== null) return;
    entry.phase = 'ending';
    const { stop } = entry;
    const sentBefore = stop !== null && wasSent(entry.folder, signal);
    if (sentBefore) stop.signals.add(signal);
    entry.ending = this.options.ender.end(target, {
      signal,
      deadlineMs,
      supervisorGone: () => entry.supervisorGone,
      sentBefore,
      onSignal: (sent) => entry.stop?.signals.add(sent),
      onTold: () => {
        if (stop !== null) noteSent(entry, signal, this.options.log);
      },
      onStuck: (processes) => {
        const names = processes.slice(0, 5).map(({ pid, name, state }) => `${pid} (${name}, state ${state})`);
        const message = `Processes do not end although they were killed: ${names.join(', ')}.`;
        this.options.warn(entry, { code: 'PROCESSES_REMAIN', message });
      },
    });
  }

  /** A device of it is gone: what it still does comes to nothing. */
  endByDevice(entry: AttemptEntry, reason: string): void {
    if (entry.phase !== 'running' || entry.deviceFault !== null) return;
    // What runs in a container is not ended here: it fails by itself.
    const ended = this.targetOf(entry) !== null;
    entry.deviceFault = { reason, ended };
    const deadline = this.options.monotonicMs() + leftoverGraceMs;
    this.endProcesses(entry, 'SIGTERM', () => deadline);
  }

  /** The command has ended. Without leftovers this reports at once. */
  finish(entry: AttemptEntry, end: CommandEnd, mayHaveLeftovers: boolean): void {
    if (entry.ending === null && mayHaveLeftovers) {
      const deadline = this.options.monotonicMs() + leftoverGraceMs;
      this.endProcesses(entry, 'SIGTERM', () => deadline);
    }
    entry.phase = 'ending';
    if (entry.ending === null) {
      this.gone(entry, end);
      return;
    }
    entry.ending.then(
      () => this.gone(entry, end),
      (error: unknown) => {
        this.options.log.error('Ending an attempt failed and is tried again', {
          uid: entry.uid,
          error: String(error),
        });
        entry.ending = null;
        setTimeout(() => this.finish(entry, end, true), 1000).unref();
      },
    );
  }

  /** Only with devices there is more to look at. */
  private gone(entry: AttemptEntry, end: CommandEnd): void {
    if ((entry.launch?.devices ?? []).length === 0) {
      this.conclude(entry, end);
      return;
    }
    this.options.devicesLeft(entry).then(
      (warning) => {
        if (warning !== null) this.options.warn(entry, warning);
        const reason = this.options.deviceFault(entry);
        if (reason !== null) entry.deviceFault ??= { reason, ended: false };
        this.conclude(entry, end);
      },
      (error: unknown) => {
        this.options.log.warn('The devices of an ended attempt could not be looked at', {
          uid: entry.uid,
          error: String(error),
        });
        this.conclude(entry, end);
      },
    );
  }

  private conclude(entry: AttemptEntry, end: CommandEnd): void {
    this.options.onConclude(entry);
    const usage = entry.groups.length === 0 ? null : readGroupUsage(entry.groups);
    if (entry.groups.length > 0 && !removeGroups(entry.groups)) {
      this.options.log.warn('A control group could not be removed', { uid: entry.uid, groups: entry.groups });
    }
    entry.peakMemoryBytes = usage?.peakMemoryBytes ?? entry.peakMemoryBytes;
    const spec = entry.launch?.spec;
    const code = end.status?.code ?? null;
    const outOfMemory = usage !== null && usage.outOfMemoryKills > 0;
    const killed = killedForMemory(outOfMemory, code, spec?.memoryBytes ?? null);
    if (killed !== null) this.options.warn(entry, killed);
    const full = fullDisk(entry.folder);
    // Of one that never got as far as its command the cause says it.
    if (full !== null && end.status !== null && !entry.warnings.has('LOG_STORAGE_FULL'))
      this.options.warn(entry, logMayBeCut(entry.folder, 'when the task ended'));
    const outcome = outcomeOf({
      code,
      timedOut: end.status?.kind === 'timeout',
      // A stop that came too late to be felt did not end it.
      stop: entry.stop !== null && entry.stop.signals.size > 0 ? entry.stop : null,
      memory:
        spec !== undefined && (entry.overMemory || outOfMemory)
          ? { limitBytes: spec.memoryBytes, measured: entry.overMemory }
          : null,
      timeLimitMs: spec?.timeoutMs ?? null,
      deviceFault: entry.deviceFault,
      fullDisk: full,
      words: code === 0 ? null : lastWords(entry.folder),
      program: spec?.command[0] ?? 'The command',
      otherwise: end.otherwise,
    });
    this.options.report(
      entry,
      observationOf(entry, outcome.state, {
        finishedAtMs: end.finishedAtMs,
        durationMs: end.durationMs ?? wallDuration(entry, end),
        exitCode: outcome.exitCode,
        signal: outcome.signal,
        cause: outcome.cause,
      }),
    );
  }
}

/** Without a better one; a clock that was set back reads as no time at all. */
function wallDuration(entry: AttemptEntry, end: CommandEnd): number | null {
  return entry.startedAtMs === null ? null : Math.max(0, end.finishedAtMs - entry.startedAtMs);
}
