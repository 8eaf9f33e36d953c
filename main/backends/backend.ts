/**
 * The port every backend implements. The controller tells the complete set of attempts that shall exist; the backend starts what
 * is missing, stops what is named to stop, and reports. It never touches the database. Starting is idempotent by uid.
 */
import type { JobSpec } from '../../core/contract/job-request.js';
import type { AttemptState } from '../../core/contract/states.js';
import type { CacheName, MachineCaches } from '../../core/contract/caches.js';
import type { GpuView } from '../../core/contract/gpus.js';
import type {
  Contact,
  DiskView,
  DockerState,
  History,
  ImagePull,
  ImageView,
} from '../../core/contract/machines.js';
import type { AttemptUsage } from '../../core/contract/usage.js';
import type { TopicDelta } from '../../core/contract/api.js';
import type { Cause } from '../../core/contract/views.js';
import type { DiskRates } from '../../core/formats/disk-counts.js';

export interface BackendDescription {
  readonly id: string;
  readonly kind: 'workstation' | 'docker' | 'slurm' | 'kubernetes' | 'iris';
  readonly capabilities: readonly ('worker-fleet' | 'direct-dispatch' | 'exec' | 'logs')[];
}

/** One worker as seen last. Totals are what jobs may use. */
export interface WorkerObservation {
  readonly id: string;
  readonly hostname: string;
  readonly state: 'HEALTHY' | 'DEGRADED' | 'DEAD';
  /** It answers, and none of the last tasks could be started on it. */
  readonly startsNothing?: boolean | undefined;
  readonly cpuMillicores: number;
  readonly memoryBytes: number;
  readonly gpus: readonly GpuView[];
  readonly gpuNote: string | null;
  readonly attributes: Readonly<Record<string, string | number>>;
  readonly platform: string;
  readonly cpuModel: string;
  readonly cpuCount: number;
  readonly cpuBusyPercent: number | null;
  readonly memoryAvailableBytes: number;
  readonly disks: readonly DiskView[];
  /** Of all its disks, since the sample before; null or absent: not known. */
  readonly diskRates?: DiskRates | null | undefined;
  readonly sampledAtMs: number;
  /** Of a machine reached over the network; absent: the one the controller runs on. */
  readonly address?: string | undefined;
  readonly contact?: Contact | undefined;
  readonly clockSkewMs?: number | null | undefined;
  /** Changes with every start of the machine. */
  readonly bootId?: string | null | undefined;
  readonly docker?: DockerState | undefined;
  /** What attempts of other controllers on that machine have of it; the cards say it themselves. */
  readonly others?: { readonly cpuMillicores: number; readonly memoryBytes: number } | undefined;
}

/** What came or went, or is new of it. */
export type ImageNewsKind = 'pulls' | 'images' | 'caches';

/** What the containers of one machine share. */
export interface CacheControl {
  /** As it was measured last. */
  view(): MachineCaches;
  /** Resolves when it is over, also where it could not be done: the view says so. */
  measure(): Promise<MachineCaches>;
  /** Those that were moved out of the way, to be removed from then on; rejects with a refusal. */
  empty(names: readonly CacheName[]): Promise<readonly CacheName[]>;
}

/** The container images of one machine. */
export interface ImageControl {
  readonly caches: CacheControl;
  list(): Promise<readonly ImageView[]>;
  /** Running, and those that ended a short while ago. */
  pulls(): readonly ImagePull[];
  /** Begins, or joins the one that runs. Rejects only when the Engine cannot be asked. */
  pull(image: string): Promise<void>;
  cancel(image: string): void;
  remove(imageId: string): Promise<void>;
  /**
   * Until it is ended by what it returns: `pulls` after each step of a fetch, `images` when some came or went, whoever did it,
   * `caches` when their view changed.
   */
  watch(changed: (what: ImageNewsKind) => void): () => void;
}

/** Everything needed to start one attempt. */
export interface AttemptLaunch {
  readonly uid: string;
  readonly taskId: string;
  readonly number: number;
  readonly workerId: string;
  readonly spec: JobSpec;
  /** Complete IRIS_* part and the job's own; the backend adds the user's login environment underneath. */
  readonly environment: Readonly<Record<string, string>>;
  readonly devices: readonly string[];
  /** What it had used in about so much time when it was last told of, of one that another host started. */
  readonly usedBefore?: { readonly usage: AttemptUsage; readonly forMs: number };
}

/** Why an attempt shall stop; decides the cause shown. */
export type StopReason = 'cancelled' | 'preempted' | 'timeout' | 'job-ended' | 'superseded';

