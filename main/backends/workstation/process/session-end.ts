/**
 * Ends everything of one attempt and makes sure of it: a signal, the time it is given, SIGKILL, and a look at what lives before
 * anybody is told that it is gone. It touches only what is proved to be the attempt's own.
 */
import type { OwnedProcess, ProcessView } from '../../../machine/processes.js';
import { supervisedUid } from './attempt-start.js';
import { groupMembers } from './control-groups.js';
import { isErrorCode } from './error-code.js';
import { LivingProcesses } from './living-processes.js';

export interface EndTarget {
  readonly uid: string;
  readonly supervisorPid: number;
  readonly supervisorStartTicks: number | null;
  /**
   * True when we saw the supervisor alive, or its end: then its session's number cannot have been given away while a member lives.
   * Else only processes that carry the uid are the attempt's.
   */
  readonly sessionKnown: boolean;
  readonly groups: readonly string[];
}

export interface EndPlan {
  readonly signal: string;
  /** By the monotonic clock; may come nearer while it waits. */
  readonly deadlineMs: () => number;
  readonly supervisorGone: () => boolean;
  /** The signal was sent by a host before this one: who has it is saving its work, and may take a second one for impatience. */
  readonly sentBefore?: boolean;
  /** A process was sent it. */
  readonly onSignal: (signal: string) => void;
  /** What there is of its command has the signal now; called in the same turn that sent it, and perhaps again. */
  readonly onTold?: () => void;
  /** Called about every ten seconds with what does not die. */
  readonly onStuck: (processes: readonly OwnedProcess[]) => void;
}

export interface SessionEnderOptions {
  readonly processes: ProcessView;
  readonly monotonicMs: () => number;
  /** Never signalled: this process, those it descends from, the launcher. */
  readonly isProtected: (pid: number) => boolean;
}

export interface SessionEnder {
  /** What lives on this machine, as it is after the question. */
  scan(): Promise<LivingProcesses>;
  end(target: EndTarget, plan: EndPlan): Promise<void>;
  /** What of an attempt lives now, its supervisor included. */
  members(target: EndTarget): Promise<readonly OwnedProcess[]>;
  close(): void;
}

const stuckReportMs = 10_000;
/** After its last child is gone a supervisor needs only to write one line. */
const supervisorLeaveMs = 2000;
/**
 * After a look at the system it is left alone for so many times what the look took: with thousands of processes a look takes a tenth of a
 * second, and as many attempts that end each want another.
 */
const restShare = 3;
/** A look that takes very long, as where memory is short and all of it is read from the disk, holds up no end that long again. */
const mostRestMs = 1000;

