/** One pass of our rules: the phases in their order, over the cluster as it is. */
import { bandRank, type Band } from '../contract/states.js';
import { compareTexts } from '../model/sorted-list.js';
import { taskIdOf } from '../model/names.js';
import type { Cluster } from './cluster.js';
import type { Decision, Eviction, Placed, Unschedulable, WaitCode } from './decision.js';
import { gateOf, neverReason, nextGateMs } from './gates.js';
import { bandsInOrder, cursorsOf, eldersOf, headOf, nextJob, waitToReserveMs, type Cursor } from './order.js';
import type { Held } from './holdings.js';
import { findGroup, findMachine } from './placement.js';
import type { PassMemory } from './pass-memory.js';
import { passOver } from './pass-over.js';
import type { Plan } from './preemption.js';
import { placeClaims } from './provisional.js';
import type { JobEntry } from './queue.js';
import { Quotas } from './quota.js';
import { leavesEnough, mayBackfill, type Reserved } from './reservations.js';
import type { Rules } from './rules.js';
import { isCandidate, type Shape } from './shape.js';
import type { Victims } from './victims.js';
import { WaitingList } from './waiting-list.js';
import { withdrawNeedless } from './withdraw.js';
import type { Working } from './working.js';

const batch = bandRank('BATCH');
const interactive = bandRank('INTERACTIVE');
/** Units of a band that are tried for its reservation in one pass. */
const maxReserveTries = 2;

export class Pass {
  private readonly cluster: Cluster;
  private readonly working: Working;
  private readonly placed: Placed[] = [];
  private readonly released: string[] = [];
  private readonly victims: Victims;
  private readonly evictions: Eviction[] = [];
  private readonly waiting = new WaitingList();
  private readonly unschedulable: Unschedulable[] = [];
  private readonly reserved: Reserved[] = [];
  private readonly quotas: Quotas;
  private readonly reserveTries: number[] = [];
  /** Shapes that found no room in reserved machines, with what it was then. */
  private readonly crowded = new Map<Shape, string>();
  /** Machines that something leaves for the next task of a job, by job. */
  private readonly leftFor = new Map<JobEntry, number>();
  /** Tasks of a job that were decided about before its user's turn. */
  private readonly served = new Map<JobEntry, number>();
  private wakeAtMs = Number.POSITIVE_INFINITY;
  private more = false;
  private readonly number: number;

  constructor(
    private readonly memory: PassMemory,
    private readonly nowMs: number,
    private readonly rules: Rules,
  ) {
    this.cluster = memory.cluster;
    this.working = memory.working;
    this.victims = memory.victims;
    this.quotas = new Quotas(memory.cluster);
    memory.passes += 1;
    this.number = memory.passes;
  }

  run(): Decision {
    this.working.start(this.cluster.table, this.cluster.holdings, this.rules, this.nowMs);
    this.victims.start(this.number, this.nowMs, this.rules);
    this.memory.reservations.start(this.rules);
    const { cluster, working, placed, released } = this;
    const claims = {
      cluster,
      working,
      placed,
      released,
      nowMs: this.nowMs,
      elsewhere: true,
      byIndex: false,
    };
    const elders = eldersOf(cluster, this.nowMs, this.rules);
    this.wakeAtMs = elders.nextMs;
    for (const [rank, band] of bandsInOrder.entries()) {
      this.wakeAtMs = Math.min(this.wakeAtMs, placeClaims(claims, band));
      this.runBand(band, elders.byBand[rank] ?? []);
    }
    const withdrawn = withdrawNeedless(cluster.holdings, working);
    this.wakeAtMs = Math.min(this.wakeAtMs, this.victims.nextEligibleMs);
    const { waiting } = this;
    return {
      placed: this.placed,
      evictions: this.evictions,
      withdrawn,
      released: this.released,
      unschedulable: this.unschedulable,
      reservations: this.reserved.map(({ jobId, band, workers, startMs }) => ({
        jobId,
        band: bandsInOrder[band] ?? 'BATCH',
        workerIds: workers.map((worker) => this.cluster.table.workers[worker]?.id ?? ''),
        startMs: Number.isFinite(startMs) ? startMs : null,
      })),
      get waiting() {
        return waiting.lines();
      },
      wakeAtMs: Number.isFinite(this.wakeAtMs) ? this.wakeAtMs : null,
      // What was promised and is lost waits again, and who waited for a job that ends here has to know.
      more: this.more || released.length > 0 || this.unschedulable.length > 0,
      fitChecks: this.working.fitChecks,
    };
  }

