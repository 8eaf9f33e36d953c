/**
 * The controller: takes commands and observations, lets core decide over the state in memory, commits what changed in one
 * transaction, and only then performs the effects. Rounds are started by events and by one timer for the next deadline.
 */
import path from 'node:path';
import type { BudgetChange } from '../../core/contract/budgets.js';
import { RefusalError, refusal, type Refusal } from '../../core/contract/errors.js';
import type { JobSpec } from '../../core/contract/job-request.js';
import type { Counts } from '../../core/contract/views.js';
import type { Attempt, ChangeSet } from '../../core/model/entities.js';
import type { ModelState } from '../../core/model/draft.js';
import { stateOver } from './state-over.js';
import { metaKeys } from '../../core/model/view.js';
import { isEmpty, mergeChanges } from './merge-changes.js';
import type { AttemptObservation, Backend } from '../backends/backend.js';
import type { Store } from '../store/types.js';
import { describeError, type Logger } from './logger.js';
import type { Publisher } from './publisher.js';
import { freshText, type FreshText } from './fresh-text.js';
import type { HostRecord } from './host-record.js';
import { GuardedBackend, usualPatience, type BackendPatience } from './guarded-backend.js';
import { LiveViews } from './live-views.js';
import { Placement } from './placement.js';
import { decideBatch, type Command, type TargetResult } from './round.js';
import { RoundRecorder } from './round-recorder.js';
import { PortRange } from './ports.js';
import { Explanations, type Submitter } from './explanations.js';
import { feasible, forecast, judge, type Forecast } from './feasibility.js';
import { storageReason } from './refusals.js';
import { probeStore } from './storage-probe.js';
import { publishChanges } from './publish-changes.js';
import { ReportQueue } from './report-queue.js';
import { ReasonWatch } from './reason-watch.js';
import { LaunchPlans } from './launch-plans.js';
import { RoundTimer } from './round-timer.js';
import type { Identity } from './session.js';
import { answerAll, refuseAll, type Waiting } from './waiting-commands.js';

/** Commands taken into one round and so into one transaction; few, so that a burst of them does not hold up ends and starts. */
const commandsARound = 16;
/** After a failed write, unless given. */
const usualStorageRetryMs = 1000;

export interface ControllerParts {
  readonly store: Store;
  readonly backend: Backend;
  readonly backendPatience?: BackendPatience;
  readonly storageRetryMs?: number;
  readonly logger: Logger;
  readonly nowMs: () => number;
  readonly monotonicMs: () => number;
  /** That many random bytes in hex. */
  readonly random: (bytes: number) => string;
  readonly homeRoot: string;
  /** The name other machines reach the controller's own by. */
  readonly advertiseHost: string;
  /** Told of all machines at the start, then of those that were added, changed or removed, once that is on disk. */
  readonly machinesChanged?: (machines: ChangeSet['machines']) => void;
  readonly record?: HostRecord;
}

export interface SubmitInput {
  readonly spec: JobSpec;
  readonly identity: Identity;
  readonly requestId: string;
  readonly retryOf: string | null;
}

export class Controller {
  private state: ModelState;
  /** What decides what starts where, over this state. */
  placement: Placement;
  private readonly ports = new PortRange();
  /** What memory says of live jobs. */
  readonly views: LiveViews;
  /** The backend behind what bounds its calls: all others shall use it by this too. */
  readonly backend: GuardedBackend;
  readonly explanations: Explanations;
  /** Writes rounds down while it is on. */
  readonly recorder: RoundRecorder;
  private readonly launches: LaunchPlans;
  private readonly reasons = new ReasonWatch(() => this.placement.causes.changed());
  private readonly backendId: string;
  private readonly fresh: FreshText;
  private commands: Waiting[] = [];
  private readonly reports = new ReportQueue();
  private publisher: Publisher | null = null;
  private readonly timer: RoundTimer;
  private storageFault: string | null = null;
  private stopped = false;

