/** Summaries and tasks for tests, whole but for what a test sets. */
import { parseJobRequest } from '../../core/contract/job-request.js';
import type { AttemptView, JobSummary, TaskView } from '../../core/contract/views.js';

export function summary(more: Partial<JobSummary> = {}): JobSummary {
  return {
    id: '/ada/train-1',
    name: 'train-1',
    user: 'ada',
    parentId: null,
    rootId: '/ada/train-1',
    depth: 1,
    state: 'RUNNING',
    band: 'INTERACTIVE',
    submittedAtMs: 1_700_000_000_000,
    startedAtMs: null,
    finishedAtMs: null,
    numTasks: 1,
    taskCounts: {},
    childCount: 0,
    failureCount: 0,
    preemptionCount: 0,
    gpuCount: 0,
    exitCode: null,
    cause: null,
    waiting: null,
    workers: [],
    commandLine: 'true',
    retryOf: null,
    held: false,
    ...more,
  };
}

export function attempt(more: Partial<AttemptView> = {}): AttemptView {
  return {
    uid: '00000000000000aa',
    taskId: '/ada/train-1/0',
    number: 0,
    state: 'RUNNING',
    workerId: 'here',
    createdAtMs: 1_700_000_000_000,
    startedAtMs: 1_700_000_000_000,
    finishedAtMs: null,
    durationMs: null,
    exitCode: null,
    signal: null,
    cause: null,
    warnings: [],
    devices: [],
    peakMemoryBytes: null,
    pid: null,
    checkpointAtMs: null,
    noticeAtMs: null,
    ...more,
  };
}

export function task(more: Partial<TaskView> = {}): TaskView {
  return {
    id: '/ada/train-1/0',
    index: 0,
    state: 'RUNNING',
    band: 'INTERACTIVE',
    submittedAtMs: 1_700_000_000_000,
    startedAtMs: null,
    finishedAtMs: null,
    exitCode: null,
    cause: null,
    waiting: null,
    failureCount: 0,
    preemptionCount: 0,
    attempts: [],
    ...more,
  };
}

export function detail(of: JobSummary) {
  const spec = parseJobRequest({ command: ['true'], workingDirectory: '/srv' });
  if (!spec.ok) throw new Error(spec.refusal.message);
  return { summary: of, spec: spec.value, submittedBy: 'ada', ancestors: [] };
}
