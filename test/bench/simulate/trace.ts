/**
 * Made-up traces in the shapes that were published for GPU clusters. All numbers are here; they were chosen from the sources before the
 * first comparison was run, and a change of one has to name its source.
 *
 * [Philly] Jeon et al., Analysis of Large-Scale Multi-Tenant GPU Clusters for DNN Training Workloads, USENIX ATC 2019: most jobs ask
 *   for one GPU, larger ones run longer; about a sixth of all jobs fail, most of them early.
 * [Helios] Hu et al., Characterization and Prediction of Deep Learning Workloads in Large-Scale GPU Datacenters, SC 2021: durations of
 *   GPU jobs whose mean is tens of times their median; jobs of eight GPUs and more are few and take most of the GPU time, single-GPU
 *   jobs are most and take little; half of all jobs use processors alone and end soon; days and nights; few users own most of the work.
 * [PAI] Weng et al., MLaaS in the Wild: Workload Analysis and Scheduling in Large-Scale Heterogeneous GPU Clusters, NSDI 2022: heavy
 *   tails, gangs, daily and weekly rhythm, a twentieth of the users with most of the work.
 * [Limits] Tsafrir, Etsion and Feitelson, Modeling User Runtime Estimates, JSSPP 2005, and Backfilling Using System-Generated
 *   Predictions Rather than User Runtime Estimates, IEEE TPDS 2007; Mu'alem and Feitelson, IEEE TPDS 2001: people name a few round
 *   values; what a job then takes of its limit is spread about evenly.
 * [Saving] Mohan et al., CheckFreq: Frequent, Fine-Grained DNN Checkpointing, FAST 2021, and Eisenman et al., Check-N-Run, NSDI 2022:
 *   training saves its state every some ten minutes.
 *
 * Shares of the bands, the limits of users and how many programs save when they are told to leave are published nowhere: assumptions.
 */
import type { Band } from '../../../core/contract/states.js';
import { Random } from './random.js';

export const minuteMs = 60_000;
export const hourMs = 60 * minuteMs;
export const dayMs = 24 * hourMs;
const gib = 2 ** 30;

export const sizeClasses = ['cpu', '1 GPU', '2-4 GPUs', '8 GPUs', 'gang'] as const;
export type SizeClass = (typeof sizeClasses)[number];

/** Between an attempt's start and its first useful second: image, packages, data. */
export const startUpMs = 30_000;

export interface TraceJob {
  readonly id: string;
  readonly user: string;
  readonly band: Band;
  readonly size: SizeClass;
  readonly submittedAtMs: number;
  readonly tasks: number;
  /** Of one task. */
  readonly cpuMillicores: number;
  readonly memoryBytes: number;
  readonly gpuCount: number;
  /** Useful run time from start to end, never interrupted. */
  readonly workMs: number;
  readonly limitMs: number | null;
  readonly checkpointEveryMs: number | null;
  /** What it takes to save its state when told to leave; null: it dies instead. */
  readonly saveMs: number | null;
}

export interface TraceOptions {
  readonly seed: number;
  readonly days: number;
  /** GPUs of the cluster. */
  readonly gpus: number;
  /** GPU hours asked for, of those there are. */
  readonly load: number;
}

/** [Philly] [Helios] GPU jobs by shape; a gang is tasks of one rack, and 8 GPUs of one machine are no gang. */
const shapes: readonly (readonly [shape: Pick<TraceJob, 'size' | 'tasks' | 'gpuCount'>, weight: number])[] = [
  [{ size: '1 GPU', tasks: 1, gpuCount: 1 }, 68],
  [{ size: '2-4 GPUs', tasks: 1, gpuCount: 2 }, 9],
  [{ size: '2-4 GPUs', tasks: 1, gpuCount: 4 }, 10],
  [{ size: '8 GPUs', tasks: 1, gpuCount: 8 }, 8],
  [{ size: 'gang', tasks: 2, gpuCount: 4 }, 2.25],
  [{ size: 'gang', tasks: 2, gpuCount: 8 }, 1.5],
  [{ size: 'gang', tasks: 4, gpuCount: 8 }, 0.85],
  [{ size: 'gang', tasks: 8, gpuCount: 8 }, 0.4],
];

/** [Helios] Median minutes by GPUs in all. */
const medianMinutes = (gpus: number) => (gpus <= 1 ? 8 : gpus <= 2 ? 15 : gpus <= 4 ? 20 : 30);
const gangMedianMinutes = 60;
const sigma = 1.9;
/** [PAI] One job in twenty comes from a tail that falls by a power law. */
const tail = { share: 0.05, alpha: 1.1, medians: 5 };
const longestMs = 3 * dayMs;

/** [Philly] */
const failing = { share: 0.17, medianMinutes: 3, sigma: 1.5 };
/** Of all jobs; fewer than the half of [Helios], where most of them last seconds. */
const cpuShare = 1 / 3;
const cpuJobs = { medianMinutes: 2, sigma: 2.2, longestMs: dayMs };

const bandShares: readonly (readonly [Band, number])[] = [
  ['PRODUCTION', 10],
  ['INTERACTIVE', 50],
  ['BATCH', 40],
];
const systemShare = 0.005;

/** [Helios] [PAI] The first two of forty users own about half of the jobs. */
export const userCount = 40;
const zipf = 1.3;

