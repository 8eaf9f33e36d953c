/** Why jobs wait, when they may start, and what would become of one that is not submitted yet. */
import type { DryRun, ExpectedStart, Explanation } from '../../core/contract/explanation.js';
import type { JobSpec } from '../../core/contract/job-request.js';
import type { Band } from '../../core/contract/states.js';
import { timeText } from '../../core/formats/times.js';
import type { ModelState } from '../../core/model/draft.js';
import type { Job } from '../../core/model/entities.js';
import { dryRun } from '../../core/scheduling/explanation/dry-run.js';
import { whenOf } from '../../core/scheduling/explanation/expected-start.js';
import { explainJob } from '../../core/scheduling/explanation/explanation.js';
import { LookAhead, type Projection } from '../../core/scheduling/explanation/projection.js';
import type { Placement } from './placement.js';

/** How long a question waits for a look ahead: it runs on the controller's thread. */
const firstLookMs = 20;
/** And how long it goes on at a time between other work. */
const sliceMs = 4;
/** A look ahead younger than that is shown although rows have changed since. */
const minAgeMs = 2000;
/** And one older than that is not, although none has. */
const maxAgeMs = 60_000;

interface Kept {
  readonly version: number;
  readonly of: Placement;
  readonly value: Projection;
}

export interface Submitter {
  readonly user: string;
  readonly band: Band;
}

export class Explanations {
  private projection: Kept | null = null;

  constructor(
    private readonly parts: {
      readonly state: () => ModelState;
      readonly placement: () => Placement;
      readonly nowMs: () => number;
      readonly monotonicMs: () => number;
    },
  ) {}

  /** Null when nothing of the job waits. */
  explain(jobId: string): Explanation | null {
    const state = this.parts.state();
    const placement = this.parts.placement();
    const explained = explainJob(placement.explainContext(this.parts.nowMs()), jobId, {
      expected: whenOf(this.lookAhead(placement, jobId), jobId),
    });
    if (explained !== null) return withVictimsEnd(explained);
    // Not in the queue yet: something of an earlier attempt or run lives.
    const waiting = state.tasksOf(jobId).filter((task) => task.state === 'PENDING');
    const [first] = waiting;
    const cause = first === undefined ? null : placement.causeOf(first.id);
    if (first === undefined || cause === null) return null;
    return {
      jobId,
      taskId: first.id,
      waiting: waiting.length,
      reasons: [{ kind: 'backend', ...cause }],
      message: cause.message,
      short: cause.message.length > 60 ? `${cause.message.slice(0, 59)}…` : cause.message,
      remedies: [],
      expected: null,
    };
  }

  dryRun(spec: JobSpec, { user, band }: Submitter): DryRun {
    const placement = this.parts.placement();
    const nowMs = this.parts.nowMs();
    const job = this.trialJob(spec, user, band, nowMs);
    return placement.withTrial(job, (queued) => {
      const run = dryRun(placement.scheduler, queued, job.numTasks, nowMs, placement.rules);
      if (run.explanation === null) return run;
      const expected = placement.scheduler.trial(
        queued,
        job.numTasks,
        nowMs,
        placement.rules,
        (): ExpectedStart => {
          const jobIds = [queued.id];
          const ahead = new LookAhead(placement.scheduler.cluster, nowMs, placement.rules, { jobIds });
          this.advance(ahead, firstLookMs);
          return whenOf(ahead.projection(), queued.id);
        },
      );
      return { ...run, explanation: { ...run.explanation, expected } };
    });
  }

  /**
   * Made anew when rows have changed and the last is old enough; its age goes with what is said by it. What does not fit into a moment
   * is looked at between other work, and until then what was seen so far is said.
   */
  private lookAhead(placement: Placement, jobId: string): Projection {
    const { cluster } = placement.scheduler;
    const nowMs = this.parts.nowMs();
    const last = this.projection;
    const age = last === null ? -1 : nowMs - last.value.madeAtMs;
    // What came since is not in it.
    const known =
      last?.version === cluster.version || (age < minAgeMs && last?.value.starts.has(jobId) === true);
    const good = age >= 0 && age < maxAgeMs && known;
    if (last?.of === placement && good) return last.value;
    const ahead = new LookAhead(cluster, nowMs, placement.rules);
    const more = this.advance(ahead, firstLookMs);
    const value = ahead.projection();
    this.projection = { version: cluster.version, of: placement, value };
    if (more) this.goOn(ahead, this.projection);
    return value;
  }

  /** In slices, as long as nobody has begun another. */
  private goOn(ahead: LookAhead, begun: Kept): void {
    setImmediate(() => {
      if (this.projection !== begun) return;
      const more = this.advance(ahead, sliceMs);
      const next = { ...begun, value: ahead.projection() };
      this.projection = next;
      if (more) this.goOn(ahead, next);
    });
  }

  /** True while there is more to see. */
  private advance(ahead: LookAhead, forMs: number): boolean {
    const untilMs = this.parts.monotonicMs() + forMs;
    let more = ahead.advance();
    while (more && this.parts.monotonicMs() < untilMs) more = ahead.advance();
    return more;
  }

  private trialJob(spec: JobSpec, user: string, band: Band, nowMs: number): Job {
    const state = this.parts.state();
    const parent = spec.parent === null ? undefined : state.job(spec.parent);
    const id = `/${user}/dry run of a job`;
    const dependencies = spec.dependencies.map((wish) => ({
      ...wish,
      job: wish.job.startsWith('/') ? wish.job : (state.latestNamed(user, null, wish.job)?.id ?? wish.job),
    }));
    return {
      id,
      user,
      submittedBy: parent?.submittedBy ?? user,
      parentId: null,
      rootId: parent?.rootId ?? id,
      depth: (parent?.depth ?? 0) + 1,
      name: 'dry run of a job',
      state: 'PENDING',
      band,
      submittedAtMs: nowMs,
      rootSubmittedAtMs: parent?.rootSubmittedAtMs ?? nowMs,
      startedAtMs: null,
      finishedAtMs: null,
      schedulingDeadlineMs: null,
      cause: null,
      exitCode: null,
      numTasks: spec.replicas,
      retryOf: null,
      held: spec.held,
      rank: 0,
      spec: { ...spec, dependencies },
    };
  }
}

/** A look ahead takes what has to leave to be gone; who asks shall know how long that may last. */
function withVictimsEnd(explanation: Explanation): Explanation {
  const [main] = explanation.reasons;
  const { expected } = explanation;
  if (main?.kind !== 'victim' || main.untilMs === null || expected === null) return explanation;
  const text = `Starts when what has to leave has left, at ${timeText(main.untilMs)} at the latest.`;
  const assumptions = expected.assumptions.filter(({ code }) => code !== 'LEAVES_AT_ONCE');
  return { ...explanation, expected: { ...expected, kind: 'at', startMs: main.untilMs, text, assumptions } };
}
