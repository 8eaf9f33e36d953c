/**
 * The process runtime: attempts as processes of this machine. Level-triggered: told the complete desired set, it starts what is
 * missing, adopts what lives, stops what shall stop, and reports. What it knows of an attempt is in the attempt's folder; this
 * object can be thrown away at any moment and made anew.
 */
import { existsSync } from 'node:fs';
import path from 'node:path';
import type { GpuView } from '../../../../core/contract/gpus.js';
import { currentUmask, ownAncestry, type ProcessView } from '../../../machine/processes.js';
import type { AttemptLaunch, AttemptObservation, DesiredAttempt, StopNotice } from '../../backend.js';
import { AdoptedWatch, lookAt, readGroupsFile, type Found } from './adoption.js';
import { AttemptEnding, type AttemptHooks } from './attempt-ending.js';
import { claimTimes, endByFolder, endByLauncher, folderLost, notClaimedCause } from './command-end.js';
import {
  newEntry,
  observationOf,
  stopOrder,
  supersededStop,
  type AttemptEntry,
  type StopOrder,
} from './attempt-entry.js';
import { fence, parseClaim } from './claim.js';
import { groupFolders, type GroupRoots } from './control-groups.js';
import { messageOf } from './error-code.js';
import { MemoryWatch } from './memory-watch.js';
import type { LauncherCommand } from './launcher-channel.js';
import { createLauncherLink, type LauncherLink, type LinkLog } from './launcher-link.js';
import type { LauncherEvent, StartItem } from './launcher-protocol.js';
import { stopCause } from './outcome.js';
import { giveWeight } from './processor-weight.js';
import { Reporter } from './reporter.js';
import { createSessionEnder, type SessionEnder } from './session-end.js';
import { startItemOf } from './start-item.js';
import { endUnclaimed } from './unclaimed.js';

export interface ProcessRuntimeOptions extends AttemptHooks {
  readonly attemptsFolder: string;
  /** File with supervisor.sh's text. */
  readonly supervisorFile: string;
  /** In the order they are tried. */
  readonly launchers: readonly LauncherCommand[];
  readonly launcherAfterMs: number;
  readonly loginEnvironment: Readonly<Record<string, string>>;
  readonly groups: GroupRoots;
  readonly processes: ProcessView;
  readonly log: LinkLog;
  readonly nowMs: () => number;
  readonly monotonicMs: () => number;
  readonly memorySampleMs?: number | undefined;
  readonly gpus: () => readonly GpuView[];
  readonly onObservations: (batch: readonly AttemptObservation[]) => void;
  /** An attempt runs, or runs no more: its log and memory are worth a look, or not. */
  readonly onRunning: (entry: AttemptEntry) => void;
  /** It is about to be stopped, with a notice. */
  readonly onNotice: (entry: AttemptEntry, notice: StopNotice) => void;
  readonly onEnded: (uid: string) => void;
}

const adoptedCheckMs = 1000;
/** How often a claim that is being filled is looked at again, 100 ms apart. */
const unfilledLooks = 20;

export class ProcessRuntime {
  private readonly entries = new Map<string, AttemptEntry>();
  private readonly link: LauncherLink;
  private readonly ender: SessionEnder;
  readonly ending: AttemptEnding;
  private readonly adopted: AdoptedWatch;
  private readonly memory: MemoryWatch;
  private readonly ancestors: ReadonlySet<number>;
  readonly reporter: Reporter;
  private closed = false;
  private firstReconcile = true;

