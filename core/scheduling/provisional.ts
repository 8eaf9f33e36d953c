/** Provisional places are looked at anew in each pass: what can start does, where its place is or elsewhere; the rest keeps its claim. */
import { bandRank, type Band } from '../contract/states.js';
import { compareTexts } from '../model/sorted-list.js';
import type { Claim } from './inputs.js';
import { taskIdOf } from '../model/names.js';
import type { Cluster } from './cluster.js';
import type { Placed } from './decision.js';
import { gateOf, neverReason, nextGateMs } from './gates.js';
import type { Working } from './working.js';
import { findGroup, findMachine } from './placement.js';
import { compareJobs, type JobEntry } from './queue.js';
import { isCandidate } from './shape.js';

export interface ClaimPass {
  readonly cluster: Cluster;
  readonly working: Working;
  readonly placed: Placed[];
  readonly released: string[];
  readonly nowMs: number;
  /** Whether a task may start elsewhere than where its victims are. */
  readonly elsewhere: boolean;
  readonly byIndex: boolean;
}

/** When time alone may change what becomes of them; Infinity for never. */
export function placeClaims(pass: ClaimPass, band: Band): number {
  const { holdings, queue } = pass.cluster;
  let nextMs = Number.POSITIVE_INFINITY;
  if (holdings.claimCount === 0) return nextMs;
  const jobs = new Set<JobEntry>();
  for (const claim of holdings.allClaims()) {
    const entry = claim.band === band ? queue.jobs.get(claim.jobId) : undefined;
    if (entry !== undefined) jobs.add(entry);
  }
  const inOrder = [...jobs].sort(
    (left, right) =>
      bandRank(left.job.band) - bandRank(right.job.band) ||
      compareJobs(left.job, right.job) ||
      compareTexts(left.job.id, right.job.id),
  );
  for (const entry of inOrder) {
    entry.shape.refresh(pass.working.table);
    nextMs = Math.min(nextMs, nextGateMs(entry.job, pass.nowMs));
    // Its owner may have changed the band the job asks for since, and a place may be promised in each.
    const claims = entry.claims.filter((claim) => claim.band === band);
    if (entry.job.gangBy === null) for (const claim of claims) settle(pass, entry, [claim], band);
    else settle(pass, entry, claims, band);
  }
  return nextMs;
}

/** It was held since, or can no longer end in time: then its place is given up, and it waits as if it had had none. */
function mayStart({ cluster, nowMs }: ClaimPass, { job, ungated }: JobEntry): boolean {
  if (ungated) return true;
  const states = (id: string) => cluster.jobState(id);
  return neverReason(job, nowMs, states) === null && gateOf(job, nowMs, states) === null;
}

/** One task, or all members of a gang. */
function settle(pass: ClaimPass, entry: JobEntry, claims: readonly Claim[], band: Band): void {
  const { working, cluster } = pass;
  const { shape } = entry;
  const places = claims.map((claim) => {
    const worker = cluster.table.positions.get(claim.workerId) ?? -1;
    // It may take nothing new any more, or be kept for others.
    const open = worker >= 0 && isCandidate(shape, worker);
    const devices = cluster.holdings.positionsOf(worker, claim.devices);
    return { claim, worker, devices, stands: open && devices.length === claim.devices.length };
  });
  for (const { worker, devices } of places)
    if (worker >= 0) working.unclaim(shape, worker, devices, cluster.holdings);
  const open = mayStart(pass, entry);
  const stands = open && places.every((place) => place.stands);
  if (stands && startInPlace(pass, entry, places, band)) return;
  // Something is free that was claimed: what was found too full may not be any more.
  if (open && pass.elsewhere && startElsewhere(pass, entry, claims, band)) {
    working.epoch += 1;
    return;
  }
  if (stands) {
    for (const { worker, devices } of places) working.reclaim(shape, worker, devices);
  } else {
    pass.released.push(...claims.map(({ taskId }) => taskId));
    working.epoch += 1;
  }
}

interface Place {
  readonly claim: Claim;
  readonly worker: number;
  readonly devices: readonly number[];
}

function startInPlace(pass: ClaimPass, entry: JobEntry, places: readonly Place[], band: Band): boolean {
  const { working } = pass;
  const { shape } = entry;
  const wanted = new Map<number, number>();
  for (const { worker, devices } of places) {
    if (!devices.every((at) => working.isNow(at))) return false;
    wanted.set(worker, (wanted.get(worker) ?? 0) + 1);
  }
  for (const [worker, count] of wanted) if (working.roomNow(shape, worker) < count) return false;
  for (const { claim, worker, devices } of places) {
    working.takeExactly(shape, worker, devices);
    record(pass, entry, claim.index, worker, band, claim.devices);
  }
  return true;
}

function startElsewhere(pass: ClaimPass, entry: JobEntry, claims: readonly Claim[], band: Band): boolean {
  const { working } = pass;
  const { shape } = entry;
  // Its own claim was just given up: the shape must look at all machines again.
  shape.epoch = -1;
  if (entry.job.gangBy !== null) {
    const workers = findGroup(shape, claims.length, working);
    if (workers === null) return false;
    for (const [at, worker] of workers.entries()) start(pass, entry, claims[at]?.index ?? 0, worker, band);
    return true;
  }
  const worker = findMachine(shape, working);
  if (worker < 0) return false;
  start(pass, entry, claims[0]?.index ?? 0, worker, band);
  return true;
}

function start(pass: ClaimPass, entry: JobEntry, index: number, worker: number, band: Band): void {
  record(pass, entry, index, worker, band, pass.working.take(entry.shape, worker, pass.byIndex));
}

function record(
  pass: ClaimPass,
  { job }: JobEntry,
  index: number,
  worker: number,
  band: Band,
  devices: readonly string[],
): void {
  pass.placed.push({
    taskId: taskIdOf(job.id, index),
    jobId: job.id,
    index,
    band,
    workerId: pass.cluster.table.workers[worker]?.id ?? '',
    devices,
    waitsFor: [],
    hadClaim: true,
    evictableBy: null,
  });
}