/** What an attempt is told before its stop: it is written into its working folder, then the signal goes. */
export interface StopNotice {
  readonly reason: string;
  /** By the wall clock: what lives then is killed. */
  readonly deadlineMs: number;
}

/** One attempt of the desired set. */
export type DesiredAttempt =
  | { readonly kind: 'run'; readonly launch: AttemptLaunch }
  /** Known to have been started: keep it, adopt it, or report MISSING. */
  | { readonly kind: 'keep'; readonly uid: string; readonly launch: AttemptLaunch }
  | {
      readonly kind: 'stop';
      readonly uid: string;
      /** Where it was placed. */
      readonly workerId: string;
      /** True: it runs in a container, so its runtime is asked. */
      readonly container: boolean;
      readonly reason: StopReason;
      readonly signal: string;
      readonly graceMs: number;
      readonly notice?: StopNotice | undefined;
    };

/** What a backend saw of one attempt. Terminal only when its processes are verified gone. */
export interface AttemptObservation {
  readonly uid: string;
  readonly state: Exclude<AttemptState, 'ASSIGNED' | 'PREEMPTED' | 'COSCHED_FAILED'> | 'MISSING';
  readonly startedAtMs: number | null;
  readonly finishedAtMs: number | null;
  readonly durationMs: number | null;
  readonly exitCode: number | null;
  readonly signal: string | null;
  /** Of a terminal one only. */
  readonly cause: Cause | null;
  /** All that was noticed of it so far besides how it ended, at most one of a code. */
  readonly warnings: readonly Cause[];
  readonly peakMemoryBytes: number | null;
  readonly pid: number | null;
  /** When it last touched its IRIS_CHECKPOINT_FILE; absent or null: not that the backend knows. */
  readonly checkpointAtMs?: number | null | undefined;
  /** Up to now, or in all; absent: not measured. */
  readonly usage?: AttemptUsage | undefined;
}

export interface BackendListener {
  /** Called from the backend's own events, never inside a call into it. */
  observations(batch: readonly AttemptObservation[]): void;
  workers(workers: readonly WorkerObservation[]): void;
  /** `heard`: behind those sizes there is more of a line that is not in the log yet. */
  logGrew(uid: string, outSize: number, errSize: number, heard?: LogHeard | null): void;
}

/** The last line of each stream as it was heard last, where its place in the log is not known; see the topic `log`. */
export type LogHeard = NonNullable<TopicDelta<'log'>['heard']>;

export interface LogRange {
  readonly data: Uint8Array;
  readonly size: number;
}

/** A place where both streams' sizes were seen together: bytes before it in either stream came before bytes after it in either. */
export interface LogMark {
  readonly atMs: number;
  readonly out: number;
  readonly err: number;
}

export interface Backend {
  describe(): BackendDescription;
  /** Starts observing; what lived before is reported through the listener after the first `reconcile`. */
  start(listener: BackendListener): Promise<void>;
  /** The last observation of its workers; fresh ones arrive through the listener. */
  observe(): readonly WorkerObservation[];
  /** The complete set of attempts that are not finished. Returns at once; effects are reported through the listener. */
  reconcile(desired: readonly DesiredAttempt[]): void;
  /** Null, or one sentence why no worker could ever run it. */
  feasible(spec: JobSpec): string | null;
  /** The bytes may be put in `into`, where they fit; it is the backend's until the answer. */
  readLog(
    uid: string,
    stream: 'out' | 'err',
    offset: number,
    maxBytes: number,
    into?: Uint8Array,
  ): Promise<LogRange>;
  /** Marks in order, oldest first. */
  logMarks(uid: string): Promise<readonly LogMark[]>;
  /** While true, growth of that attempt's log is reported; ends of attempts always are. */
  watchLog(uid: string, on: boolean): void;
  /** While true, workers are sampled about every two seconds, else only rarely. */
  watchWorkers(on: boolean): void;
  /** By worker id; absent where there are no containers. */
  images?(workerId: string): ImageControl | null;
  /** Load of a worker since then, oldest first. */
  history?(workerId: string, sinceMs: number): History;
  /** Gives a card that was kept from jobs to them again; false: there is no such card. */
  releaseGpu?(workerId: string, uuid: string): boolean;
  /** Whether a working folder is there and may be entered; null: not known. May take long, or for ever. */
  hasFolder?(workerId: string, folder: string): Promise<boolean | null>;
  /** Stops observing. Attempts go on. */
  close(): Promise<void>;
}