  constructor(private readonly options: ProcessRuntimeOptions) {
    const { processes, monotonicMs } = options;
    this.ancestors = ownAncestry(processes);
    this.ender = createSessionEnder({
      processes,
      monotonicMs,
      isProtected: (pid) => this.ancestors.has(pid) || pid === this.link.pid(),
    });
    this.reporter = new Reporter(options);
    this.ending = new AttemptEnding({
      ...options,
      ender: this.ender,
      report: (entry, observation) => this.reporter.last(entry, observation),
      warn: (entry, warning) => this.reporter.warn(entry, warning),
    });
    this.memory = new MemoryWatch({
      entries: () => this.entries.values(),
      members: (entry) => this.ending.members(entry),
      end: (entry) => {
        entry.overMemory = true;
        this.ending.endProcesses(entry, 'SIGKILL', () => 0);
      },
      warn: (entry, warning) => this.reporter.warn(entry, warning),
      isHeld: () => options.groups.memory !== null,
      onFault: (error) => options.log.error('Memory could not be measured', { error: messageOf(error) }),
      ...(options.memorySampleMs === undefined ? {} : { everyMs: options.memorySampleMs }),
    });
    this.adopted = new AdoptedWatch(processes, (uid) => this.adoptedChanged(uid), adoptedCheckMs);
    this.link = createLauncherLink({
      launchers: options.launchers,
      firstAfterMs: options.launcherAfterMs,
      setup: {
        kind: 'setup',
        attemptsFolder: options.attemptsFolder,
        supervisor: options.supervisorFile,
        shell: '/bin/sh',
        bootId: processes.bootId(),
        loginEnvironment: options.loginEnvironment,
        umask: currentUmask(),
        groups: options.groups,
      },
      log: options.log,
      nowMs: options.nowMs,
      monotonicMs,
      onEvents: (events) => {
        for (const event of events) this.onLauncherEvent(event);
      },
      onLost: () => this.onLauncherLost(),
    });
  }

  reconcile(desired: readonly DesiredAttempt[]): void {
    if (this.closed) return;
    const wanted = new Set<string>();
    const starts: StartItem[] = [];
    for (const item of desired) {
      const uid = item.kind === 'run' ? item.launch.uid : item.uid;
      wanted.add(uid);
      const entry = this.entries.get(uid);
      if (entry === undefined) this.take(item, uid, starts);
      else if (entry.phase === 'ended') this.reporter.again(entry);
      else if (item.kind === 'stop') this.stop(entry, item);
    }
    if (starts.length > 0) this.link.start(starts);
    for (const entry of this.entries.values()) if (!wanted.has(entry.uid)) this.unwanted(entry);
    if (this.firstReconcile) {
      this.firstReconcile = false;
      void this.stopStrays(wanted);
    }
  }

  entry(uid: string): AttemptEntry | undefined {
    return this.entries.get(uid);
  }

  /** An attempt that lives on gets the processor weight it asked for. */
  giveWeight(entry: AttemptEntry): Promise<void> {
    return giveWeight(entry, this.options.groups, () => this.ending.members(entry), this.options.log);
  }

  async close(): Promise<void> {
    this.closed = true;
    this.reporter.close();
    this.memory.close();
    this.adopted.close();
    this.ender.close();
    await this.link.close();
  }

  private take(item: DesiredAttempt, uid: string, starts: StartItem[]): void {
    const folder = path.join(this.options.attemptsFolder, uid);
    const entry = newEntry(uid, folder, item.kind === 'stop' ? null : item.launch);
    this.entries.set(uid, entry);
    if (item.kind === 'run') {
      starts.push(this.startItem(entry, item.launch));
      return;
    }
    this.adopt(entry);
    if (item.kind === 'stop') this.stop(entry, item);
  }

  private startItem(entry: AttemptEntry, launch: AttemptLaunch): StartItem {
    const { loginEnvironment, gpus, groups } = this.options;
    const item = startItemOf(entry.folder, launch, { loginEnvironment, gpus: gpus(), groups });
    entry.groups = item.limits === null ? [] : groupFolders(groups, entry.uid, item.limits);
    return item;
  }

  private onLauncherEvent(event: LauncherEvent): void {
    const entry = this.entries.get(event.uid);
    // A lost launcher's last words about an attempt that was looked at otherwise since.
    if (entry === undefined || this.closed) return;
    switch (event.kind) {
      case 'started':
        if (entry.phase === 'starting') this.started(entry, event.pid, event.atMs);
        return;
      case 'refused':
        if (entry.phase !== 'starting') return;
        this.reporter.last(
          entry,
          observationOf(entry, event.fault ? 'FAILED' : 'WORKER_FAILED', {
            finishedAtMs: this.options.nowMs(),
            exitCode: event.exitCode,
            cause: event.cause,
          }),
        );
        return;
      case 'claimed':
        if (entry.phase === 'starting') this.adopt(entry);
        return;
      case 'ended':
        if (!entry.adopted && !entry.supervisorGone && entry.supervisor?.pid === event.pid)
          this.ended(entry, event);
        return;
    }
  }

