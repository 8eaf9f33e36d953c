/** The two rule sets side by side, and whether what was promised of ours holds. */
import { bands } from '../../../core/contract/states.js';
import { ourRules } from '../../../core/scheduling/rules.js';
import { figureNames, waitName, type Figures } from './figures.js';
import { interval95, mean, pairedDifference, type Interval } from './statistics.js';
import { minuteMs, sizeClasses } from './trace.js';

/** `better`: wanted at least 30 % better; `kept`: not worse than allowed; `shown`: not judged. */
type Wanted = 'better' | 'kept' | 'shown';

export interface Row {
  readonly name: string;
  readonly jobs: number;
  readonly original: Interval;
  readonly ours: Interval;
  /** Ours less the original, seed by seed. */
  readonly difference: Interval;
  /** Change in percent of the original's mean; null where that is 0. */
  readonly percent: number | null;
  readonly wanted: string;
  readonly holds: boolean;
}

const wantedPercent = 30;
const allowedPercent = 10;
const allowedPoints = 1;
const rounding = 1e-9;
/** The default grace is half a minute; a victim must have run for the minimum time before it makes room. Our patience is not in it. */
const allowedMinutes = ourRules.minRunMs / minuteMs + 0.5;

interface Judged {
  readonly name: string;
  readonly wanted: Wanted;
  readonly unit: 'minutes' | 'points' | 'other';
  readonly more: 'better' | 'worse';
}

const judged: readonly Judged[] = [
  { name: figureNames.gangs, wanted: 'better', unit: 'minutes', more: 'worse' },
  { name: figureNames.lost, wanted: 'better', unit: 'other', more: 'worse' },
  { name: figureNames.utilization, wanted: 'kept', unit: 'points', more: 'better' },
  { name: figureNames.held, wanted: 'shown', unit: 'points', more: 'better' },
  { name: figureNames.evictions, wanted: 'kept', unit: 'other', more: 'worse' },
  { name: figureNames.repeated, wanted: 'shown', unit: 'other', more: 'worse' },
  { name: figureNames.slowdown, wanted: 'kept', unit: 'other', more: 'worse' },
  { name: figureNames.fairness, wanted: 'kept', unit: 'other', more: 'better' },
  { name: figureNames.gangsMedian, wanted: 'kept', unit: 'minutes', more: 'worse' },
  ...bands.flatMap((band) =>
    sizeClasses.flatMap((size) =>
      (['median', 'p95'] as const).map((part): Judged => ({
        name: waitName(part, band, size),
        wanted: 'kept',
        unit: 'minutes',
        more: 'worse',
      })),
    ),
  ),
];

/** One row a figure that every seed has; the seeds of both lists are the same, in the same order. */
export function compareRuns(original: readonly Figures[], ours: readonly Figures[]): Row[] {
  return judged.flatMap((figure) => {
    const before = valuesOf(original, figure.name);
    const after = valuesOf(ours, figure.name);
    if (before === null || after === null) return [];
    const difference = pairedDifference(before, after);
    const row = { name: figure.name, original: interval95(before), ours: interval95(after), difference };
    const percent = row.original.mean === 0 ? null : (100 * difference.mean) / Math.abs(row.original.mean);
    const jobs = mean(ours.map((figures) => figures[figure.name]?.jobs ?? 0));
    return [{ ...row, jobs, percent, ...verdict(figure, difference, percent) }];
  });
}

function valuesOf(runs: readonly Figures[], name: string): number[] | null {
  const values = runs.flatMap((figures) => figures[name]?.value ?? []);
  return values.length === runs.length && values.length > 0 ? values : null;
}

function verdict(
  { wanted, unit, more }: Judged,
  { mean: change }: Interval,
  percent: number | null,
): { readonly wanted: string; readonly holds: boolean } {
  if (wanted === 'shown') return { wanted: '', holds: true };
  const worse = more === 'worse' ? change : -change;
  const worsePercent = percent === null ? 0 : more === 'worse' ? percent : -percent;
  if (wanted === 'better')
    return {
      wanted: `${wantedPercent} % less`,
      holds: percent !== null && worsePercent <= rounding - wantedPercent,
    };
  if (unit === 'points') return { wanted: `>= -${allowedPoints} point`, holds: worse <= allowedPoints };
  const little = unit === 'minutes' && worse <= allowedMinutes;
  const within = percent === null ? worse <= 0 : worsePercent <= allowedPercent + rounding;
  const text = unit === 'minutes' ? ` or ${allowedMinutes} min` : '';
  return { wanted: `<= ${allowedPercent} %${text} worse`, holds: within || little };
}

export function tableOf(rows: readonly Row[]): string[] {
  const cells = rows.map((row) => [
    row.name,
    row.jobs.toFixed(0),
    shown(row.original),
    shown(row.ours),
    shown(row.difference, true),
    row.percent === null ? '' : `${row.percent > 0 ? '+' : ''}${row.percent.toFixed(0)} %`,
    row.wanted,
    row.wanted === '' ? '' : row.holds ? 'yes' : 'NO',
  ]);
  return aligned([
    ['figure', 'jobs', 'original', 'ours', 'difference', 'change', 'wanted', 'holds'],
    ...cells,
  ]);
}

/** Of one rule set alone. */
export function listOf(runs: readonly Figures[]): string[] {
  const cells = judged.flatMap(({ name }) => {
    const values = valuesOf(runs, name);
    const jobs = mean(runs.map((figures) => figures[name]?.jobs ?? 0));
    return values === null ? [] : [[name, jobs.toFixed(0), shown(interval95(values))]];
  });
  return aligned([['figure', 'jobs', 'mean'], ...cells]);
}

function shown({ mean: value, half }: Interval, signed = false): string {
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  const sign = signed && value > 0 ? '+' : '';
  return `${sign}${value.toFixed(digits)}${Number.isFinite(half) ? ` ±${half.toFixed(digits)}` : ''}`;
}

function aligned(rows: readonly (readonly string[])[]): string[] {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}
