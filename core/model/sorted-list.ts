/** A list kept in order. Insertion and removal find their place by bisection; equal items cannot be told apart, so there are none. */
export class SortedList<T> {
  private readonly items: T[] = [];

  constructor(private readonly compare: (left: T, right: T) => number) {}

  get size(): number {
    return this.items.length;
  }

  get values(): readonly T[] {
    return this.items;
  }

  /** False when an equal item is there already. */
  add(item: T): boolean {
    const last = this.items.at(-1);
    if (last === undefined || this.compare(last, item) < 0) {
      this.items.push(item);
      return true;
    }
    const position = this.position(item);
    const there = this.items[position];
    if (there !== undefined && this.compare(there, item) === 0) return false;
    this.items.splice(position, 0, item);
    return true;
  }

  /** False when it is not there. */
  remove(item: T): boolean {
    const position = this.position(item);
    const there = this.items[position];
    if (there === undefined || this.compare(there, item) !== 0) return false;
    if (position === 0) this.items.shift();
    else this.items.splice(position, 1);
    return true;
  }

  first(): T | undefined {
    return this.items[0];
  }

  takeFirst(): T | undefined {
    return this.items.shift();
  }

  /** First position whose item is not before `item`. */
  protected position(item: T): number {
    let low = 0;
    let high = this.items.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const there = this.items[middle];
      if (there !== undefined && this.compare(there, item) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

export function compareNumbers(left: number, right: number): number {
  return left - right;
}

export function compareTexts(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}
