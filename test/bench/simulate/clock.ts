/** Virtual time: events in the order of their time, those of one time in the order they were asked for. */

interface Timed<Event> {
  readonly ms: number;
  readonly order: number;
  readonly event: Event;
}

export class VirtualClock<Event> {
  nowMs = Number.NEGATIVE_INFINITY;
  private readonly heap: Timed<Event>[] = [];
  private asked = 0;

  get size(): number {
    return this.heap.length;
  }

  /** A time that has passed is refused: nothing happens before now. */
  at(ms: number, event: Event): void {
    if (!(ms >= this.nowMs)) throw new Error(`${ms} ms is before now, which is ${this.nowMs} ms.`);
    const { heap } = this;
    this.asked += 1;
    const timed = { ms, order: this.asked, event };
    let at = heap.length;
    heap.push(timed);
    while (at > 0) {
      const above = (at - 1) >> 1;
      const parent = heap[above];
      if (parent === undefined || isBefore(parent, timed)) break;
      heap[at] = parent;
      at = above;
    }
    heap[at] = timed;
  }

  /** Time of the next event; null when there is none. */
  nextMs(): number | null {
    return this.heap[0]?.ms ?? null;
  }

  /** Goes on to the next event. */
  next(): Event | null {
    const first = this.heap[0];
    const last = this.heap.pop();
    if (first === undefined || last === undefined) return null;
    if (this.heap.length > 0) this.sink(last);
    this.nowMs = first.ms;
    return first.event;
  }

  private sink(timed: Timed<Event>): void {
    const { heap } = this;
    let at = 0;
    for (;;) {
      const left = heap[2 * at + 1];
      const right = heap[2 * at + 2];
      if (left === undefined) break;
      const goesRight = right !== undefined && isBefore(right, left);
      const child = goesRight ? right : left;
      if (!isBefore(child, timed)) break;
      heap[at] = child;
      at = 2 * at + (goesRight ? 2 : 1);
    }
    heap[at] = timed;
  }
}

function isBefore<Event>(left: Timed<Event>, right: Timed<Event>): boolean {
  return left.ms < right.ms || (left.ms === right.ms && left.order < right.order);
}
