/**
 * The controller on a real database with a standing load, in a thread: times submissions from the call to the answer, which comes
 * after the commit. Started by itself, in Node, it prints what it measured: so that it can be profiled.
 */
import path from 'node:path';
import { parentPort } from 'node:worker_threads';
import { jobLimits, type JobRequest } from '../../../core/contract/job-request.js';
import { Controller } from '../../../main/controller/controller.js';
import { noChanges } from '../../../main/controller/merge-changes.js';
import { Publisher } from '../../../main/controller/publisher.js';
import { randomHex } from '../../../main/controller/random-hex.js';
import { openStore } from '../../../main/store/store.js';
import { askedSpec, observedMachines, standingRows } from '../round-load.js';
import type { RoundMessage, RoundResult } from '../round-result.js';
import { RoundBackend } from './round-backend.js';

const warmUp = 40;
const submissions = 300;
const largeJobs = 5;
/** Longer than the shortest time between two rounds. */
const restMs = 8;
const quietMs = 300;

const folder = process.env['BENCH_FOLDER'];
if (folder === undefined) throw new Error('BENCH_FOLDER is to be set.');

const silent = () => undefined;
const logger = { info: silent, warn: silent, error: silent };
const nowMs = () => Date.now();
const monotonicMs = () => performance.now();

const store = openStore({ path: path.join(folder, 'iris.db'), nowMs, log: logger, appVersion: 'bench' });
const backend = new RoundBackend(observedMachines(), { standing: true });
store.commit(standingRows(nowMs(), backend.describe().id));
const controller = new Controller({
  store,
  backend,
  logger,
  nowMs,
  monotonicMs,
  random: randomHex,
  homeRoot: folder,
  advertiseHost: 'localhost',
});
lookOn();

void run().then((result) => {
  controller.stop();
  store.close();
  if (parentPort === null) print(result);
  else tell({ kind: 'done', result });
});

async function run(): Promise<RoundResult> {
  await controller.start();
  tell({ kind: 'phase', phase: 'load' });
  await standing();
  tell({ kind: 'phase', phase: 'rounds' });
  const stood = inWords();
  const rounds = await measureRounds();
  tell({ kind: 'phase', phase: 'large' });
  const largeMs = await measureLarge();
  return { standing: stood, ...rounds, largeMs, replicas: jobLimits.maxReplicas };
}

/** As a window on its list of jobs does. */
function lookOn(): void {
  const none = () => {
    throw new Error('Nobody asks for that here.');
  };
  const publisher = new Publisher(
    {
      counts: () => controller.views.counts(),
      summary: (jobId) => controller.views.summaryOf(jobId),
      status: none,
      images: none,
      machinesSeen: () => undefined,
      overview: none,
      budgets: none,
      queue: none,
      question: none,
      job: none,
      log: none,
      unread: none,
      interest: silent,
    },
    monotonicMs,
    (error) => {
      throw error;
    },
  );
  controller.publishTo(publisher);
  const handle = publisher.subscribe(1, 'jobs', {}, (frame) => {
    const seq = frame.kind === 'delta' ? frame.seq : 0;
    // As a window does, after it has come.
    setImmediate(() => handle.acknowledge(seq));
  });
}

/** Nothing is asked, told or decided any more. */
async function quiet(): Promise<void> {
  do await pause(restMs);
  while (controller.busy() || backend.busy);
}

/** What finds a place takes it, however many rounds that needs. */
async function standing(): Promise<void> {
  let calmSince = monotonicMs();
  while (monotonicMs() - calmSince < quietMs) {
    await pause(2);
    if (controller.busy() || backend.busy) calmSince = monotonicMs();
  }
}

function inWords(): string {
  const { queue, holdings, table } = controller.placement.scheduler.cluster;
  return (
    `${queue.tasks} tasks of ${queue.jobs.size} jobs and ${queue.users.size} users wait, ` +
    `${holdings.held.size} run on ${table.count} machines`
  );
}

