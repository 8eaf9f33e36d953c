/** Why tasks wait, in the words shown in lists: made when somebody asks, from the last decision and the rows it was made of. */
import type { WaitReason } from '../contract/explanation.js';
import type { Cause, CauseCode } from '../contract/views.js';
import type { Job, Task } from '../model/entities.js';
import type { ModelState } from '../model/state.js';
import type { Cluster } from './cluster.js';
import type { Decision, WaitCode } from './decision.js';
import { machineOf } from './constraints.js';
import { reasonOf } from './explanation/reasons.js';
import type { ExplainContext } from './explanation/room-reason.js';
import { sentenceOf } from './explanation/words.js';
import type { JobEntry } from './queue.js';

/** Waiting jobs whose reasons are looked at after each decision: those ahead. */
const maxWatched = 100;

export class WaitCauses {
  private decision: Decision | null = null;
  private codes: Map<string, WaitCode> | null = null;
  private shown = new Map<string, string>();
  private room: { readonly version: number; readonly causes: Map<string, Cause> } | null = null;

  constructor(
    private readonly state: ModelState,
    private readonly cluster: Cluster,
    private readonly context: () => ExplainContext,
  ) {}

  decided(decision: Decision): void {
    if (decision === this.decision) return;
    this.decision = decision;
    this.codes = null;
  }

  /** Why a PENDING task waits; null when it does not, or nobody has looked at it yet. */
  of(taskId: string): Cause | null {
    const task = this.state.task(taskId);
    const job = task === undefined ? undefined : this.state.job(task.jobId);
    if (task?.state !== 'PENDING' || job === undefined) return null;
    const predecessor = this.state.predecessorCause(taskId);
    if (predecessor !== null) return predecessor;
    if (task.claim !== null) return this.claimed(task);
    const code = this.codeOf(job.id);
    return code === undefined ? task.waiting : this.causeOf(code, job);
  }

  /** Of the jobs ahead, those that wait for another reason than when this was asked last. */
  changed(): string[] {
    const next = new Map<string, string>();
    const changed: string[] = [];
    for (const { jobId, code } of (this.decision?.waiting ?? []).slice(0, maxWatched)) {
      const job = this.state.job(jobId);
      if (job === undefined || next.has(jobId)) continue;
      const message = this.causeOf(code, job)?.message ?? '';
      next.set(jobId, message);
      if (this.shown.get(jobId) !== message) changed.push(jobId);
    }
    this.shown = next;
    return changed;
  }

  private codeOf(jobId: string): WaitCode | undefined {
    // What kept the first of its tasks counts, as lists show one reason a job.
    this.codes ??= new Map(
      (this.decision?.waiting ?? []).toReversed().map((each) => [each.jobId, each.code]),
    );
    return this.codes.get(jobId);
  }

  private causeOf(code: WaitCode, job: Job): Cause | null {
    const entry = this.cluster.queue.jobs.get(job.id);
    if (entry === undefined) return null;
    return code === 'impossible' || code === 'capacity'
      ? this.roomCause(code, job, entry)
      : causeOfReason(reasonOf(this.context(), entry, code));
  }

  private claimed(task: Task): Cause {
    const { workerId = '', waitsFor = [] } = task.claim ?? {};
    const living = waitsFor.flatMap((uid) => {
      const attempt = this.state.attempt(uid);
      return attempt === undefined || attempt.finishedAtMs !== null ? [] : [{ uid, taskId: attempt.taskId }];
    });
    return causeOfReason({ kind: 'victim', workerId, attempts: living, untilMs: null });
  }

  /** Jobs of one shape share the reason: it is looked for once while nothing changes. */
  private roomCause(code: WaitCode, job: Job, entry: JobEntry): Cause {
    const { version } = this.cluster;
    if (this.room?.version !== version) this.room = { version, causes: new Map() };
    const { causes } = this.room;
    const key = job.spec.gangBy === null ? entry.shape.key : `${entry.shape.key} ${job.numTasks}`;
    let cause = causes.get(key);
    if (cause === undefined) {
      cause = onlyThere(
        causeOfReason(reasonOf(this.context(), entry, code)),
        machineOf(entry.job.constraints),
      );
      causes.set(key, cause);
    }
    return cause;
  }
}

/** A job that names a machine waits for that one. */
function onlyThere({ code, message }: Cause, machine: string | null): Cause {
  const only = machine !== null && code === 'WAITS_FOR_CAPACITY';
  return { code, message: only ? `${message} Only on ${machine}.` : message };
}

function causeOfReason(reason: WaitReason): Cause {
  return { code: codeOfReason(reason), message: sentenceOf(reason) };
}

function codeOfReason(reason: WaitReason): CauseCode {
  switch (reason.kind) {
    case 'capacity':
    case 'build-slots':
      return 'WAITS_FOR_CAPACITY';
    case 'gang':
      if (reason.groups === 0) return 'WAITS_FOR_CONSTRAINT';
      return reason.largest < reason.size ? 'WAITS_NO_WORKER_FITS' : 'WAITS_FOR_CAPACITY';
    case 'too-large':
      return 'WAITS_NO_WORKER_FITS';
    case 'constraint':
      return 'WAITS_FOR_CONSTRAINT';
    case 'hold':
      return 'WAITS_HELD';
    case 'not-before':
      return 'WAITS_FOR_TIME';
    case 'dependency':
      return 'WAITS_FOR_JOB';
    case 'quota':
      return 'WAITS_QUOTA';
    case 'job-cap':
      return 'WAITS_JOB_CAP';
    case 'victim':
      return 'WAITS_FOR_VICTIM';
    case 'reserved':
      return 'WAITS_RESERVED';
    case 'no-machine':
      return 'WAITS_BACKEND_NOT_READY';
    case 'position':
    case 'demoted':
    case 'turn':
      return 'WAITS_FOR_TURN';
    case 'backend':
      return reason.code;
  }
}