  /** Who has waited long for much, then users in turn, each with its next unit that finds a place; a gang takes one turn. */
  private runBand(band: Band, elders: readonly JobEntry[]): void {
    const cursors = cursorsOf(this.cluster.queue.users.values(), band);
    for (const entry of elders) this.serveElder(entry, band);
    while (cursors.length > 0) {
      let kept = 0;
      for (const cursor of cursors) {
        if (!this.turn(cursor, band)) continue;
        cursors[kept] = cursor;
        kept += 1;
      }
      cursors.length = kept;
    }
  }

  /** Of a large job one task: the rest takes its turns. */
  private serveElder(entry: JobEntry, band: Band): void {
    const { job, indexes } = entry;
    this.served.set(entry, indexes.length);
    if (!this.opens(entry)) return;
    const tasks = job.gangBy === null ? 1 : indexes.length;
    const code =
      this.bound(entry, tasks, 0) ??
      (job.gangBy === null ? this.placeTask(entry, indexes[0] ?? 0, band) : this.placeGang(entry, band));
    if (code === null || code === 'leaving') this.served.set(entry, tasks);
    if (code !== null) this.wait(entry, code, code === 'leaving' ? tasks : indexes.length);
  }

  /** False: the user has nothing more in this band. */
  private turn(cursor: Cursor, band: Band): boolean {
    for (let entry = headOf(cursor); entry !== undefined; entry = headOf(cursor)) {
      const served = cursor.taskAt === 0 ? this.served.get(entry) : undefined;
      if (served !== undefined) {
        cursor.taskAt = served;
      } else if (cursor.taskAt === 0 && !this.opens(entry)) {
        nextJob(cursor);
        continue;
      }
      const { indexes } = entry;
      if (cursor.taskAt >= indexes.length) {
        nextJob(cursor);
        continue;
      }
      const tasks = entry.job.gangBy === null ? 1 : indexes.length;
      const stop = this.bound(entry, tasks, cursor.taskAt);
      if (stop !== null) {
        this.wait(entry, stop, indexes.length - cursor.taskAt);
        nextJob(cursor);
        continue;
      }
      const code =
        entry.job.gangBy === null
          ? this.placeTask(entry, indexes[cursor.taskAt] ?? 0, band)
          : this.placeGang(entry, band);
      if (code === null) {
        cursor.taskAt += tasks;
        return true;
      }
      if (code === 'leaving') {
        // Room is on its way for this one; the next may find some as well.
        this.wait(entry, code, tasks);
        cursor.taskAt += tasks;
        return true;
      }
      this.wait(entry, code, indexes.length - cursor.taskAt);
      nextJob(cursor);
      if (code === 'capacity' || code === 'impossible') this.passOver(cursor, entry, code, band);
    }
    return false;
  }

  /**
   * Jobs right behind one that found no room. Where something is reserved, or may be for them, each is looked at by itself; so is one
   * that may evict behind one that still gives others time.
   */
  private passOver(cursor: Cursor, behind: JobEntry, code: WaitCode, band: Band): void {
    const { shape } = behind;
    if (shape.gangBy !== null || this.reserved.length > 0 || this.cluster.reservations.length > 0) return;
    if ((shape.isLarge && code !== 'impossible') || cursor.user.budget.quota !== null) return;
    const patienceMs = this.isPatient(behind, bandRank(band)) ? this.rules.patienceMs : null;
    const { nowMs, served, waiting } = this;
    const untilMs = passOver({ cursor, shape, code, patienceMs, nowMs, served, waiting });
    this.wakeAtMs = Math.min(this.wakeAtMs, untilMs);
  }

