/** The queue of a fake host: what waits by band with its users in turn, what runs where, and the changes its owner may make. */
import type { JobChange, LaneItem, QueuedJobView, QueueView } from '../../core/contract/queue.js';
import type { Explanation } from '../../core/contract/explanation.js';
import { refusal, type Refusal } from '../../core/contract/errors.js';
import { bands, type AttemptState, type Band } from '../../core/contract/states.js';
import type { JobSummary } from '../../core/contract/views.js';
import { fakeBandError } from './fake-budgets.js';
import { fakeAttemptUid, fakeMachine, fakeSummary, fakeUser, seededRandom } from './fake-data.js';
import type { FakeHost } from './fake-host.js';

/** What is known of the queue besides the jobs themselves. */
export interface FakeQueueState {
  readonly ranks: Map<string, number>;
  /** Expected ends of what runs, by job. */
  readonly ends: Map<string, number>;
  /** What is answered when it is asked why a job waits. */
  readonly explanations: Map<string, Explanation>;
  history: LaneItem[];
  promised: LaneItem[];
  reservations: QueueView['reservations'];
}

export function fakeQueueState(): FakeQueueState {
  return {
    ranks: new Map(),
    ends: new Map(),
    explanations: new Map(),
    history: [],
    promised: [],
    reservations: [],
  };
}

const shownOfABand = 200;

/** Users over their limit stand in the lowest band, as those do who asked for it. */
function laneOf(host: FakeHost, job: JobSummary): Band {
  const over = host.budgets.rows.some((row) => row.user === job.user && row.overLimit);
  return over && job.band === 'INTERACTIVE' ? 'BATCH' : job.band;
}

/** Users in turn, each with their jobs by rank and age. */
function inTurn(host: FakeHost, jobs: readonly JobSummary[]): JobSummary[] {
  const rank = (job: JobSummary) => host.queue.ranks.get(job.id) ?? 0;
  const byUser = new Map<string, JobSummary[]>();
  const sorted = [...jobs].sort((a, b) => rank(a) - rank(b) || a.submittedAtMs - b.submittedAtMs);
  for (const job of sorted) byUser.set(job.user, [...(byUser.get(job.user) ?? []), job]);
  const turns: JobSummary[] = [];
  for (let round = 0; turns.length < jobs.length; round += 1) {
    for (const list of byUser.values()) turns.push(...list.slice(round, round + 1));
  }
  return turns;
}

export function fakeQueue(host: FakeHost): QueueView {
  const all = [...host.jobs.values()];
  const waiting = all.filter((job) => job.state === 'PENDING');
  return {
    atMs: host.nowMs,
    bands: bands.map((band) => {
      const jobs = waiting.filter((job) => laneOf(host, job) === band);
      return {
        band,
        total: jobs.length,
        jobs: inTurn(host, jobs)
          .slice(0, shownOfABand)
          .map((job): QueuedJobView => ({
            jobId: job.id,
            name: job.name,
            user: job.user,
            requestedBand: job.band,
            waitingTasks: job.taskCounts.PENDING ?? job.numTasks,
            numTasks: job.numTasks,
            gpuCount: job.gpuCount,
            submittedAtMs: job.submittedAtMs,
            held: job.held,
            rank: host.queue.ranks.get(job.id) ?? 0,
            waiting: job.waiting,
          })),
      };
    }),
    items: [
      ...all.filter((job) => job.state === 'RUNNING').map((job) => fakeLaneItem(host, job, 'RUNNING')),
      ...host.queue.promised,
    ],
    reservations: host.queue.reservations,
  };
}

export function fakeLaneItem(host: FakeHost, job: JobSummary, state: AttemptState): LaneItem {
  const workerId = job.workers[0] ?? 'ws-1';
  const gpus = host.machines.find((machine) => machine.id === workerId)?.gpus ?? [];
  const at = gpus.length === 0 ? 0 : Number(BigInt(`0x${fakeAttemptUid(job.id, 0)}`) % BigInt(gpus.length));
  const count = Math.min(Math.round(job.gpuCount / job.numTasks), gpus.length);
  return {
    uid: fakeAttemptUid(`${job.id}/0`, 0),
    taskId: `${job.id}/0`,
    jobId: job.id,
    jobName: job.name,
    user: job.user,
    band: job.band,
    workerId,
    devices: Array.from({ length: count }, (_item, step) => gpus[(at + step) % gpus.length]?.uuid ?? ''),
    state,
    fromMs: job.startedAtMs ?? job.submittedAtMs,
    toMs: job.finishedAtMs ?? host.queue.ends.get(job.id) ?? null,
  };
}