  private started(entry: AttemptEntry, pid: number, atMs: number): void {
    entry.supervisor = { bootId: this.options.processes.bootId() ?? '-', pid, startTicks: null };
    entry.startedAtMs = atMs;
    this.runs(entry);
  }

  private runs(entry: AttemptEntry): void {
    entry.sessionKnown = true;
    entry.phase = 'running';
    this.reporter.progress(observationOf(entry, 'RUNNING'));
    this.options.onRunning(entry);
    if (entry.stop !== null) this.endStopped(entry, entry.stop);
  }

  private ended(entry: AttemptEntry, event: Extract<LauncherEvent, { kind: 'ended' }>): void {
    const claim = parseClaim(event.claim);
    if (claim.kind === 'claimed' && claim.supervisor.pid !== event.pid) {
      // Another supervisor holds it, started by a launcher before ours.
      this.adopt(entry);
      return;
    }
    entry.supervisorGone = true;
    const gone = claim.kind === 'claimed' ? null : folderLost(entry.folder);
    if (gone !== null) this.reporter.warn(entry, gone);
    const end = endByLauncher(event, claim, entry.folder, gone !== null);
    this.ending.finish(entry, end, event.leftovers || end.status === null);
  }

  /** Looks into the folder and goes on from what it proves. What nobody has started is fenced off and reported missing. */
  private adopt(entry: AttemptEntry, looksLeft = unfilledLooks): void {
    let found = this.tryLook(entry);
    if (found?.kind === 'absent') found = this.fenceOff(entry) ? { kind: 'fenced' } : this.tryLook(entry);
    // Absent still where it can be neither read nor written.
    if (found === null || found.kind === 'absent') {
      this.adoptLater(entry, 1000, looksLeft);
      return;
    }
    entry.groups = readGroupsFile(entry.folder);
    switch (found.kind) {
      case 'fenced':
        endUnclaimed(entry, this.ending, this.reporter, this.options);
        return;
      case 'unfilled':
        if (looksLeft > 0) {
          this.adoptLater(entry, 100, looksLeft - 1);
          return;
        }
        this.reporter.last(
          entry,
          observationOf(entry, 'WORKER_FAILED', {
            finishedAtMs: this.options.nowMs(),
            cause: notClaimedCause(entry.folder),
          }),
        );
        return;
      case 'alive':
      case 'ended':
      case 'lost':
        this.adoptFound(entry, found);
    }
  }

  private adoptLater(entry: AttemptEntry, ms: number, looksLeft: number): void {
    setTimeout(() => {
      if (!this.closed && entry.phase !== 'ended') this.adopt(entry, looksLeft);
    }, ms).unref();
  }

  private adoptFound(entry: AttemptEntry, found: Extract<Found, { kind: 'alive' | 'ended' | 'lost' }>): void {
    entry.adopted = true;
    entry.supervisor = found.supervisor;
    entry.startedAtMs ??= claimTimes(entry.folder)?.bornMs ?? null;
    if (found.kind !== 'alive') {
      this.endedByFolder(entry, found);
      return;
    }
    this.adopted.add(entry.uid, entry.folder, found.supervisor);
    // One that is being stopped goes on being stopped.
    if (entry.ending === null) this.runs(entry);
    // It may have ended before the watch stood.
    this.adoptedChanged(entry.uid);
  }

  private adoptedChanged(uid: string): void {
    const entry = this.entries.get(uid);
    if (this.closed || entry === undefined || !entry.adopted || entry.supervisorGone) return;
    const found = this.tryLook(entry);
    if (found?.kind === 'ended' || found?.kind === 'lost') this.endedByFolder(entry, found);
  }

