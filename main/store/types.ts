/**
 * What the rest of the main process knows of the store. Everything here is free of SQL. `Store` belongs to the controller and is the
 * only writer; `Reads` answers queries on a connection of its own and never writes.
 */
import type { JobDetail, JobFilter, JobSort } from '../../core/contract/api.js';
import type { LaneItem } from '../../core/contract/queue.js';
import type { JobState } from '../../core/contract/states.js';
import type {
  AttemptView,
  AuditEvent,
  Counts,
  InboxItem,
  JobSummary,
  TaskView,
} from '../../core/contract/views.js';
import type { Attempt, ChangeSet, Job, Task, UserBudget, UserUse } from '../../core/model/entities.js';

/** Where the store tells of slow statements, migrations and backups. */
export interface StoreLog {
  info(message: string, fields: Readonly<Record<string, unknown>>): void;
  warn(message: string, fields: Readonly<Record<string, unknown>>): void;
}

export interface StoreOptions {
  /** The database file; created with mode 0600 when absent. Its folder must exist. */
  readonly path: string;
  readonly nowMs: () => number;
  readonly log: StoreLog;
  /** Written beside each migration for the record. */
  readonly appVersion: string;
}

export interface Receipt {
  readonly requestId: string;
  readonly atMs: number;
  readonly answer: unknown;
}

/** Jobs, tasks and attempts of whole trees: parents before children, tasks by index, attempts by number. */
export interface TreeState {
  readonly jobs: readonly Job[];
  readonly tasks: readonly Task[];
  readonly attempts: readonly Attempt[];
}

/** What a controller starts from. */
export interface LiveState extends TreeState {
  /** Every row there is. */
  readonly budgets: readonly UserBudget[];
  readonly uses: readonly UserUse[];
  readonly machines: ChangeSet['machines'];
  /** Of the last hour. */
  readonly receipts: readonly Receipt[];
  readonly meta: Readonly<Record<string, number>>;
  /** Over the whole database, so that the controller can go on counting from there. */
  readonly counts: Counts;
}

export interface CommitResult {
  /** One for each entry of `changes.inbox`, in its order. */
  readonly inboxIds: readonly number[];
}

export interface PruneResult {
  readonly rootIds: readonly string[];
  /** Of these trees. */
  readonly jobIds: readonly string[];
  /** Whose folders can go now. */
  readonly attemptUids: readonly string[];
}

/** Every method throws a `RefusalError`: STORAGE_FAILED when the disk would not take it, INTERNAL for what must not happen. */
export interface Store {
  readonly path: string;
  /** journal_mode, synchronous, foreign_keys, busy_timeout and so on, as read back from the connection. */
  readonly pragmas: Readonly<Record<string, string | number>>;
  /** One transaction, on disk when it returns; nothing of it is kept when it throws. */
  commit(changes: ChangeSet): CommitResult;
  /** Every tree that holds a job that is not over or an attempt that is not finished. */
  loadLive(): LiveState;
  /** A whole tree, live or over; null when there is none. */
  loadTree(rootId: string): TreeState | null;
  /** State and root of a job by its exact id, null when there is none. */
  findJob(jobId: string): { readonly state: JobState; readonly rootId: string } | null;
  /** A job by its exact id, live or over; null when there is none. */
  jobById(jobId: string): Job | null;
  /** The job submitted last under that name (case does not matter) of that user and parent; null when there is none. */
  latestNamed(user: string, parentId: string | null, name: string): Job | null;
  /** The answer given to that request, however old. */
  findReceipt(requestId: string): Receipt | null;
  /** Marks these inbox items, or all when null, as read. */
  markInboxRead(ids: readonly number[] | null): { readonly unread: number; readonly failedUnseen: number };
  /**
   * Deletes at most `limit` root trees that ended before `beforeMs` and hold nothing live, one tree a transaction, each with its
   * audit row. Audit and inbox rows stay: see `pruneRecords`. `kept`: root jobs that are asked for still.
   */
  prune(beforeMs: number, limit: number, kept?: readonly string[]): PruneResult;
  /** Those of these attempts that are not there (any more). */
  unknownAttempts(uids: readonly string[]): readonly string[];
  /** Deletes receipts, inbox items and audit rows older than given, at most `limit` of each; returns how many. */
  pruneRecords(
    before: { readonly receiptsMs: number; readonly inboxMs: number; readonly auditMs: number },
    limit: number,
  ): number;
  /** Problems found by a full check, empty when sound. Slow: not for the controller's thread while jobs run. */
  integrity(): readonly string[];
  /** Moves the write-ahead log into the database; for idle moments. True when all of it was moved. */
  checkpoint(): boolean;
  /** Close readers first: the last connection to close folds the write-ahead log in. */
  close(): void;
}

