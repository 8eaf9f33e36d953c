/** Provisional places are looked at anew in each pass: what can start does, where its place is or elsewhere; the rest keeps its claim. */
import { bandRank, type Band } from '../contract/states.js';
import { compareTexts } from '../model/sorted-list.js';
import type { Claim } from './inputs.js';
import type { Pass } from './pass.js';
import { findGroup, findMachine } from './placement.js';
import { compareJobs, type JobEntry } from './queue.js';

export function placeClaims(pass: Pass, band: Band): void {
  const { holdings, queue } = pass.cluster;
  if (holdings.claimCount === 0) return;
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
    if (entry.job.gangBy === null) for (const claim of entry.claims) settle(pass, entry, [claim], band);
    else settle(pass, entry, entry.claims, band);
  }
}

/** One task, or all members of a gang. */
function settle(pass: Pass, entry: JobEntry, claims: readonly Claim[], band: Band): void {
  const { working, cluster } = pass;
  const { shape } = entry;
  const places = claims.map((claim) => {
    const worker = cluster.table.positions.get(claim.workerId) ?? -1;
    const healthy = worker >= 0 && cluster.table.healthy[worker] === 1;
    const devices = cluster.holdings.positionsOf(worker, claim.devices);
    return { claim, worker, devices, stands: healthy && devices.length === claim.devices.length };
  });
  for (const { worker, devices } of places)
    if (worker >= 0) working.unclaim(shape, worker, devices, cluster.holdings);
  const stands = places.every((place) => place.stands);
  if (stands && startInPlace(pass, entry, places, band)) return;
  // Something is free that was claimed: what was found too full may not be any more.
  if (startElsewhere(pass, entry, claims, band)) {
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

function startInPlace(pass: Pass, entry: JobEntry, places: readonly Place[], band: Band): boolean {
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
    pass.record(entry, claim.index, worker, band, claim.devices, [], true, null);
  }
  return true;
}

function startElsewhere(pass: Pass, entry: JobEntry, claims: readonly Claim[], band: Band): boolean {
  const { working } = pass;
  const { shape } = entry;
  // Its own claim was just given up: the shape must look at all machines again.
  shape.epoch = -1;
  if (entry.job.gangBy !== null) {
    const workers = findGroup(shape, claims.length, working);
    if (workers === null) return false;
    for (const [at, worker] of workers.entries())
      pass.start(entry, claims[at]?.index ?? 0, worker, band, true, null);
    return true;
  }
  const worker = findMachine(shape, working);
  if (worker < 0) return false;
  pass.start(entry, claims[0]?.index ?? 0, worker, band, true, null);
  return true;
}
