/** Steps that tests of a real host share: submit, wait for a state, look at attempts. */
import { randomUUID } from 'node:crypto';
import { RefusalError, type Refusal } from '../../core/contract/errors.js';
import type { JobRequest } from '../../core/contract/job-request.js';
import { isTerminalJobState } from '../../core/contract/states.js';
import type { AttemptView, JobSummary, TaskView } from '../../core/contract/views.js';
import type { TestClient } from './client.js';
import { eventually } from './eventually.js';

export function shell(script: string, more: Partial<JobRequest> = {}): JobRequest {
  return { command: ['sh', '-c', script], workingDirectory: '/', ...more };
}

export async function submit(client: TestClient, request: JobRequest): Promise<string> {
  return (await client.call('job.submit', { requestId: randomUUID(), request })).jobId;
}

/** The job's line once it is as wanted. */
export async function summaryWhen(
  client: TestClient,
  jobId: string,
  wanted: (summary: JobSummary) => boolean,
): Promise<JobSummary> {
  const found: JobSummary[] = [];
  await client.until('job', { jobId }, (value) => {
    const { summary } = value as { summary: JobSummary };
    if (wanted(summary)) found.push(summary);
    return found.length > 0;
  });
  const [first] = found;
  if (first === undefined) throw new Error(`no line of ${jobId} was seen`);
  return first;
}

export const over = (client: TestClient, jobId: string) =>
  summaryWhen(client, jobId, (summary) => isTerminalJobState(summary.state));

export const running = (client: TestClient, jobId: string) =>
  summaryWhen(client, jobId, (summary) => (summary.taskCounts.RUNNING ?? 0) > 0);

export async function tasksOf(client: TestClient, jobId: string): Promise<readonly TaskView[]> {
  return (await client.call('task.list', { jobId, offset: 0, limit: 500 })).rows;
}

/** Attempts of the job's first task. */
export async function attemptsOf(client: TestClient, jobId: string): Promise<readonly AttemptView[]> {
  return (await tasksOf(client, jobId))[0]?.attempts ?? [];
}

/** The first task's last attempt, which must exist. */
export async function lastAttempt(client: TestClient, jobId: string): Promise<AttemptView> {
  const attempt = (await attemptsOf(client, jobId)).at(-1);
  if (attempt === undefined) throw new Error(`${jobId} has no attempt`);
  return attempt;
}

/** Waits until nothing of the job's attempts lives any more, as the controller has verified it. */
export async function verifiedGone(client: TestClient, jobId: string): Promise<void> {
  await eventually(async () =>
    (await tasksOf(client, jobId)).flatMap((task) =>
      task.attempts.filter((attempt) => attempt.finishedAtMs === null).map((attempt) => attempt.uid),
    ),
  ).toEqual([]);
}

export async function stop(client: TestClient, ...jobIds: string[]): Promise<void> {
  await client.call('job.stop', { requestId: randomUUID(), jobIds });
  for (const jobId of jobIds) await verifiedGone(client, jobId);
}

export async function textOf(
  client: TestClient,
  uid: string,
  stream: 'out' | 'err' = 'out',
): Promise<string> {
  const read = await client.call('log.read', { attemptUid: uid, stream, offset: 0, maxBytes: 1_000_000 });
  return Buffer.from(read.dataBase64, 'base64').toString();
}

/** The refusal that a call must end with. */
export async function refusalOf(call: Promise<unknown>): Promise<Refusal> {
  try {
    await call;
  } catch (error) {
    if (error instanceof RefusalError) return error.refusal;
    throw error;
  }
  throw new Error('nothing was refused');
}