/** [Limits] */
const limitShare = 0.5;
const roundLimitsMs = [0.25, 0.5, 1, 2, 4, 8, 12, 24, 48, 96].map((hours) => hours * hourMs);

/** [Saving] */
const checkpoints = { share: 0.6, everyMinutes: [10, 30, 60], savesWhenTold: 0.5 };

/** [Helios] [PAI] Arrivals by hour and day: most in the afternoon, half as many on Saturday and Sunday. Time 0 is a Monday's midnight. */
export function arrivalRate(ms: number): number {
  const hour = (ms / hourMs) % 24;
  const weekend = Math.floor(ms / dayMs) % 7 >= 5;
  return (1 + 0.6 * Math.cos((2 * Math.PI * (hour - 15)) / 24)) * (weekend ? 0.5 : 1);
}

export function gpuHoursOf(job: Pick<TraceJob, 'tasks' | 'gpuCount' | 'workMs'>): number {
  return (job.tasks * job.gpuCount * (job.workMs + startUpMs)) / hourMs;
}

/** Jobs by submission. As many as it takes to offer the load: the load is the same for every seed, what it is made of is not. */
export function makeTrace({ seed, days, gpus, load }: TraceOptions): TraceJob[] {
  const random = new Random(seed * 7919 + 17);
  const wantedGpuHours = load * gpus * 24 * days;
  const drafts: Omit<TraceJob, 'id' | 'submittedAtMs'>[] = [];
  for (let gpuHours = 0; gpuHours < wantedGpuHours;) {
    const draft = random.chance(cpuShare) ? cpuJob(random) : gpuJob(random);
    gpuHours += gpuHoursOf(draft);
    drafts.push(draft);
  }
  const arrivals = drafts.map(() => arrival(random, days * dayMs)).sort((left, right) => left - right);
  return drafts.map((draft, at) => ({
    ...draft,
    id: `/${draft.user}/j${String(at).padStart(6, '0')}`,
    submittedAtMs: arrivals[at] ?? 0,
  }));
}

function arrival(random: Random, endMs: number): number {
  for (;;) {
    const ms = Math.floor(random.unit() * endMs);
    if (random.unit() * 1.6 < arrivalRate(ms)) return ms;
  }
}

const users = Array.from(
  { length: userCount },
  (_, at) => [`user${String(at).padStart(2, '0')}`, (at + 1) ** -zipf] as const,
);

function bandOf(random: Random, maySystem: boolean): Band {
  return maySystem && random.chance(systemShare) ? 'SYSTEM' : random.pick(bandShares);
}

function gpuJob(random: Random): Omit<TraceJob, 'id' | 'submittedAtMs'> {
  const shape = random.pick(shapes);
  const median =
    (shape.size === 'gang' ? gangMedianMinutes : medianMinutes(shape.tasks * shape.gpuCount)) * minuteMs;
  const intendedMs = random.chance(tail.share)
    ? random.pareto(tail.medians * median, tail.alpha)
    : random.logNormal(median, sigma);
  const failsMs = random.chance(failing.share)
    ? random.logNormal(failing.medianMinutes * minuteMs, failing.sigma)
    : Number.POSITIVE_INFINITY;
  const plannedMs = clamp(intendedMs, longestMs);
  const saves = random.chance(checkpoints.share);
  const every = checkpoints.everyMinutes[Math.floor(random.unit() * checkpoints.everyMinutes.length)] ?? 30;
  const savesWhenTold = saves && random.chance(checkpoints.savesWhenTold);
  // From ten seconds to three minutes, by the size of the model.
  const saveMs = Math.floor(10_000 * 18 ** random.unit());
  return {
    ...shape,
    user: random.pick(users),
    band: bandOf(random, shape.size === '1 GPU'),
    cpuMillicores: 8000 * shape.gpuCount,
    memoryBytes: 96 * gib * shape.gpuCount,
    workMs: Math.min(plannedMs, clamp(failsMs, longestMs)),
    limitMs: limitFor(random, plannedMs),
    checkpointEveryMs: saves ? every * minuteMs : null,
    saveMs: savesWhenTold ? saveMs : null,
  };
}

function cpuJob(random: Random): Omit<TraceJob, 'id' | 'submittedAtMs'> {
  const cores = random.pick([
    [1, 40],
    [2, 15],
    [4, 20],
    [8, 15],
    [16, 7],
    [32, 3],
  ]);
  const workMs = clamp(random.logNormal(cpuJobs.medianMinutes * minuteMs, cpuJobs.sigma), cpuJobs.longestMs);
  return {
    size: 'cpu',
    tasks: 1,
    gpuCount: 0,
    user: random.pick(users),
    band: bandOf(random, true),
    cpuMillicores: 1000 * cores,
    // One in twenty holds a large table in memory.
    memoryBytes: (random.chance(0.05) ? 256 : 4 * cores) * gib,
    workMs,
    limitMs: limitFor(random, workMs),
    checkpointEveryMs: null,
    saveMs: null,
  };
}

/** [Limits] The round value above what it takes divided by an even draw. */
function limitFor(random: Random, workMs: number): number | null {
  const share = 0.05 + 0.95 * random.unit();
  const given = random.chance(limitShare);
  const asked = (workMs + startUpMs) / share;
  return given ? (roundLimitsMs.find((limit) => limit >= asked) ?? roundLimitsMs.at(-1) ?? null) : null;
}

function clamp(ms: number, most: number): number {
  return Math.max(1000, Math.floor(Math.min(ms, most)));
}