/** One that starts, one that waits for eight cards, one that starts, one that waits or takes the place of others. */
function request(at: number): Partial<JobRequest> {
  if (at % 2 === 0) return { cpu: 0.1, memory: 1e6, priority: 'SYSTEM' };
  const gpu = at % 4 === 1 ? 'h100x8' : String(1 + (at % 8));
  return { cpu: 4, memory: 8e9, gpu, priority: at % 4 === 1 ? 'BATCH' : 'INTERACTIVE' };
}

async function measureRounds(): Promise<
  Pick<RoundResult, 'roundMs' | 'roundCpuMs' | 'commitMs' | 'outcomes'>
> {
  const roundMs: number[] = [];
  const roundCpuMs: number[] = [];
  const commitMs: number[] = [];
  const outcomes = new Map<string, number>();
  for (let at = 0; at < warmUp + submissions; at += 1) {
    await quiet();
    const user = `user-${at % 50}`;
    const cpuBefore = process.cpuUsage();
    const { jobId, tookMs } = await submit(user, `round-${at}`, request(at));
    const { user: own, system } = process.cpuUsage(cpuBefore);
    const [task] = controller.memory.tasksOf(jobId);
    const outcome = task === undefined ? 'gone' : task.claim === null ? task.state : 'claims';
    if (at >= warmUp) {
      roundMs.push(tookMs);
      roundCpuMs.push((own + system) / 1000);
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    }
    await quiet();
    const [attempt] = task === undefined ? [] : controller.memory.attemptsOf(task.id);
    if (attempt !== undefined && at % 4 === 0) backend.succeed(attempt.uid);
    else await controller.stopJobs([jobId], { user }, `stop-${at}`);
    await quiet();
    const before = monotonicMs();
    store.commit({ ...noChanges, meta: { bench: at } });
    if (at >= warmUp) commitMs.push(monotonicMs() - before);
  }
  const words = [...outcomes].sort().map(([outcome, count]) => `${count} ${outcome}`);
  return { roundMs, roundCpuMs, commitMs, outcomes: words.join(', ') };
}

/** Small tasks, so that as many start in the same round as one may start. */
async function measureLarge(): Promise<number[]> {
  const times: number[] = [];
  for (let at = 0; at < largeJobs; at += 1) {
    await quiet();
    const user = `user-${at}`;
    const { jobId, tookMs } = await submit(user, `large-${at}`, {
      cpu: 0.01,
      memory: 1e6,
      replicas: jobLimits.maxReplicas,
    });
    times.push(tookMs);
    await controller.stopJobs([jobId], { user }, `stop-large-${at}`);
    await standing();
  }
  return times;
}

async function submit(
  user: string,
  name: string,
  asked: Partial<JobRequest>,
): Promise<{ jobId: string; tookMs: number }> {
  const spec = askedSpec({ name, ...asked });
  const before = monotonicMs();
  const { jobId } = await controller.submit({ spec, identity: { user }, requestId: name, retryOf: null });
  return { jobId, tookMs: monotonicMs() - before };
}

function tell(message: RoundMessage): void {
  parentPort?.postMessage(message);
}

function print(result: RoundResult): void {
  const sorted = (values: readonly number[]) => values.toSorted((left, right) => left - right);
  const share = (values: readonly number[], part: number) =>
    sorted(values)[Math.floor(part * values.length)]?.toFixed(2) ?? '';
  const line = (values: readonly number[]) => `p50 ${share(values, 0.5)}, p99 ${share(values, 0.99)} ms`;
  console.log(result.standing);
  console.log(result.outcomes);
  console.log(`round ${line(result.roundMs)}; processor time ${line(result.roundCpuMs)}`);
  console.log(`commit ${line(result.commitMs)}; large ${result.largeMs.map(Math.round).join(', ')} ms`);
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