  constructor(private readonly parts: ControllerParts) {
    this.state = stateOver(parts.store);
    this.placement = new Placement(this.state);
    const state = () => this.state;
    this.views = new LiveViews(state, () => this.placement, parts.nowMs);
    this.backend = new GuardedBackend(parts.backend, {
      logger: parts.logger,
      monotonicMs: parts.monotonicMs,
      patience: parts.backendPatience ?? usualPatience,
      changed: () => this.backendChanged(),
    });
    this.backendId = this.backend.describe().id;
    this.fresh = freshText(parts.random, parts.nowMs, () => this.state.meta(metaKeys.lastSubmission) ?? 0);
    this.timer = new RoundTimer({ ...parts, due: () => this.markDirty() });
    this.explanations = new Explanations({ ...parts, state, placement: () => this.placement });
    this.recorder = new RoundRecorder(path.join(parts.homeRoot, 'rounds'), parts);
    this.launches = new LaunchPlans(state, {
      ...parts,
      hostOf: (workerId) => this.placement.hostnameOf(workerId) ?? parts.advertiseHost,
    });
  }

  /** Loads what lives, begins observing the backend and runs the first round. */
  async start(): Promise<void> {
    this.views.start(this.load());
    this.parts.record?.begins(this.state.unfinishedAttempts());
    const machines = [...this.state.machines()].map((machine) => ({ id: machine.id, machine }));
    this.parts.machinesChanged?.(machines);
    await this.backend.start({
      observations: (batch) => {
        this.reports.add(batch);
        // Nothing waits for the news of a start; the end of a short one often follows it at once, and both are one write then.
        if (batch.every(({ state }) => state === 'RUNNING')) this.timer.withNext(() => this.markDirty());
        else this.markDirty();
      },
      workers: (workers) => {
        this.placement.setWorkers(workers);
        this.publisher?.machinesChanged();
        this.markDirty();
      },
      logGrew: (uid, outSize, errSize, heard = null) => {
        const complete = this.isFinished(uid);
        this.publisher?.logGrew(uid, { outSize, errSize, complete, ...(heard !== null ? { heard } : {}) });
      },
    });
    this.placement.setWorkers(this.backend.observe());
    this.markDirty();
  }

  /** What memory holds, to be compared with what the disk would give. */
  get memory(): ModelState {
    return this.state;
  }

  publishTo(publisher: Publisher): void {
    this.publisher = publisher;
  }

  /** Runs a last round for what has already arrived, then takes nothing more. */
  stop(): void {
    if (this.stopped) return;
    this.runRound();
    this.stopped = true;
    this.timer.stop();
    this.reasons.stop();
    void this.recorder.stop();
    refuseAll(
      this.commands.splice(0),
      refusal('UNAVAILABLE', 'The controller is stopping; the command was not carried out.'),
    );
  }

  busy(): boolean {
    return this.timer.isPending || this.commands.length > 0 || this.reports.size > 0;
  }

  // Commands

  async submit(input: SubmitInput): Promise<{ jobId: string; existed: boolean }> {
    const { identity, requestId, retryOf } = input;
    return (await this.enqueue({
      kind: 'submit',
      requestId,
      ...identity,
      spec: this.feasibleSpec(input),
      retryOf,
    })) as { jobId: string; existed: boolean };
  }

  /** What was taken once stays taken, whatever has become of the machines since its answer was lost. */
  private feasibleSpec({ spec, requestId }: SubmitInput): JobSpec {
    try {
      return feasible(spec, this.placement.machines);
    } catch (error) {
      if (this.state.receipt(requestId) === undefined) throw error;
      return spec;
    }
  }

  async stopJobs(jobIds: readonly string[], identity: Identity, requestId: string): Promise<TargetResult[]> {
    return (await this.enqueue({ kind: 'stop', requestId, user: identity.user, jobIds })) as TargetResult[];
  }

