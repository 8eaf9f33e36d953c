/** What the runtime keeps of one attempt while the controller asks about it. */
import type { AttemptUsage } from '../../../../core/contract/usage.js';
import type { Cause } from '../../../../core/contract/views.js';
import type {
  AttemptLaunch,
  AttemptObservation,
  DesiredAttempt,
  StopNotice,
  StopReason,
} from '../../backend.js';
import type { ProcessIdentity } from './claim.js';

type Stop = Extract<DesiredAttempt, { kind: 'stop' }>;

export interface StopOrder {
  readonly reason: StopReason;
  readonly signal: string;
  readonly graceMs: number;
  /** By the monotonic clock. */
  deadlineMs: number;
  readonly signals: Set<string>;
  readonly notice: StopNotice | null;
}

export function stopOrder(item: Stop, deadlineMs: number): StopOrder {
  const { reason, signal, graceMs, notice = null } = item;
  return { reason, signal, graceMs, deadlineMs, signals: new Set(), notice };
}

/** Of what the controller has no launch for any more. */
const strayGraceMs = 10_000;

/** Ends an attempt that another has taken the place of, or that nobody knows: as its job wanted to be told, where that is known. */
export function supersededStop(
  uid: string,
  launch: AttemptLaunch | null,
  where: Pick<Stop, 'container'> & Partial<Pick<Stop, 'workerId'>>,
): Stop {
  return {
    kind: 'stop',
    uid,
    workerId: launch?.workerId ?? '',
    ...where,
    reason: 'superseded',
    signal: launch?.spec.stopSignal ?? 'SIGTERM',
    graceMs: launch?.spec.graceMs ?? strayGraceMs,
  };
}

export type Phase =
  /** Asked for, not confirmed. */
  | 'starting'
  | 'running'
  /** Its command ended or it is being stopped; its processes are not yet known to be gone. */
  | 'ending'
  /** Its last observation was given. */
  | 'ended';

export interface AttemptEntry {
  readonly uid: string;
  readonly folder: string;
  /** Null for one that is only to be stopped and was never seen before. */
  readonly launch: AttemptLaunch | null;
  phase: Phase;
  supervisor: ProcessIdentity | null;
  /** Seen alive, or started by our launcher: then its session is proved to be its own. */
  sessionKnown: boolean;
  /** The launcher does not tell its end: its folder and its pid are looked at. */
  adopted: boolean;
  supervisorGone: boolean;
  startedAtMs: number | null;
  groups: readonly string[];
  stop: StopOrder | null;
  /** While its processes are being ended; resolves when all are verified gone. */
  ending: Promise<void> | null;
  /** Measured memory was over the limit. */
  overMemory: boolean;
  /** A device of it failed under it: which, and whether it was ended because of that. */
  deviceFault: { readonly reason: string; readonly ended: boolean } | null;
  peakMemoryBytes: number | null;
  checkpointAtMs: number | null;
  /** As told last; null: not measured. */
  usage: AttemptUsage | null;
  /** Kept by code; every observation carries them all. */
  readonly warnings: Map<Cause['code'], Cause>;
  last: AttemptObservation | null;
  reportedAtMs: number;
}

export function newEntry(uid: string, folder: string, launch: AttemptLaunch | null): AttemptEntry {
  return {
    uid,
    folder,
    launch,
    phase: 'starting',
    supervisor: null,
    sessionKnown: false,
    adopted: false,
    supervisorGone: false,
    startedAtMs: null,
    groups: [],
    stop: null,
    ending: null,
    overMemory: false,
    deviceFault: null,
    peakMemoryBytes: null,
    checkpointAtMs: null,
    usage: null,
    warnings: new Map(),
    last: null,
    reportedAtMs: 0,
  };
}

/** An observation of this entry with everything unknown. */
export function observationOf(
  entry: AttemptEntry,
  state: AttemptObservation['state'],
  more: Partial<AttemptObservation> = {},
): AttemptObservation {
  return {
    uid: entry.uid,
    state,
    startedAtMs: entry.startedAtMs,
    finishedAtMs: null,
    durationMs: null,
    exitCode: null,
    signal: null,
    cause: null,
    warnings: [...entry.warnings.values()],
    peakMemoryBytes: entry.peakMemoryBytes,
    pid: entry.supervisor?.pid ?? null,
    checkpointAtMs: entry.checkpointAtMs,
    ...(entry.usage === null ? {} : { usage: entry.usage }),
    ...more,
  };
}
