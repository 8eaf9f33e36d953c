/**
 * Machines on which nothing can be started, as with a full disk: each task that waits would be tried there, and lost, while others could
 * run it. After so many in a row such a machine is given none for a while, then it is tried again.
 */
import type { AttemptObservation, Backend } from '../backend.js';

export interface StartTroubleOptions {
  readonly nowMs: () => number;
  /** It is given tasks again, or none any more: why. */
  readonly onChange: (machine: Backend, why: string | null) => void;
}

/** iris-behaviour 5.3: a worker is given up after so many failed starts. */
const mostInVain = 10;
const firstPauseMs = 30_000;
const longestPauseMs = 600_000;

interface Failing {
  inVain: number;
  /** When something was last started there in vain. */
  atMs: number;
  pauseMs: number;
  timer: NodeJS.Timeout | null;
}

/** Faults of the machine: what the task itself is to blame for, or what somebody else was quicker with, says nothing of it. */
const faults: readonly string[] = ['START_FAILED', 'LOG_STORAGE_FULL'];

export class StartTrouble {
  private readonly machines = new Map<Backend, Failing>();

  constructor(private readonly options: StartTroubleOptions) {}

  /** It is given no tasks for the moment. */
  pauses(machine: Backend): boolean {
    return (this.machines.get(machine)?.timer ?? null) !== null;
  }

  heard(machine: Backend, batch: readonly AttemptObservation[]): void {
    for (const { state, startedAtMs, cause } of batch) {
      // What has run there since before, and is told of again, says nothing of starts.
      if (startedAtMs !== null) {
        if (startedAtMs >= (this.machines.get(machine)?.atMs ?? 0)) this.starts(machine);
      } else if (state === 'WORKER_FAILED' && faults.includes(cause?.code ?? ''))
        this.inVain(machine, cause?.message ?? '');
    }
  }

  /** It is none of the cluster any more. */
  forget(machine: Backend): void {
    const timer = this.machines.get(machine)?.timer ?? null;
    if (timer !== null) clearTimeout(timer);
    this.machines.delete(machine);
  }

  close(): void {
    for (const { timer } of this.machines.values()) if (timer !== null) clearTimeout(timer);
    this.machines.clear();
  }

  private starts(machine: Backend): void {
    const paused = this.pauses(machine);
    this.forget(machine);
    if (paused) this.options.onChange(machine, null);
  }

  private inVain(machine: Backend, why: string): void {
    const failing = this.machines.get(machine) ?? { inVain: 0, atMs: 0, pauseMs: firstPauseMs, timer: null };
    this.machines.set(machine, failing);
    failing.inVain += 1;
    failing.atMs = this.options.nowMs();
    if (failing.inVain < mostInVain || failing.timer !== null) return;
    failing.timer = setTimeout(() => {
      // One more is enough to know that it is no better.
      failing.timer = null;
      failing.inVain = mostInVain - 1;
      this.options.onChange(machine, null);
    }, failing.pauseMs);
    failing.timer.unref();
    failing.pauseMs = Math.min(longestPauseMs, failing.pauseMs * 2);
    this.options.onChange(machine, why);
  }
}