  /** Null: it cannot be looked at now, and is again by whoever asked. */
  private tryLook({ uid, folder }: AttemptEntry): Found | null {
    try {
      return lookAt(folder, this.options.processes);
    } catch (error) {
      const message = 'An attempt could not be looked at and is tried again';
      this.options.log.error(message, { uid, error: messageOf(error) });
      return null;
    }
  }

  private endedByFolder(entry: AttemptEntry, found: Extract<Found, { kind: 'ended' | 'lost' }>): void {
    entry.supervisorGone = true;
    this.adopted.remove(entry.uid);
    const over = found.kind === 'lost' && found.rebooted;
    this.ending.finish(entry, endByFolder(found, entry.folder, this.options.nowMs()), !over);
  }

  /** What a dead launcher watched is watched by its folder from now on; what it had not started is sent to the next one. */
  private onLauncherLost(): void {
    if (this.closed) return;
    for (const entry of this.entries.values()) {
      if (entry.adopted || entry.supervisorGone || entry.phase === 'starting' || entry.phase === 'ended')
        continue;
      const found = this.tryLook(entry);
      if (found?.kind === 'absent' && entry.launch !== null && entry.ending === null) {
        // Its supervisor was on its way; whichever claims first runs it.
        entry.phase = 'starting';
        this.link.start([this.startItem(entry, entry.launch)]);
      } else {
        this.adopt(entry);
      }
    }
  }

  private stop(entry: AttemptEntry, order: Extract<DesiredAttempt, { kind: 'stop' }>): void {
    const deadlineMs = this.options.monotonicMs() + order.graceMs;
    if (entry.stop !== null) {
      entry.stop.deadlineMs = Math.min(entry.stop.deadlineMs, deadlineMs);
      return;
    }
    // It is ending by itself already.
    if (entry.phase === 'ending' || entry.phase === 'ended') return;
    entry.stop = stopOrder(order, deadlineMs);
    if (entry.phase === 'running') this.endStopped(entry, entry.stop);
    else if (this.fenceOff(entry)) {
      this.link.forget(entry.uid);
      const cause = stopCause(order.reason, null, new Set());
      this.reporter.last(
        entry,
        observationOf(entry, 'KILLED', { finishedAtMs: this.options.nowMs(), cause }),
      );
    }
    // Else its supervisor was first: it is stopped as soon as its start is confirmed.
  }

  private fenceOff(entry: AttemptEntry): boolean {
    try {
      return fence(entry.folder);
    } catch (error) {
      const detail = { uid: entry.uid, error: messageOf(error) };
      this.options.log.warn('An attempt could not be fenced off', detail);
      return false;
    }
  }

  private endStopped(entry: AttemptEntry, stop: StopOrder): void {
    if (stop.notice !== null) this.options.onNotice(entry, stop.notice);
    this.ending.endProcesses(entry, stop.graceMs === 0 ? 'SIGKILL' : stop.signal, () => stop.deadlineMs);
  }

  /** The controller knows nothing of it, or is done with it. */
  private unwanted(entry: AttemptEntry): void {
    if (entry.phase === 'ended') {
      this.memory.forget(entry.uid);
      this.entries.delete(entry.uid);
    } else if (entry.stop === null && entry.phase !== 'ending') {
      this.options.log.warn('An attempt that is not wanted is stopped', { uid: entry.uid });
      this.stop(entry, supersededStop(entry.uid, entry.launch, { container: false }));
    }
  }

  /** Attempts of ours that live although the controller does not know them. */
  private async stopStrays(wanted: ReadonlySet<string>): Promise<void> {
    const uids = new Set<string>();
    for (const { attemptUid } of (await this.ender.scan()).all) {
      if (attemptUid === null || !/^[0-9a-f]+$/.test(attemptUid) || wanted.has(attemptUid)) continue;
      if (existsSync(path.join(this.options.attemptsFolder, attemptUid, 'claim'))) uids.add(attemptUid);
    }
    for (const uid of uids) {
      if (this.closed || this.entries.has(uid)) continue;
      const entry = newEntry(uid, path.join(this.options.attemptsFolder, uid), null);
      this.entries.set(uid, entry);
      this.adopt(entry);
      this.unwanted(entry);
    }
  }
}