  async retryJobs(jobIds: readonly string[], identity: Identity, requestId: string): Promise<TargetResult[]> {
    return (await this.enqueue({ kind: 'retry', requestId, ...identity, jobIds })) as TargetResult[];
  }

  async setBudget(user: string, change: BudgetChange, identity: Identity, requestId: string): Promise<void> {
    await this.enqueue({ kind: 'budget', requestId, identity, user, change });
  }

  markInboxRead(ids: readonly number[] | null): { unread: number } {
    const { unread, failedUnseen } = this.parts.store.markInboxRead(ids);
    this.views.setFailedUnseen(failedUnseen);
    this.publisher?.inboxChanged([]);
    this.publisher?.changed({ jobs: [], touched: [], tasks: new Map(), removed: [] });
    return { unread };
  }

  /** Whether it could start now, must wait, or can never run; from the same data a round decides on. */
  check(spec: JobSpec, submitter: Submitter): Forecast {
    return forecast(judge(spec, this.placement.machines), (resolved) =>
      this.explanations.dryRun(resolved, submitter),
    );
  }

  unfinishedAttempts(): Iterable<Attempt> {
    return this.state.unfinishedAttempts();
  }

  health(): { healthy: boolean; health: string } {
    if (this.storageFault !== null) return { healthy: false, health: this.storageFault };
    const fault = this.backend.fault();
    if (fault !== null) return { healthy: false, health: fault };
    if (this.placement.machines.length === 0)
      return { healthy: false, health: 'No machine has reported yet.' };
    return { healthy: true, health: 'All is well.' };
  }

  /** A fault of it came or went: its machines may be used no longer, or again. */
  private backendChanged(): void {
    this.placement.setWorkers(this.backend.observe());
    this.publisher?.machinesChanged();
    this.publisher?.statusChanged();
    this.markDirty();
  }

  // Rounds

  /** In the next round; rejects with the refusal. */
  enqueue(command: Command): Promise<unknown> {
    if (this.stopped) {
      return Promise.reject(
        new RefusalError(refusal('UNAVAILABLE', 'The controller is stopping; try again in a moment.')),
      );
    }
    return new Promise((resolve, reject) => {
      this.commands.push({ command, resolve, reject });
      this.markDirty();
    });
  }

  private markDirty(): void {
    if (!this.stopped && this.storageFault === null) this.timer.soon(() => this.runRound());
  }

  private runRound(): void {
    if (this.stopped) return;
    this.timer.roundBegins();
    const observations = this.reports.take();
    const waiting = this.commands.splice(0, commandsARound);
    let round: ReturnType<Controller['decideAndCommit']>;
    try {
      round = this.decideAndCommit(observations, waiting);
    } catch (error) {
      // A damaged row is met while deciding already: that is no reason to end the host, and what asked for it is refused.
      this.roundFailed(error, observations, waiting);
      return;
    }
    const { batch, placed, changes, inboxIds } = round;
    for (const { outcome, uid, state } of batch.dropped) {
      const why = outcome === 'unknown' ? 'nothing unfinished has that uid' : 'its attempt is over already';
      this.parts.logger.warn(`A report was dropped: ${why}`, { backend: this.backendId, uid, state });
    }
    this.perform(changes, inboxIds);
    answerAll(waiting, batch.answers);
    this.timer.roundEnds(changes, earlier(this.state.nextDeadlineMs(), this.placement.wakeAtMs));
    if (placed.more || this.commands.length > 0 || this.reports.size > 0) this.markDirty();
  }

