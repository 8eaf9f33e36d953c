/** Points in time at which something must be done, one an entity, earliest first; so that one timer serves all. */
import { compareTexts, SortedList } from './sorted-list.js';

interface Deadline {
  readonly id: string;
  readonly atMs: number;
}

export class DeadlineIndex {
  private readonly byId = new Map<string, Deadline>();
  private readonly order = new SortedList<Deadline>(
    (left, right) => left.atMs - right.atMs || compareTexts(left.id, right.id),
  );

  /** Null: none. */
  set(id: string, atMs: number | null): void {
    const known = this.byId.get(id);
    if (known !== undefined) {
      if (known.atMs === atMs) return;
      this.order.remove(known);
      this.byId.delete(id);
    }
    if (atMs === null) return;
    const made = { id, atMs };
    this.byId.set(id, made);
    this.order.add(made);
  }

  earliestMs(): number | null {
    return this.order.first()?.atMs ?? null;
  }

  /** Ids whose time has come, earliest first. */
  due(nowMs: number): string[] {
    const ids: string[] = [];
    for (const { id, atMs } of this.order.values) {
      if (atMs > nowMs) break;
      ids.push(id);
    }
    return ids;
  }
}
