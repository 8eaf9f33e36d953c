/** What transitions read: rows and the counts kept of them. `ModelState` holds them in memory, `Draft` lays changes over it. */
import type { Attempt, Job, Machine, Task, UserBudget, UserUse } from './entities.js';
import type { JobTally } from './tally.js';

/** Keys of `meta`. */
export const metaKeys = {
  /** Submission time given last; the next is at least one millisecond later. */
  lastSubmission: 'last_submission_ms',
  /** Insertion number the next task gets. */
  nextInsertion: 'next_insertion',
  /** Half-life of past use; 0 or absent: nothing fades. */
  halfLife: 'use_half_life_ms',
  /** The moment for which faded sums are kept. */
  useEpoch: 'use_epoch_ms',
} as const;

/** What a worker's unfinished attempts hold. An attempt is unfinished until its processes are verified gone. */
export interface UsedCapacity {
  readonly cpuMillicores: number;
  readonly memoryBytes: number;
  readonly attempts: number;
  /** Uid of the holder by device. */
  readonly devices: ReadonlyMap<string, readonly string[]>;
}

export const nothingUsed: UsedCapacity = {
  cpuMillicores: 0,
  memoryBytes: 0,
  attempts: 0,
  devices: new Map(),
};

/** Deadlines that have passed: jobs by their scheduling deadline, attempts (uids) by their time limit. */
export interface DueDeadlines {
  readonly jobs: readonly string[];
  readonly attempts: readonly string[];
}

export interface ModelView {
  /** A job held in memory: every job of a tree with an unfinished member, and finished ones not evicted yet. */
  job(id: string): Job | undefined;
  /** Like `job`, but also finds evicted ones, by asking the store. */
  findJob(id: string): Job | undefined;
  /** The job submitted last under that name (see `nameKey`), evicted ones included. */
  latestNamed(user: string, parentId: string | null, name: string): Job | undefined;
  task(id: string): Task | undefined;
  attempt(uid: string): Attempt | undefined;
  /** In index order. */
  tasksOf(jobId: string): readonly Task[];
  /** Direct children, in submission order. */
  childrenOf(jobId: string): readonly Job[];
  /** Oldest first; the position is the attempt's number. */
  attemptsOf(taskId: string): readonly Attempt[];
  /** Tasks of the job by state, kept up to date. */
  tally(jobId: string): JobTally;
  /** Attempts whose processes may live. */
  unfinishedAttempts(): Iterable<Attempt>;
  used(workerId: string): UsedCapacity;
  /** Tasks that are not terminal, by the submitter of their job. */
  openTasks(submittedBy: string): number;
  /** What was set for the user; undefined: the defaults apply. */
  budget(user: string): UserBudget | undefined;
  /** Every row there is, in no order. */
  budgets(): Iterable<UserBudget>;
  /** What the user used of what has ended; undefined: nothing. */
  use(user: string): UserUse | undefined;
  /** Every row there is, in no order. */
  uses(): Iterable<UserUse>;
  /** What was set of the machine; undefined: nothing. */
  machine(id: string): Machine | undefined;
  /** Every row there is, in no order. */
  machines(): Iterable<Machine>;
  /** The answer given to that request before; undefined when it is new. */
  receipt(requestId: string): unknown;
  meta(key: string): number | undefined;
  /** Candidates only: a caller checks each against the current rows. Of a Draft: those of what lies under it. */
  due(nowMs: number): DueDeadlines;
}

/** Rows that are no longer in memory, read from the store. Calls are made only where a name or an id is checked. */
export interface ColdRows {
  job(id: string): Job | undefined;
  /** Newest by submission whose user, parent and lower-cased name are these. */
  latestNamed(user: string, parentId: string | null, name: string): Job | undefined;
  receipt(requestId: string): unknown;
}

export const noColdRows: ColdRows = {
  job: () => undefined,
  latestNamed: () => undefined,
  receipt: () => undefined,
};
