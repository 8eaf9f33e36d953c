/** Who holds each card during a pass, and what counts of those that are shared; loaded with the machine, changed by what the pass does. */
import type { Holdings } from './holdings.js';
import { isLeaving } from './holdings.js';
import { cardUse, hasShare, notShared } from './sharing.js';
import type { WorkerTable } from './worker-table.js';

export class SharedCards {
  /** Attempts and places of this pass that stay on the card: it becomes free when there is none left. */
  staying = new Uint8Array(0);
  private sharers = new Uint8Array(0);
  private counted = new Float64Array(0);
  /** By machine: when less of its cards counts though nothing has happened. */
  private changesAtMs = new Float64Array(0);
  private shares = new Uint8Array(0);
  private nowMs = 0;
  private wentBack = false;

  constructor(private table: WorkerTable) {
    this.reset(table);
  }

  reset(table: WorkerTable): void {
    this.table = table;
    this.staying = new Uint8Array(table.deviceRow.length);
    this.sharers = new Uint8Array(table.deviceRow.length);
    this.counted = new Float64Array(table.deviceRow.length);
    this.changesAtMs = new Float64Array(table.count).fill(Number.POSITIVE_INFINITY);
    this.shares = new Uint8Array(table.count);
  }

  begin(nowMs: number): void {
    this.wentBack = nowMs < this.nowMs;
    this.nowMs = nowMs;
  }

  /** Its cards count otherwise than when they were loaded. */
  isDue(worker: number): boolean {
    if ((this.shares[worker] ?? 0) === 0) return false;
    return this.wentBack || (this.changesAtMs[worker] ?? 0) <= this.nowMs;
  }

  /** When less counts of some card; Infinity while nothing has to be waited for. */
  nextChangeMs(): number {
    let next = Number.POSITIVE_INFINITY;
    for (const ms of this.changesAtMs) next = Math.min(next, ms);
    return next;
  }

  beginWorker(worker: number): void {
    this.changesAtMs[worker] = Number.POSITIVE_INFINITY;
    this.shares[worker] = 0;
  }

  load(worker: number, at: number, holdings: Holdings, claimed: boolean): void {
    const holders = holdings.holdersAt[at] ?? [];
    let staying = 0;
    for (const held of holders) if (!isLeaving(held)) staying += 1;
    this.staying[at] = staying;
    const { sharers, countedBytes, changesAtMs } = cardUse(holders, this.table.deviceMemory[at], this.nowMs);
    this.sharers[at] = claimed ? notShared : sharers;
    this.counted[at] = countedBytes;
    if (sharers === 0 || sharers === notShared) return;
    this.shares[worker] = 1;
    this.changesAtMs[worker] = Math.min(this.changesAtMs[worker] ?? 0, changesAtMs);
  }

  isShared(at: number): boolean {
    const sharers = this.sharers[at] ?? 0;
    return sharers > 0 && sharers !== notShared;
  }

  hasShare(at: number, bytes: number): boolean {
    const use = { sharers: this.sharers[at] ?? 0, countedBytes: this.counted[at] ?? 0 };
    return hasShare(use, this.table.deviceMemory[at], this.table.deviceSharers[at] ?? 1, bytes);
  }

  /** Nobody joins any more: it is given or promised to one alone. */
  close(devices: readonly number[]): void {
    for (const at of devices) this.sharers[at] = notShared;
  }

  join(at: number, bytes: number): void {
    this.staying[at] = (this.staying[at] ?? 0) + 1;
    const sharers = this.isShared(at) ? (this.sharers[at] ?? 0) : 0;
    this.sharers[at] = this.table.deviceMemory[at] === null ? notShared : sharers + 1;
    this.counted[at] = (this.counted[at] ?? 0) + bytes;
  }

  leave(at: number): void {
    this.staying[at] = Math.max(0, (this.staying[at] ?? 0) - 1);
  }

  stay(devices: readonly number[]): void {
    for (const at of devices) this.staying[at] = (this.staying[at] ?? 0) + 1;
  }

  /** First those that are shared already, the fullest first; then by index. */
  pick(open: readonly number[], count: number): readonly number[] {
    const fullness = (at: number) => (this.isShared(at) ? 1 + (this.counted[at] ?? 0) : 0);
    return open
      .toSorted((left, right) => fullness(right) - fullness(left) || left - right)
      .slice(0, count)
      .sort((left, right) => left - right);
  }
}