export interface Page<Row> {
  readonly total: number;
  readonly rows: readonly Row[];
}

/** An attempt found by its uid, with where it belongs. */
export interface AttemptRecord {
  readonly jobId: string;
  readonly attempt: AttemptView;
}

/** Queries behind the contract's methods of the same names. A page costs the same number of statements whatever its length. */
export interface Reads {
  jobList(filter: JobFilter, sort: JobSort, offset: number, limit: number): Page<JobSummary>;
  /** Direct children, oldest first. */
  children(jobId: string, offset: number, limit: number): Page<JobSummary>;
  /** Exact id, else the newest job of that name (case does not matter) of that user; null when there is none. */
  resolveJob(idOrName: string, user: string): string | null;
  jobDetail(jobId: string): JobDetail | null;
  /** These jobs' lines, in the order asked; unknown ids are left out. */
  summaries(jobIds: readonly string[]): readonly JobSummary[];
  /** Root jobs that ended last, newest first. */
  recentlyFinished(limit: number): readonly JobSummary[];
  /** What started and has ended since then, newest end first. */
  lanes(sinceMs: number, limit: number): readonly LaneItem[];
  taskList(jobId: string, offset: number, limit: number): Page<TaskView>;
  attemptByUid(uid: string): AttemptRecord | null;
  /** Newest first. `entity`: that job, task or attempt and whatever lies under it in the path. */
  audit(entity: string | null, beforeId: number | null, limit: number): readonly AuditEvent[];
  /** Newest first. */
  inbox(
    beforeId: number | null,
    limit: number,
  ): { readonly items: readonly InboxItem[]; readonly unread: number };
  counts(): Counts;
  close(): void;
}

/** The same queries answered by the reader's thread; each refuses with UNAVAILABLE when it cannot be answered in time. */
export type AsyncReads = {
  readonly [M in Exclude<keyof Reads, 'close'>]: (
    ...args: Parameters<Reads[M]>
  ) => Promise<ReturnType<Reads[M]>>;
} & { close(): Promise<void> };

/** Where the reader's thread finds its program and its database. */
export interface ReaderOptions {
  /** The built `reader-worker` file. */
  readonly workerFile: URL | string;
  readonly path: string;
  readonly log: StoreLog;
  /** Longest wait for one answer; 10 s unless told. */
  readonly timeoutMs?: number;
  /** The thread starts only so long after; what is asked before is answered here, by these reads. */
  readonly later?: { readonly afterMs: number; readonly reads: () => Reads };
}

/** Who holds a data folder. A process is named by boot, pid and start time, never by pid alone. */
export interface OwnerInfo {
  readonly bootId: string;
  readonly pid: number;
  /** In the system's own unit; compared, never computed with. */
  readonly startTime: string;
  readonly host: 'desktop' | 'headless';
  readonly version: string;
}

/** Held until released or until the process dies, however it dies. */
export interface OwnerLock {
  readonly owner: OwnerInfo;
  release(): void;
}

/**
 * The module's functions:
 * `openStore(options: StoreOptions): Store` (store.ts) throws DATABASE_NEWER, DATABASE_CORRUPT or STORAGE_FAILED;
 * `openReads({ path, nowMs, log }): Reads` (reads.ts); `openReader(options: ReaderOptions): AsyncReads` (reader.ts);
 * `acquireOwnerLock(folder: string, owner: OwnerInfo): OwnerLock` (owner-lock.ts) throws FOLDER_OWNED naming the holder.
 */
export type StoreFunctions = {
  readonly openStore: (options: StoreOptions) => Store;
  readonly openReads: (options: Pick<StoreOptions, 'path' | 'nowMs' | 'log'>) => Reads;
  readonly openReader: (options: ReaderOptions) => AsyncReads;
  readonly acquireOwnerLock: (folder: string, owner: OwnerInfo) => OwnerLock;
};
