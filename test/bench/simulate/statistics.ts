/** The few statistics of the comparison. */

/** The smallest sample that at least `share` of all do not exceed; the samples need no order. */
export function quantile(samples: readonly number[], share: number): number {
  if (samples.length === 0) return Number.NaN;
  const sorted = Float64Array.from(samples).sort();
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
}

export function mean(samples: readonly number[]): number {
  return samples.reduce((sum, sample) => sum + sample, 0) / samples.length;
}

/** Jain's index of fairness: 1 when all are equal, 1/n when one has everything. */
export function jainIndex(samples: readonly number[]): number {
  const sum = samples.reduce((all, sample) => all + sample, 0);
  const squares = samples.reduce((all, sample) => all + sample * sample, 0);
  return squares === 0 ? 1 : (sum * sum) / (samples.length * squares);
}

/** 97.5 % points of Student's t by degrees of freedom, from 1. */
const studentT = [
  12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.16, 2.145, 2.131,
  2.12, 2.11, 2.101, 2.093, 2.086, 2.08, 2.074, 2.069, 2.064, 2.06, 2.056, 2.052, 2.048, 2.045, 2.042,
];

export interface Interval {
  readonly mean: number;
  /** Half the width of the 95 % confidence interval of the mean; Infinity for a single sample. */
  readonly half: number;
}

export function interval95(samples: readonly number[]): Interval {
  const middle = mean(samples);
  const count = samples.length;
  if (count < 2) return { mean: middle, half: Number.POSITIVE_INFINITY };
  const variance = samples.reduce((sum, sample) => sum + (sample - middle) ** 2, 0) / (count - 1);
  return { mean: middle, half: (studentT[count - 2] ?? 1.96) * Math.sqrt(variance / count) };
}

/** Of the differences seed by seed: what both have in common drops out. */
export function pairedDifference(left: readonly number[], right: readonly number[]): Interval {
  if (left.length !== right.length)
    throw new Error(`${left.length} samples cannot be paired with ${right.length}.`);
  return interval95(right.map((sample, at) => sample - (left[at] ?? Number.NaN)));
}
