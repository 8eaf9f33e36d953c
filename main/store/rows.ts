/** Rows as SQLite gives them, and the records made of them: the boundary where stored text becomes typed values again. */
import { demotionSchema } from '../../core/contract/views.js';
import { attemptUsageSchema } from '../../core/contract/usage.js';
import { laterSpecFields, type JobSpec } from '../../core/contract/job-request.js';
import { noQuota, quotaSchema } from '../../core/contract/budgets.js';
import { chargedIdentity } from '../../core/budget/spend.js';
import type { LaneItem } from '../../core/contract/queue.js';
import type { Attempt, Job, Machine, Task, UserBudget, UserUse } from '../../core/model/entities.js';
import type { SummaryHead } from '../../core/model/summary.js';
import {
  allowedBandsOf,
  attemptStateOf,
  bandOf,
  causeOf,
  claimOf,
  jobStateOf,
  schedulingOf,
  taintsOf,
  taskStateOf,
  warningsOf,
} from './codes.js';

export interface HeadRow {
  readonly id: string;
  readonly user: string;
  readonly parent_id: string | null;
  readonly root_id: string;
  readonly depth: number;
  readonly name: string;
  readonly state: number;
  readonly band: number;
  readonly submitted_at_ms: number;
  readonly started_at_ms: number | null;
  readonly finished_at_ms: number | null;
  readonly cause_code: string | null;
  readonly cause_message: string | null;
  readonly exit_code: number | null;
  readonly num_tasks: number;
  readonly retry_of: string | null;
  readonly held: number;
  readonly gpu_count: number;
  readonly command_line: string;
}

export const headColumns = [
  'id, user, parent_id, root_id, depth, name, state, band, submitted_at_ms, started_at_ms, finished_at_ms',
  'cause_code, cause_message, exit_code, num_tasks, retry_of, held, gpu_count, command_line',
].join(', ');

export function headOf(row: HeadRow): SummaryHead {
  return {
    id: row.id,
    user: row.user,
    parentId: row.parent_id,
    rootId: row.root_id,
    depth: row.depth,
    name: row.name,
    state: jobStateOf(row.state),
    band: bandOf(row.band),
    submittedAtMs: row.submitted_at_ms,
    startedAtMs: row.started_at_ms,
    finishedAtMs: row.finished_at_ms,
    cause: causeOf(row.cause_code, row.cause_message),
    exitCode: row.exit_code,
    numTasks: row.num_tasks,
    retryOf: row.retry_of,
    held: row.held !== 0,
    gpuCount: row.gpu_count,
    commandLine: row.command_line,
  };
}

export interface JobRow extends Omit<HeadRow, 'gpu_count' | 'command_line'> {
  readonly submitted_by: string;
  readonly root_submitted_at_ms: number;
  readonly scheduling_deadline_ms: number | null;
  readonly own_rank: number;
  readonly spec: string;
}

/** Specifications are written from checked requests only, so their text is trusted to be one. */
export function specOf(text: string): JobSpec {
  return { ...laterSpecFields, ...(JSON.parse(text) as JobSpec) };
}

export function jobOf(row: JobRow): Job {
  return {
    id: row.id,
    user: row.user,
    submittedBy: row.submitted_by,
    parentId: row.parent_id,
    rootId: row.root_id,
    depth: row.depth,
    name: row.name,
    state: jobStateOf(row.state),
    band: bandOf(row.band),
    submittedAtMs: row.submitted_at_ms,
    rootSubmittedAtMs: row.root_submitted_at_ms,
    startedAtMs: row.started_at_ms,
    finishedAtMs: row.finished_at_ms,
    schedulingDeadlineMs: row.scheduling_deadline_ms,
    cause: causeOf(row.cause_code, row.cause_message),
    exitCode: row.exit_code,
    numTasks: row.num_tasks,
    retryOf: row.retry_of,
    held: row.held !== 0,
    rank: row.own_rank,
    spec: specOf(row.spec),
  };
}

export interface TaskRow {
  readonly job_id: string;
  readonly task_index: number;
  readonly state: number;
  readonly final: number;
  readonly band: number;
  readonly submitted_at_ms: number;
  readonly started_at_ms: number | null;
  readonly finished_at_ms: number | null;
  readonly exit_code: number | null;
  readonly cause_code: string | null;
  readonly cause_message: string | null;
  readonly waiting_code: string | null;
  readonly waiting_message: string | null;
  readonly current_attempt: number;
  readonly insertion: number;
  readonly failure_count: number;
  readonly preemption_count: number;
  /** JSON; null for none. */
  readonly claim: string | null;
}

export function taskOf(row: TaskRow): Task {
  return {
    id: `${row.job_id}/${row.task_index}`,
    jobId: row.job_id,
    index: row.task_index,
    state: taskStateOf(row.state),
    final: row.final !== 0,
    band: bandOf(row.band),
    submittedAtMs: row.submitted_at_ms,
    startedAtMs: row.started_at_ms,
    finishedAtMs: row.finished_at_ms,
    exitCode: row.exit_code,
    cause: causeOf(row.cause_code, row.cause_message),
    waiting: causeOf(row.waiting_code, row.waiting_message),
    currentAttempt: row.current_attempt,
    insertion: row.insertion,
    failureCount: row.failure_count,
    preemptionCount: row.preemption_count,
    claim: row.claim === null ? null : claimOf(row.claim),
  };
}

