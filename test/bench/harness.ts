/**
 * What a bench file works with. Each `NAME.bench.ts` in this folder exports `name` and `run(context)`; `npm run bench` runs each in a
 * process of its own, bundled, and prints what it measured. Every figure is a ratio to something measured in the same run, or has a
 * limit that does not depend on the machine.
 */

/** One measured figure, as `--json` prints it. */
export interface Figure {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  /** What it was measured beside, with its value, such as `bare spawn loop 812/s`; null when the figure stands alone. */
  readonly comparedWith: string | null;
  /** value / value of what it is compared with. */
  readonly ratio: number | null;
  /** What is wanted, such as `ratio >= 0.6`; null for a figure that is only shown. */
  readonly target: string | null;
  readonly holds: boolean;
}

export interface BenchContext {
  /** The checkout. Bundles do not lie where their source does: paths start here. */
  readonly root: string;
  figure(figure: Figure): void;
  /** A line for the reader: settings, a count, what is measured now. */
  note(text: string): void;
}

interface Wanted {
  readonly atLeast?: number;
  readonly atMost?: number;
}

/** A figure beside another one of the same unit; the target is about their ratio. Without a target it is only shown. */
export function compare(
  measured: {
    readonly name: string;
    readonly value: number;
    readonly unit: string;
    readonly beside: { readonly name: string; readonly value: number };
  } & Wanted,
): Figure {
  const ratio = measured.value / measured.beside.value;
  return {
    name: measured.name,
    value: measured.value,
    unit: measured.unit,
    comparedWith: `${measured.beside.name} ${formatNumber(measured.beside.value)} ${measured.unit}`,
    ratio,
    target: targetText('ratio', '', measured),
    holds: meets(ratio, measured),
  };
}

/** A figure with a limit of its own. */
export function limit(
  measured: { readonly name: string; readonly value: number; readonly unit: string } & Wanted,
): Figure {
  return {
    name: measured.name,
    value: measured.value,
    unit: measured.unit,
    comparedWith: null,
    ratio: null,
    target: targetText('value', ` ${measured.unit}`, measured),
    holds: meets(measured.value, measured),
  };
}

/** The value below which the given share of the samples lies; the samples need no order. */
export function percentile(samples: readonly number[], share: number): number {
  if (samples.length === 0) throw new Error('There is no sample to take a percentile of.');
  const sorted = [...samples].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
}

/** NaN never meets a target. */
function meets(value: number, wanted: Wanted): boolean {
  if (wanted.atLeast !== undefined && !(value >= wanted.atLeast)) return false;
  return wanted.atMost === undefined || value <= wanted.atMost;
}

function targetText(what: string, unit: string, wanted: Wanted): string | null {
  const parts = [
    ...(wanted.atLeast === undefined ? [] : [`${what} >= ${wanted.atLeast}${unit}`]),
    ...(wanted.atMost === undefined ? [] : [`${what} <= ${wanted.atMost}${unit}`]),
  ];
  return parts.length === 0 ? null : parts.join(', ');
}

function formatNumber(value: number): string {
  return value >= 100 ? value.toFixed(0) : value.toPrecision(3);
}