/** What the controller answers for one job; null when it was done. */
export function changeFakeJob(host: FakeHost, id: string, change: JobChange): Refusal | null {
  const job = host.jobs.get(id);
  if (job === undefined) return refusal('NOT_FOUND', `There is no job ${id}.`);
  if (job.user !== fakeUser && !host.budgets.mayManage)
    return refusal('PERMISSION_DENIED', `${job.name} belongs to ${job.user}.`);
  if (job.finishedAtMs !== null) return refusal('FAILED_PRECONDITION', `${job.name} has ended already.`);
  const others = [...host.jobs.values()]
    .filter((other) => other.user === job.user && other.state === 'PENDING')
    .map((other) => host.queue.ranks.get(other.id) ?? 0);
  switch (change.kind) {
    case 'hold':
      host.change(id, {
        held: true,
        waiting: { code: 'WAITS_HELD', message: 'It is held; release it to let it start.' },
      });
      return null;
    case 'release':
      host.change(id, { held: false, waiting: null });
      return null;
    case 'band': {
      const wrong = fakeBandError(host.budgets, change.band);
      if (wrong !== null)
        return refusal('PERMISSION_DENIED', `${fakeUser} may not ask for ${wrong.value}.`, [wrong]);
      host.change(id, { band: change.band });
      return null;
    }
    case 'move':
      if (change.to === 'usual') host.queue.ranks.delete(id);
      else if (change.to === 'first') host.queue.ranks.set(id, Math.min(0, ...others) - 1);
      else host.queue.ranks.set(id, Math.max(0, ...others) + 1);
      host.put(job);
      return null;
  }
}

const labUsers = [fakeUser, 'bert', 'clara', 'dora', 'emil', 'fatima', 'georg', 'hanna'];
const labNames = [
  'train-llm',
  'eval-mmlu',
  'lr-sweep',
  'tokenize',
  'finetune',
  'distill',
  'simulate',
  'render',
];
const labBands: readonly Band[] = [
  'PRODUCTION',
  'INTERACTIVE',
  'INTERACTIVE',
  'INTERACTIVE',
  'BATCH',
  'BATCH',
];

export interface FakeLab {
  readonly waiting: number;
  readonly running: number;
  readonly ended: number;
  readonly machines: number;
}

/** Fills a host with a lab's work: users, bands, machines with eight GPUs each, what ran before, a promised place and a reservation. */
export function fillFakeLab(host: FakeHost, lab: FakeLab, seed = 7): void {
  const random = seededRandom(seed);
  const pick = <T>(list: readonly T[], otherwise: T): T =>
    list[Math.floor(random() * list.length)] ?? otherwise;
  const [first] = fakeMachine(host.nowMs).gpus;
  host.machines = Array.from({ length: lab.machines }, (_item, index) =>
    fakeMachine(host.nowMs, {
      id: `ws-${index + 1}`,
      hostname: `ws-${index + 1}`,
      gpus: (first === undefined ? [] : Array<typeof first>(8).fill(first)).map((gpu, at) => ({
        ...gpu,
        uuid: `GPU-${String(index).padStart(4, '0')}-0000-4000-8000-00000000000${at}`,
        index: at,
        busyByOthers: false,
        heldBy: null,
      })),
    }),
  );
  const job = (index: number, part: Partial<JobSummary>): JobSummary => {
    const user = pick(labUsers, fakeUser);
    return fakeSummary({
      id: `/${user}/${pick(labNames, 'job')}-${index.toString(16).padStart(3, '0')}`,
      band: pick(labBands, 'BATCH'),
      gpuCount: pick([0, 0, 1, 1, 1, 2, 4], 0),
      workers: [`ws-${1 + Math.floor(random() * lab.machines)}`],
      ...part,
    });
  };
  let index = 0;
  for (let count = 0; count < lab.waiting; count += 1) {
    host.put(
      job((index += 1), {
        state: 'PENDING',
        submittedAtMs: host.nowMs - Math.round(random() ** 2 * 86_400_000),
        held: random() < 0.06,
        workers: [],
      }),
    );
  }
  for (let count = 0; count < lab.running; count += 1) {
    const startedAtMs = host.nowMs - Math.round(random() ** 2 * 14_400_000);
    const row = job((index += 1), { state: 'RUNNING', submittedAtMs: startedAtMs - 60_000, startedAtMs });
    host.put(row);
    if (random() < 0.6) host.queue.ends.set(row.id, host.nowMs + Math.round(random() * 7_200_000));
  }
  for (let count = 0; count < lab.ended; count += 1) {
    const finishedAtMs = host.nowMs - Math.round(random() * 10_800_000);
    const startedAtMs = finishedAtMs - Math.round(60_000 + random() ** 3 * 7_200_000);
    const state = pick(
      ['SUCCEEDED', 'SUCCEEDED', 'SUCCEEDED', 'FAILED', 'KILLED', 'PREEMPTED'] as const,
      'FAILED',
    );
    host.queue.history.push(
      fakeLaneItem(
        host,
        job((index += 1), { state: 'SUCCEEDED', submittedAtMs: startedAtMs, startedAtMs, finishedAtMs }),
        state,
      ),
    );
  }
  const waits = [...host.jobs.values()].find((row) => row.state === 'PENDING' && row.gpuCount > 0);
  if (waits === undefined) return;
  host.queue.promised = [
    {
      ...fakeLaneItem(host, { ...waits, workers: ['ws-1'] }, 'RUNNING'),
      uid: null,
      state: 'PROMISED',
      fromMs: host.nowMs - 20_000,
      toMs: null,
    },
  ];
  host.queue.reservations = [
    {
      jobId: waits.id,
      band: waits.band,
      workerIds: [`ws-${lab.machines}`],
      startMs: host.nowMs + 1_200_000,
    },
  ];
}