export interface AttemptRow {
  readonly job_id: string;
  readonly task_index: number;
  readonly number: number;
  readonly uid: string;
  readonly state: number;
  readonly backend_id: string;
  readonly worker_id: string;
  readonly created_at_ms: number;
  readonly started_at_ms: number | null;
  readonly finished_at_ms: number | null;
  readonly duration_ms: number | null;
  readonly exit_code: number | null;
  readonly signal: string | null;
  readonly cause_code: string | null;
  readonly cause_message: string | null;
  readonly devices: string | null;
  readonly cpu_millicores: number;
  readonly memory_bytes: number;
  readonly ports: string | null;
  readonly peak_memory_bytes: number | null;
  readonly pid: number | null;
  /** JSON; null for none. */
  readonly warnings: string | null;
  readonly checkpoint_at_ms: number | null;
  readonly notice_at_ms: number | null;
  /** JSON. */
  readonly usage: string | null;
  readonly evictable_by: string | null;
  /** JSON; null for none. */
  readonly demoted: string | null;
}

export function attemptOf(row: AttemptRow): Attempt {
  return {
    uid: row.uid,
    taskId: `${row.job_id}/${row.task_index}`,
    jobId: row.job_id,
    number: row.number,
    state: attemptStateOf(row.state),
    backendId: row.backend_id,
    workerId: row.worker_id,
    createdAtMs: row.created_at_ms,
    startedAtMs: row.started_at_ms,
    finishedAtMs: row.finished_at_ms,
    durationMs: row.duration_ms,
    exitCode: row.exit_code,
    signal: row.signal,
    cause: causeOf(row.cause_code, row.cause_message),
    warnings: row.warnings === null ? [] : warningsOf(row.warnings),
    devices: row.devices === null ? [] : (JSON.parse(row.devices) as string[]),
    cpuMillicores: row.cpu_millicores,
    memoryBytes: row.memory_bytes,
    ports: row.ports === null ? {} : (JSON.parse(row.ports) as Record<string, number>),
    peakMemoryBytes: row.peak_memory_bytes,
    pid: row.pid,
    checkpointAtMs: row.checkpoint_at_ms,
    noticeAtMs: row.notice_at_ms,
    ...(row.usage === null ? {} : { usage: attemptUsageSchema.parse(JSON.parse(row.usage)) }),
    ...(row.demoted === null ? {} : { demoted: demotionSchema.parse(JSON.parse(row.demoted)) }),
    evictableBy: row.evictable_by,
  };
}

export interface BudgetRow {
  readonly user_id: string;
  readonly budget_limit: number | null;
  readonly max_band: number;
  readonly allowed_bands: string | null;
  readonly quota: string | null;
  readonly updated_at_ms: number;
}

/** As the original stores it, 0 is no limit. */
export function budgetOf(row: BudgetRow): UserBudget {
  const limit = row.budget_limit;
  return {
    user: row.user_id,
    limit: limit === null ? 'default' : limit === 0 ? 'unlimited' : limit,
    maxBand: bandOf(row.max_band),
    allow: row.allowed_bands === null ? [] : allowedBandsOf(row.allowed_bands),
    quota: row.quota === null ? noQuota : quotaSchema.parse(JSON.parse(row.quota)),
    updatedAtMs: row.updated_at_ms,
  };
}

export interface UseRow {
  readonly user_id: string;
  readonly gpus: number;
  readonly memory: number;
  readonly processors: number;
  readonly faded_gpus: number;
  readonly faded_memory: number;
  readonly faded_processors: number;
}

export function useOf(row: UseRow): UserUse {
  return {
    user: row.user_id,
    used: { gpus: row.gpus, memory: row.memory, processors: row.processors },
    faded: { gpus: row.faded_gpus, memory: row.faded_memory, processors: row.faded_processors },
  };
}

export interface MachineRow {
  readonly id: string;
  readonly address: string | null;
  readonly identity: string | null;
  readonly scheduling: string;
  readonly drain_deadline_ms: number | null;
  readonly attributes: string | null;
  readonly taints: string | null;
  readonly wake_address: string | null;
  readonly added_at_ms: number;
  readonly added_by: string;
}

export function machineOf(row: MachineRow): Machine {
  return {
    id: row.id,
    address: row.address,
    identity: row.identity,
    scheduling: schedulingOf(row.scheduling),
    drainDeadlineMs: row.drain_deadline_ms,
    attributes: row.attributes === null ? {} : (JSON.parse(row.attributes) as Machine['attributes']),
    taints: row.taints === null ? [] : taintsOf(row.taints),
    wakeAddress: row.wake_address,
    addedAtMs: row.added_at_ms,
    addedBy: row.added_by,
  };
}

export interface LaneRow {
  readonly uid: string;
  readonly job_id: string;
  readonly task_index: number;
  readonly worker_id: string;
  readonly devices: string | null;
  readonly state: number;
  readonly started_at_ms: number;
  readonly finished_at_ms: number;
  readonly band: number;
  readonly name: string;
  readonly user: string;
  readonly submitted_by: string;
}

export function laneOf(row: LaneRow): LaneItem {
  return {
    uid: row.uid,
    taskId: `${row.job_id}/${row.task_index}`,
    jobId: row.job_id,
    jobName: row.name,
    user: chargedIdentity(row.submitted_by, row.user),
    band: bandOf(row.band),
    workerId: row.worker_id,
    devices: row.devices === null ? [] : (JSON.parse(row.devices) as string[]),
    state: attemptStateOf(row.state),
    fromMs: row.started_at_ms,
    toMs: row.finished_at_ms,
  };
}