  private decideAndCommit(observations: readonly AttemptObservation[], waiting: readonly Waiting[]) {
    const nowMs = this.parts.nowMs();
    const batch = decideBatch(this.state, {
      nowMs,
      observations,
      commands: waiting.map((entry) => entry.command),
      fresh: this.fresh,
      elapsed: this.timer.elapsed.of,
      waitingCause: (taskId) => this.placement.causeOf(taskId),
      ranksBeside: (job) => this.placement.ranksBeside(job),
    });
    // Placement looks at the state as the batch left it, and both are one transaction: memory runs ahead of the disk from here to
    // the commit, and is read anew from the disk when that fails.
    this.apply(batch.changes);
    const placed = this.placement.place({
      nowMs,
      backendId: this.backendId,
      fresh: this.fresh,
      ports: this.ports,
      record: this.recorder.isOn ? (round) => this.recorder.note(round) : null,
      moved: (taskId, why) =>
        this.parts.logger.warn('An assignment was dropped: the state had moved on', { taskId, why }),
    });
    this.apply(placed.changes);
    const decided = mergeChanges(batch.changes, placed.changes);
    const changes = this.parts.record?.join(decided, observations) ?? decided;
    const inboxIds = isEmpty(changes) ? [] : this.parts.store.commit(changes).inboxIds;
    this.parts.record?.written();
    return { batch, placed, changes, inboxIds };
  }

  private apply(changes: ChangeSet): void {
    this.state.apply(changes);
    this.placement.applied(changes);
  }

  /** Memory as the disk has it. */
  private load(): Counts {
    const live = this.parts.store.loadLive();
    const state = stateOver(this.parts.store);
    state.apply({ ...live, audit: [], inbox: [] });
    this.state = state;
    this.placement = new Placement(state);
    this.placement.load(this.backend.observe());
    this.timer.elapsed.note(live);
    return live.counts;
  }

  /** Nothing was kept: observations are applied again later, commands are refused so that their senders know. */
  private roundFailed(
    error: unknown,
    observations: readonly AttemptObservation[],
    waiting: readonly Waiting[],
  ): void {
    this.reports.giveBack(observations);
    const reason = storageReason(error);
    this.parts.logger.error('A round could not be committed', describeError(error));
    refuseAll(waiting, reason);
    this.storageFailed(reason);
    this.reload();
  }

  /** Commands that came meanwhile are refused too: their senders shall know, not wait. */
  private storageFailed(reason: Refusal): void {
    this.storageFault = reason.message;
    refuseAll(this.commands.splice(0), reason);
    this.publisher?.statusChanged();
    this.timer.after(this.parts.storageRetryMs ?? usualStorageRetryMs, () => this.retryStorage());
  }

  private retryStorage(): void {
    const failed = this.reload() ?? probeStore(this.parts.store, this.state);
    if (failed !== null) {
      this.storageFailed(failed);
      return;
    }
    this.storageFault = null;
    this.runRound();
    if (this.health().healthy) this.publisher?.statusChanged();
  }

  /** Memory runs ahead of the disk in a round that failed: back to what the disk has. Null when that went well. */
  private reload(): Refusal | null {
    try {
      this.load();
      return null;
    } catch (error) {
      this.parts.logger.error('The database could not be read again', describeError(error));
      return storageReason(error);
    }
  }

  /** What follows from a commit, and only from one. */
  private perform(changes: ChangeSet, inboxIds: readonly number[]): void {
    if (this.launches.committed(changes)) this.backend.reconcile(this.launches.desired());
    if (changes.machines.length > 0) this.parts.machinesChanged?.(changes.machines);
    this.views.committed(changes);
    if (this.publisher !== null) {
      publishChanges(this.publisher, {
        changes,
        inboxIds,
        views: this.views,
        reasons: this.reasons,
        backend: this.backend,
        logger: this.parts.logger,
      });
    }
    this.views.evictOver(changes);
  }

  private isFinished(uid: string): boolean {
    const attempt = this.state.attempt(uid);
    return attempt === undefined || attempt.finishedAtMs !== null;
  }
}

function earlier(left: number | null, right: number | null): number | null {
  return left === null || right === null ? (left ?? right) : Math.min(left, right);
}