  /** The gates of a whole job. */
  private opens(entry: JobEntry): boolean {
    const { job } = entry;
    entry.placed = 0;
    if (entry.ungated) return true;
    const states = (id: string) => this.cluster.jobState(id);
    const never = neverReason(job, this.nowMs, states);
    if (never !== null) {
      this.unschedulable.push({ jobId: job.id, indexes: [...entry.indexes], reason: never });
      return false;
    }
    this.wakeAtMs = Math.min(this.wakeAtMs, nextGateMs(job, this.nowMs));
    const gate = gateOf(job, this.nowMs, states);
    if (gate === null) return true;
    this.wait(entry, gate, entry.indexes.length);
    return false;
  }

  /** What keeps one more task back, whatever is free. */
  private bound(entry: JobEntry, tasks: number, taskAt: number): WaitCode | null {
    const { job } = entry;
    const { maxAssignments, maxPerJob } = this.rules;
    if (maxAssignments !== null && this.placed.length >= maxAssignments) {
      this.more = true;
      return 'pass-cap';
    }
    if (maxPerJob !== null && job.gangBy === null && taskAt >= maxPerJob) return 'job-cap';
    if (job.maxActive !== null) {
      const active = this.cluster.holdings.active.get(job.id) ?? 0;
      if (active + entry.claims.length + entry.placed + tasks > job.maxActive) return 'job-cap';
    }
    return this.quotas.allow(entry, tasks) ? null : 'quota';
  }

  private wait(entry: JobEntry, code: WaitCode, count: number): void {
    const worker = code === 'leaving' ? this.leftFor.get(entry) : undefined;
    this.waiting.add(entry.job.id, code, count, this.cluster.table.workers[worker ?? -1]?.id);
  }

  /** Null when it was placed; else what it lacks. */
  private placeTask(entry: JobEntry, index: number, band: Band): WaitCode | null {
    const { shape } = entry;
    const worker = findMachine(shape, this.working);
    if (worker >= 0) {
      this.start(entry, index, worker, band, null);
      return null;
    }
    const rank = bandRank(band);
    // Room beside who has reserved only shrinks: what found none once finds none.
    const looked = `${this.working.epoch} ${this.reserved.length}`;
    const crowded = this.crowded.get(shape) === looked;
    for (const reserved of this.reserved) {
      const free = mayBackfill(entry, rank, reserved, this.nowMs);
      if (!free && crowded) continue;
      const there = reserved.workers.find(
        (candidate) =>
          isCandidate(shape, candidate) &&
          this.working.fitsNow(shape, candidate) &&
          (free || leavesEnough(shape, candidate, reserved, this.working)),
      );
      if (there === undefined) continue;
      this.start(entry, index, there, band, rank > reserved.band ? reserved.jobId : null);
      return null;
    }
    this.crowded.set(shape, looked);
    return this.makeRoom(entry, 1, band, () => this.memory.search.forTask(entry, rank), [index]);
  }

  private placeGang(entry: JobEntry, band: Band): WaitCode | null {
    const { shape, indexes } = entry;
    const size = indexes.length;
    const workers = findGroup(shape, size, this.working);
    if (workers !== null) {
      for (const [at, worker] of workers.entries()) this.start(entry, indexes[at] ?? 0, worker, band, null);
      return null;
    }
    const rank = bandRank(band);
    return this.makeRoom(entry, size, band, () => this.memory.search.forGang(entry, rank, size), indexes);
  }

  /** With victims; else what keeps it waiting, and for who waits long a reservation. */
  private makeRoom(
    entry: JobEntry,
    size: number,
    band: Band,
    plan: () => Plan | null,
    indexes: readonly number[],
  ): WaitCode | null {
    const { shape, job } = entry;
    // What others on a card said they would use stops to count.
    if (shape.sharedBytes !== null)
      this.wakeAtMs = Math.min(this.wakeAtMs, this.working.shared.nextChangeMs());
    const rank = bandRank(band);
    const holds = this.cluster.reservations.find(({ jobId }) => jobId === job.id);
    if (rank < batch && !this.isPatient(entry, rank)) {
      // Who fails makes all others of the band fail that ask for as much: what they could take only shrinks.
      const failed = shape.failedBand === rank && size >= shape.failedSize;
      const found = failed && holds === undefined ? null : plan();
      if (found !== null) {
        if (found.victims.length > 0) {
          this.evict(entry, found, band, indexes);
          return null;
        }
        // What it will take is spoken for; it is placed when that is free.
        for (const worker of found.workers) this.working.takeLater(shape, worker);
        const left = found.workers.find((worker) => this.working.leavers.includes(worker));
        this.leftFor.set(entry, left ?? -1);
        return 'leaving';
      }
      shape.failedSize = shape.failedBand === rank ? Math.min(shape.failedSize, size) : size;
      shape.failedBand = rank;
    }
    if (shape.impossible) return 'impossible';
    return this.reserveFor(entry, rank, size, holds?.workerIds ?? []) ? 'reserved' : 'capacity';
  }

