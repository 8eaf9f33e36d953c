/** The desired set as the backend takes it: core's decision with everything a start needs. */
import { desiredAttempts, desiredOf, type Desired } from '../../core/model/desired.js';
import type { ModelState } from '../../core/model/draft.js';
import type { ChangeSet } from '../../core/model/entities.js';
import type { AttemptLaunch, DesiredAttempt } from '../backends/backend.js';
import { taskEnvironment } from './environment.js';

interface Plan {
  readonly item: DesiredAttempt;
  /** Launches do not change while their attempt lives, so each is made once. */
  readonly launch: AttemptLaunch | null;
}

export class LaunchPlans {
  /** Of every attempt that is not finished. */
  private readonly plans = new Map<string, Plan>();
  /** What they were made of; another one after a failed write. */
  private state: ModelState | null = null;

  constructor(
    private readonly current: () => ModelState,
    private readonly parts: {
      readonly homeRoot: string;
      readonly nowMs: () => number;
      /** The name other machines reach that one by. */
      readonly hostOf: (workerId: string) => string;
    },
  ) {}

  /** After each commit: only what it touched is planned anew, as thousands may run beside it. True when the backend is to be told. */
  committed(changes: Pick<ChangeSet, 'tasks' | 'attempts'>): boolean {
    const state = this.current();
    if (state !== this.state) {
      this.rebuild(state);
      return true;
    }
    const uids = new Set(changes.attempts.map(({ uid }) => uid));
    for (const { id } of changes.tasks) for (const { uid } of state.attemptsOf(id)) uids.add(uid);
    for (const uid of uids) {
      const attempt = state.attempt(uid);
      const task = attempt === undefined ? undefined : state.task(attempt.taskId);
      const job = attempt === undefined ? undefined : state.job(attempt.jobId);
      const over = attempt === undefined || attempt.finishedAtMs !== null;
      if (over || task === undefined || job === undefined) this.plans.delete(uid);
      else this.plans.set(uid, this.plan(desiredOf(attempt, task, job), this.plans.get(uid)));
    }
    return changes.attempts.length > 0;
  }

  /** Of every attempt whose processes may live. */
  desired(): DesiredAttempt[] {
    return Array.from(this.plans.values(), ({ item }) => item);
  }

  private rebuild(state: ModelState): void {
    const before = new Map(this.plans);
    this.state = state;
    this.plans.clear();
    for (const desired of desiredAttempts(state))
      this.plans.set(desired.uid, this.plan(desired, before.get(desired.uid)));
  }

  private plan(desired: Desired, before: Plan | undefined): Plan {
    const { uid } = desired;
    if (desired.kind === 'stop') {
      const { reason, signal, graceMs, notice } = desired;
      const told = notice === null ? {} : { notice };
      const { workerId } = desired.attempt;
      const container = desired.job.spec.image !== null;
      return {
        item: { kind: 'stop', uid, workerId, container, reason, signal, graceMs, ...told },
        launch: before?.launch ?? null,
      };
    }
    const launch = before?.launch ?? this.launch(desired);
    return { item: desired.kind === 'run' ? { kind: 'run', launch } : { kind: 'keep', uid, launch }, launch };
  }

  private launch({ attempt, task, job }: Exclude<Desired, { kind: 'stop' }>): AttemptLaunch {
    return {
      uid: attempt.uid,
      taskId: task.id,
      number: attempt.number,
      workerId: attempt.workerId,
      spec: job.spec,
      environment: taskEnvironment({
        job,
        task,
        attempt,
        homeRoot: this.parts.homeRoot,
        advertiseHost: this.parts.hostOf(attempt.workerId),
      }),
      devices: attempt.devices,
      ...(attempt.usage === undefined
        ? {}
        : { usedBefore: { usage: attempt.usage, forMs: this.sinceMs(attempt.startedAtMs) } }),
    };
  }

  private sinceMs(atMs: number | null): number {
    return atMs === null ? 0 : Math.max(0, this.parts.nowMs() - atMs);
  }
}
