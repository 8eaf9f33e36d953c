/** One pass of the original's rules (iris-behaviour section 3), to the letter; ties by the ids of machines and tasks. */
import { taskIdOf } from '../../model/names.js';
import { compareTexts } from '../../model/sorted-list.js';
import type { Decision, Eviction, Placed, Unschedulable, WaitingJob } from '../decision.js';
import { gateOf, neverReason, nextGateMs } from '../gates.js';
import type { Held } from '../holdings.js';
import type { PassMemory } from '../pass-memory.js';
import { placeClaims } from '../provisional.js';
import { bandsInOrder } from '../order.js';
import type { JobEntry } from '../queue.js';
import type { Rules } from '../rules.js';
import { candidatesOf, firstFit, firstGroup } from './placement.js';
import { OriginalPreemption, type Taken } from './preemption.js';
import { baseOrder, interleave, type OneTask } from './rounds.js';

export function originalPass(memory: PassMemory, nowMs: number, rules: Rules): Decision {
  const { cluster, working } = memory;
  working.start(cluster.table, cluster.holdings, rules, nowMs);
  const placed: Placed[] = [];
  const released: string[] = [];
  const evictions: Eviction[] = [];
  const waiting: WaitingJob[] = [];
  const unschedulable: Unschedulable[] = [];
  const states = (id: string) => cluster.jobState(id);

  const record = (task: OneTask, worker: number, waitsFor: readonly Held[]) => {
    const { entry, index, band } = task;
    const { id } = entry.job;
    const devices =
      waitsFor.length === 0
        ? working.take(entry.shape, worker, true)
        : working.takeLater(entry.shape, worker, true);
    placed.push({
      taskId: taskIdOf(id, index),
      jobId: id,
      index,
      band,
      workerId: cluster.table.workers[worker]?.id ?? '',
      devices,
      waitsFor: waitsFor.map(({ attempt }) => attempt.uid).sort(),
      hadClaim: false,
      evictableBy: null,
    });
  };

  // A preemptor was committed with its place: it starts there when its victims are gone.
  const claims = {
    cluster,
    working,
    placed,
    released,
    nowMs,
    elsewhere: false,
    byIndex: true,
  };
  let wakeAtMs = Number.POSITIVE_INFINITY;
  for (const band of bandsInOrder) wakeAtMs = Math.min(wakeAtMs, placeClaims(claims, band));

  const open: JobEntry[] = [];
  for (const entry of baseOrder(cluster)) {
    entry.shape.refresh(cluster.table);
    const never = neverReason(entry.job, nowMs, states);
    if (never !== null)
      unschedulable.push({ jobId: entry.job.id, indexes: [...entry.indexes], reason: never });
    else {
      wakeAtMs = Math.min(wakeAtMs, nextGateMs(entry.job, nowMs));
      const gate = gateOf(entry.job, nowMs, states);
      if (gate === null) open.push(entry);
      else waiting.push({ jobId: entry.job.id, code: gate, count: entry.indexes.length });
    }
  }
  const most = (entry: JobEntry) =>
    entry.job.gangBy !== null || rules.maxPerJob === null ? entry.indexes.length : rules.maxPerJob;
  const tasks = interleave(open, most);
  const done = new Map<JobEntry, number>();
  const count = (entry: JobEntry, more: number) => done.set(entry, (done.get(entry) ?? 0) + more);

  const gangs = new Map<JobEntry, OneTask[]>();
  for (const task of tasks) {
    if (task.entry.job.gangBy === null) continue;
    const members = gangs.get(task.entry) ?? [];
    gangs.set(task.entry, members);
    members.push(task);
  }
  for (const [entry, members] of gangs) {
    const workers = firstGroup(entry.shape, members.length, working);
    if (workers === null) continue;
    members.sort((left, right) => left.index - right.index);
    for (const [at, worker] of workers.entries()) {
      const member = members[at];
      if (member !== undefined) record(member, worker, []);
    }
    count(entry, members.length);
  }

  const candidates = new Map<JobEntry, number[]>();
  const exhausted = new Set<JobEntry>();
  const left: OneTask[] = [];
  for (const task of tasks) {
    const { entry } = task;
    if (entry.job.gangBy !== null) {
      if ((done.get(entry) ?? 0) === 0) left.push(task);
      continue;
    }
    let list = candidates.get(entry);
    if (list === undefined) {
      list = candidatesOf(entry.shape, cluster.table);
      candidates.set(entry, list);
    }
    const worker = exhausted.has(entry) ? -1 : firstFit(list, entry.shape, working, rules);
    if (worker < 0) {
      exhausted.add(entry);
      left.push(task);
      continue;
    }
    record(task, worker, []);
    count(entry, 1);
  }

  const preemption = new OriginalPreemption(cluster, working);
  const evict = (taken: Taken, task: OneTask, members: readonly OneTask[]) => {
    const victims = taken.victims.toSorted((one, other) =>
      compareTexts(one.attempt.taskId, other.attempt.taskId),
    );
    for (const { attempt } of victims) {
      const { uid, taskId, jobId, workerId } = attempt;
      evictions.push({ uid, taskId, jobId, workerId, forJob: task.entry.job.id, forBand: task.band });
    }
    for (const victim of victims) working.leave(victim);
    for (const [at, worker] of taken.workers.entries()) {
      const member = members[at];
      if (member !== undefined) record(member, worker, victims);
    }
    count(task.entry, members.length);
  };
  const tried = new Set<JobEntry>();
  for (const task of left) {
    const { entry, band } = task;
    if (band === 'BATCH') continue;
    const members = gangs.get(entry);
    if (members === undefined) {
      const taken = preemption.forTask(entry, band);
      if (taken !== null) evict(taken, task, [task]);
    } else if (!tried.has(entry)) {
      tried.add(entry);
      const taken = preemption.forGang(entry, band, members.length);
      if (taken !== null)
        evict(
          taken,
          task,
          members.toSorted((one, other) => one.index - other.index),
        );
    }
  }

  for (const entry of open) {
    const rest = entry.indexes.length - (done.get(entry) ?? 0);
    if (rest > 0)
      waiting.push({
        jobId: entry.job.id,
        code: entry.shape.impossible ? 'impossible' : 'capacity',
        count: rest,
      });
  }
  return {
    placed,
    evictions,
    withdrawn: [],
    released,
    unschedulable,
    reservations: [],
    waiting,
    wakeAtMs: Number.isFinite(wakeAtMs) ? wakeAtMs : null,
    more: false,
    fitChecks: working.fitChecks,
  };
}
