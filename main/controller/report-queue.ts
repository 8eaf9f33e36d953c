/**
 * What backends reported and no round has taken yet. While nothing can be written, for a weekend with a full disk perhaps, reports go on
 * coming: of each attempt what they say together is kept, not each of them.
 */
import type { AttemptObservation } from '../backends/backend.js';

/** More than that are drawn together, and again when as many have come as were left. */
const usualMost = 4096;

export class ReportQueue {
  private reports: AttemptObservation[] = [];
  private most: number;

  constructor(private readonly least = usualMost) {
    this.most = least;
  }

  get size(): number {
    return this.reports.length;
  }

  add(batch: readonly AttemptObservation[]): void {
    for (const report of batch) this.reports.push(report);
    if (this.reports.length <= this.most) return;
    this.reports = together(this.reports);
    this.most = Math.max(this.least, 2 * this.reports.length);
  }

  /** All of them, in the order they came. */
  take(): readonly AttemptObservation[] {
    const taken = this.reports;
    this.reports = [];
    this.most = this.least;
    return taken;
  }

  /** Taken, and to be taken again: they come before what came since. */
  giveBack(taken: readonly AttemptObservation[]): void {
    const since = this.take();
    this.add(taken);
    this.add(since);
  }
}

function isEnd({ state }: AttemptObservation): boolean {
  return state !== 'BUILDING' && state !== 'RUNNING';
}

/** Of each attempt at most one report of how it goes on, and the first of its end. */
function together(reports: readonly AttemptObservation[]): AttemptObservation[] {
  const going = new Map<string, AttemptObservation>();
  const ended = new Map<string, AttemptObservation>();
  for (const report of reports) {
    const { uid } = report;
    if (ended.has(uid)) continue;
    if (isEnd(report)) {
      ended.set(uid, report);
      continue;
    }
    const before = going.get(uid);
    going.set(uid, before === undefined ? report : joined(before, report));
  }
  return [...going.values(), ...ended.values()];
}

function joined(before: AttemptObservation, after: AttemptObservation): AttemptObservation {
  const codes = new Set(after.warnings.map(({ code }) => code));
  const usage = after.usage ?? before.usage;
  return {
    ...after,
    // An attempt that runs does not go back to being built.
    state: before.state === 'RUNNING' ? 'RUNNING' : after.state,
    startedAtMs: before.startedAtMs ?? after.startedAtMs,
    pid: after.pid ?? before.pid,
    peakMemoryBytes: after.peakMemoryBytes ?? before.peakMemoryBytes,
    warnings: [...before.warnings.filter(({ code }) => !codes.has(code)), ...after.warnings],
    checkpointAtMs: latest(before.checkpointAtMs, after.checkpointAtMs),
    ...(usage === undefined ? {} : { usage }),
  };
}

function latest(left: number | null = null, right: number | null = null): number | null {
  return left === null || right === null ? (left ?? right) : Math.max(left, right);
}
