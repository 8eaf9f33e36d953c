/** The desired set as the backend takes it: core's decision with everything a start needs. */
import { desiredAttempts, type Desired } from '../../core/model/desired.js';
import type { ModelState } from '../../core/model/draft.js';
import type { AttemptLaunch, DesiredAttempt } from '../backends/backend.js';
import { taskEnvironment } from './environment.js';

export class LaunchPlans {
  /** Launches do not change while their attempt lives, so each is made once. */
  private launches = new Map<string, AttemptLaunch>();

  constructor(
    private readonly current: () => ModelState,
    private readonly parts: { readonly homeRoot: string; readonly advertiseHost: string },
  ) {}

  /** Of every attempt whose processes may live. */
  desired(): DesiredAttempt[] {
    const kept = new Map<string, AttemptLaunch>();
    const result: DesiredAttempt[] = [];
    for (const desired of desiredAttempts(this.current())) {
      if (desired.kind === 'stop') {
        result.push({
          kind: 'stop',
          uid: desired.attempt.uid,
          reason: desired.reason,
          signal: desired.job.spec.stopSignal,
          graceMs: desired.job.spec.graceMs,
          ...(desired.notice === null ? {} : { notice: desired.notice }),
        });
        continue;
      }
      const { uid } = desired.attempt;
      const launch = this.launches.get(uid) ?? this.launch(desired);
      kept.set(uid, launch);
      result.push(desired.kind === 'run' ? { kind: 'run', launch } : { kind: 'keep', uid, launch });
    }
    this.launches = kept;
    return result;
  }

  private launch({ attempt, task, job }: Exclude<Desired, { kind: 'stop' }>): AttemptLaunch {
    return {
      uid: attempt.uid,
      taskId: task.id,
      number: attempt.number,
      workerId: attempt.workerId,
      spec: job.spec,
      environment: taskEnvironment({ job, task, attempt, ...this.parts }),
      devices: attempt.devices,
    };
  }
}