  /** It gives what ends by itself a chance first. */
  private isPatient({ job }: JobEntry, rank: number): boolean {
    if (rank !== interactive || job.gangBy !== null) return false;
    const untilMs = job.waitingSinceMs + this.rules.patienceMs;
    if (untilMs <= this.nowMs) return false;
    this.wakeAtMs = Math.min(this.wakeAtMs, untilMs);
    return true;
  }

  private reserveFor(entry: JobEntry, rank: number, size: number, before: readonly string[]): boolean {
    const tries = this.reserveTries[rank] ?? 0;
    if (tries >= maxReserveTries || this.reserved.some(({ band }) => band === rank)) return false;
    const fromMs = entry.job.waitingSinceMs + waitToReserveMs(entry.shape, this.rules);
    if (fromMs > this.nowMs) {
      this.wakeAtMs = Math.min(this.wakeAtMs, fromMs);
      return false;
    }
    // Not tried before the turns: it has its share, and what is free is for who else has waited.
    if (!this.served.has(entry)) return false;
    // Who could never be placed here must not keep the search busy.
    this.reserveTries[rank] = tries + 1;
    const made = this.memory.reservations.reserve(entry, rank, size, this.nowMs, before);
    if (made === null) return false;
    for (const worker of made.workers) this.working.reserve(worker, this.reserved.length);
    this.reserved.push(made);
    return true;
  }

  private evict(entry: JobEntry, plan: Plan, band: Band, indexes: readonly number[]): void {
    for (const victim of plan.victims) {
      this.victims.take(victim);
      const members =
        victim.members.length === 1
          ? victim.members
          : victim.members.toSorted((left, right) => compareTexts(left.attempt.taskId, right.attempt.taskId));
      for (const { attempt } of members) {
        const { uid, taskId, jobId, workerId } = attempt;
        this.evictions.push({ uid, taskId, jobId, workerId, forJob: entry.job.id, forBand: band });
      }
    }
    const victims: Held[] = [];
    for (const { members } of plan.victims) victims.push(...members);
    const uidsOf = (members: readonly Held[]) => members.map(({ attempt }) => attempt.uid).sort();
    // A gang starts together: each member waits for all that the gang waits for.
    const all = entry.job.gangBy === null ? null : uidsOf(victims);
    for (const [at, worker] of plan.workers.entries()) {
      const devices = this.working.takeLater(entry.shape, worker);
      const waitsFor = all ?? uidsOf(victims.filter((member) => member.worker === worker));
      this.record(entry, indexes[at] ?? 0, worker, band, devices, waitsFor, null);
    }
  }

  private start(
    entry: JobEntry,
    index: number,
    worker: number,
    band: Band,
    evictableBy: string | null,
  ): void {
    const devices = this.working.take(entry.shape, worker);
    this.record(entry, index, worker, band, devices, [], evictableBy);
  }

  private record(
    entry: JobEntry,
    index: number,
    worker: number,
    band: Band,
    devices: readonly string[],
    waitsFor: readonly string[],
    evictableBy: string | null,
  ): void {
    const { job } = entry;
    const workerId = this.cluster.table.workers[worker]?.id ?? '';
    const taskId = taskIdOf(job.id, index);
    this.placed.push({
      taskId,
      jobId: job.id,
      index,
      band,
      workerId,
      devices,
      waitsFor,
      hadClaim: false,
      evictableBy,
    });
    entry.placed += 1;
    this.quotas.give(entry, devices);
  }
}
