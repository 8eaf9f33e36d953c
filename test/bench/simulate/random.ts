/** Draws from the distributions of the traces, the same for the same seed on every machine. */

export class Random {
  private state: number;

  constructor(seed: number) {
    this.state = seed >>> 0;
  }

  /** In [0, 1); mulberry32, whose period of 2^32 is long enough for one trace. */
  unit(): number {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), this.state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  chance(share: number): boolean {
    return this.unit() < share;
  }

  normal(): number {
    return Math.sqrt(-2 * Math.log(1 - this.unit())) * Math.cos(2 * Math.PI * this.unit());
  }

  /** `sigma` is that of the logarithm. */
  logNormal(median: number, sigma: number): number {
    return median * Math.exp(sigma * this.normal());
  }

  /** Never below `least`. */
  pareto(least: number, alpha: number): number {
    return least / (1 - this.unit()) ** (1 / alpha);
  }

  /** One of the values, each as likely as its weight beside the others'. */
  pick<T>(weighted: readonly (readonly [value: T, weight: number])[]): T {
    const first = weighted[0];
    if (first === undefined) throw new Error('There is nothing to pick from.');
    let left = this.unit() * weighted.reduce((sum, [, weight]) => sum + weight, 0);
    let last = first[0];
    for (const [value, weight] of weighted) {
      last = value;
      left -= weight;
      if (left < 0) break;
    }
    return last;
  }
}