export function createSessionEnder(options: SessionEnderOptions): SessionEnder {
  const { processes, monotonicMs } = options;
  let closed = false;
  let pending: Promise<LivingProcesses> | null = null;
  let restedAtMs = Number.NEGATIVE_INFINITY;

  /** One look at the system serves everybody who asked before it. */
  function scan(): Promise<LivingProcesses> {
    pending ??= new Promise((resolve, reject) => {
      const look = (): void => {
        pending = null;
        const beganMs = monotonicMs();
        try {
          resolve(new LivingProcesses(processes.scan()));
        } catch (error) {
          reject(error instanceof Error ? error : new Error(String(error)));
        }
        const endedMs = monotonicMs();
        restedAtMs = endedMs + Math.min(mostRestMs, restShare * (endedMs - beganMs));
      };
      const restMs = restedAtMs - monotonicMs();
      if (restMs > 0) setTimeout(look, restMs);
      else setImmediate(look);
    });
    return pending;
  }

  /** `seen`: what was found to be its before, by pid, and stays so although who started it has gone since. */
  async function members(
    target: EndTarget,
    seen = new Map<number, number>(),
  ): Promise<readonly OwnedProcess[]> {
    const living = await scan();
    const leader = living.get(target.supervisorPid);
    const reused =
      leader !== undefined &&
      target.supervisorStartTicks !== null &&
      leader.startTicks !== target.supervisorStartTicks;
    const own = living.membersOf(
      {
        uid: target.uid,
        session: target.sessionKnown && !reused ? target.supervisorPid : null,
        pids: groupMembers(target.groups),
        seen,
      },
      options.isProtected,
    );
    for (const { pid, startTicks } of own) seen.set(pid, startTicks);
    return own;
  }

  /** Whoever is closed goes no step further: the next host has taken over. */
  async function open<T>(step: Promise<T>): Promise<T> {
    const done = await step;
    return closed ? new Promise<T>(() => undefined) : done;
  }

  function signalOne(entry: OwnedProcess, signal: string): boolean {
    // Between the look and now the pid may have become another's.
    return processes.read(entry.pid)?.startTicks === entry.startTicks && kill(entry.pid, signal);
  }

  async function end(target: EndTarget, plan: EndPlan): Promise<void> {
    const told = new Set<number>();
    /** Of those told: shells that were not their command yet. One forgets a signal that comes before it has let go of its trap. */
    const becoming = new Set<number>();
    const seen = new Map<number, number>();
    const isSupervisor = (entry: OwnedProcess) => entry.pid === target.supervisorPid;
    const isShell = (pid: number) => supervisedUid(processes.argv(pid)) === target.uid;
    if (!processes.complete) {
      await endGroupOnly(target, plan);
      return;
    }
    let pauseMs = 5;
    let first = true;
    // By force, the supervisor comes last: it writes how the command ended.
    while (plan.signal !== 'SIGKILL') {
      for (const pid of becoming) {
        if (isShell(pid)) continue;
        becoming.delete(pid);
        told.delete(pid);
      }
      // What it starts after its signal, it starts to save its work: that is left alone until the supervisor is gone. Unless at
      // the first look there was a supervisor alone, which may have begun its command since.
      const isTold = (pid: number) => pid !== target.supervisorPid && !becoming.has(pid);
      const commandTold = [...told].some(isTold);
      if (first || plan.supervisorGone() || (pauseMs >= 200 && !commandTold)) {
        const rest = await open(members(target, seen));
        if (rest.length === 0 && plan.supervisorGone()) return;
        for (const entry of rest) {
          if (told.has(entry.pid)) continue;
          told.add(entry.pid);
          if (!isSupervisor(entry) && isShell(entry.pid)) becoming.add(entry.pid);
          const hasIt = first && plan.sentBefore === true;
          if (!hasIt && signalOne(entry, plan.signal)) plan.onSignal(plan.signal);
          if (entry.state === 'T') signalOne(entry, 'SIGCONT');
        }
        if ([...told].some(isTold)) plan.onTold?.();
      }
      first = false;
      if (monotonicMs() >= plan.deadlineMs()) break;
      await open(pause(Math.min(pauseMs, Math.max(1, plan.deadlineMs() - monotonicMs()))));
      pauseMs = Math.min(250, pauseMs * 2);
    }
    await force(target, plan, isSupervisor, seen);
  }

  async function force(
    target: EndTarget,
    plan: EndPlan,
    isSupervisor: (entry: OwnedProcess) => boolean,
    seen: Map<number, number>,
  ): Promise<void> {
    let reportAtMs = monotonicMs() + stuckReportMs;
    let emptySinceMs: number | null = null;
    for (let pauseMs = 5; ; pauseMs = Math.min(500, pauseMs * 2)) {
      const rest = await open(members(target, seen));
      const others = rest.filter((entry) => !isSupervisor(entry));
      if (rest.length === 0 && plan.supervisorGone()) return;
      if (others.length > 0) {
        emptySinceMs = null;
        for (const entry of others) if (signalOne(entry, 'SIGKILL')) plan.onSignal('SIGKILL');
      } else {
        emptySinceMs ??= monotonicMs();
        // It has nothing left to wait for, and is itself stopped or stuck.
        if (monotonicMs() - emptySinceMs > supervisorLeaveMs)
          for (const entry of rest) signalOne(entry, 'SIGKILL');
      }
      if (monotonicMs() >= reportAtMs) {
        reportAtMs = monotonicMs() + stuckReportMs;
        if (rest.length > 0) plan.onStuck(rest);
      }
      await open(pause(pauseMs));
    }
  }

  /** Without /proc the process group is all that can be seen. */
  async function endGroupOnly(target: EndTarget, plan: EndPlan): Promise<void> {
    const alive = () => kill(-target.supervisorPid, 0);
    if (plan.sentBefore !== true && kill(-target.supervisorPid, plan.signal)) {
      plan.onSignal(plan.signal);
      plan.onTold?.();
    }
    for (;;) {
      if (!alive() && plan.supervisorGone()) return;
      if (monotonicMs() >= plan.deadlineMs()) {
        plan.onSignal('SIGKILL');
        kill(-target.supervisorPid, 'SIGKILL');
      }
      await open(pause(50));
    }
  }

  return {
    scan,
    end,
    members: (target) => members(target),
    close: () => {
      closed = true;
    },
  };
}

function kill(pid: number, signal: string | 0): boolean {
  try {
    process.kill(pid, signal);
    return true;
  } catch (error) {
    return isErrorCode(error, 'EPERM');
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
