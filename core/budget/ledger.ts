/**
 * What users have used over time: the value of what they held, as long as they held it, by part. Beside the plain sum runs one that
 * fades: what was used a half-life ago counts half. That one is kept as it would weigh at a fixed moment, so that adding to it never
 * multiplies what is there: however many steps a use is written in, nothing drifts.
 */
import type { ValueParts } from './value.js';

/** How past use fades. */
export interface Fading {
  readonly halfLifeMs: number;
  /** The moment for which faded sums are kept. */
  readonly epochMs: number;
}

/** Value x milliseconds, by part. Settled use only: what is held still is added when somebody looks. */
export interface Ledger {
  readonly used: ValueParts;
  /** As it weighs at the epoch; nothing while nothing fades. */
  readonly faded: ValueParts;
}

/** Something of that value, held over that time. A clock that went back holds nothing. */
export interface Held {
  readonly value: ValueParts;
  readonly fromMs: number;
  readonly toMs: number;
}

/** GPU-hours by part: an hour of one GPU, or of what is worth as much in memory or processors. */
export interface GpuHours extends ValueParts {
  readonly total: number;
}

const nothing: ValueParts = { gpus: 0, memory: 0, processors: 0 };
export const emptyLedger: Ledger = { used: nothing, faded: nothing };

const valueOfGpu = 1000;
const hourMs = 3_600_000;

export function gpuHours(parts: ValueParts): GpuHours {
  const { gpus, memory, processors } = scaled(parts, 1 / (valueOfGpu * hourMs));
  return { gpus, memory, processors, total: gpus + memory + processors };
}

/** `sign` -1 takes out again what will be counted otherwise. */
export function enter(ledger: Ledger, held: Held, fading: Fading | null, sign: 1 | -1 = 1): Ledger {
  const used = plus(ledger.used, held.value, sign * lastedMs(held));
  if (fading === null) return { used, faded: nothing };
  const halfLives = Math.min(furthest, (held.toMs - fading.epochMs) / fading.halfLifeMs);
  const weight = weightAtEnd(held, fading.halfLifeMs) * 2 ** halfLives;
  return { used, faded: plus(ledger.faded, held.value, sign * weight) };
}

/** With all that is held still, up to `nowMs`; the second null when nothing fades. */
export function ledgerAt(
  ledger: Ledger,
  held: readonly Omit<Held, 'toMs'>[],
  nowMs: number,
  fading: Fading | null,
): { readonly used: ValueParts; readonly faded: ValueParts | null } {
  let { used } = ledger;
  let faded = fading === null ? null : fadedAt(ledger, nowMs, fading);
  for (const { value, fromMs } of held) {
    const each = { value, fromMs, toMs: nowMs };
    used = plus(used, value, lastedMs(each));
    if (fading !== null && faded !== null) faded = plus(faded, value, weightAtEnd(each, fading.halfLifeMs));
  }
  return { used: atLeastNothing(used), faded: faded === null ? null : atLeastNothing(faded) };
}

/** The same ledger under another fading. What was used before counts as it did then, whole when nothing faded, and fades from there. */
export function refaded(ledger: Ledger, nowMs: number, before: Fading | null, after: Fading | null): Ledger {
  if (after === null) return { used: ledger.used, faded: nothing };
  const weight = before === null ? ledger.used : fadedAt(ledger, nowMs, before);
  return { used: ledger.used, faded: scaled(weight, 2 ** ((nowMs - after.epochMs) / after.halfLifeMs)) };
}

/** Half-lives after which the epoch is moved, long before a weight leaves the range of numbers. */
const epochLasts = 256;
/** What a clock that is wrong puts further from the epoch counts as this far. */
const furthest = 600;

/** An epoch nearer to now, when the old one is too far; null when it serves. By whole half-lives, so that no digit is lost. */
export function nearerEpoch(fading: Fading, nowMs: number): Fading | null {
  const passed = Math.floor((nowMs - fading.epochMs) / fading.halfLifeMs);
  if (Math.abs(passed) < epochLasts) return null;
  return { ...fading, epochMs: fading.epochMs + passed * fading.halfLifeMs };
}

/** As it weighs at that epoch instead. */
export function atEpoch(ledger: Ledger, before: Fading, after: Fading): Ledger {
  const weight = 2 ** ((before.epochMs - after.epochMs) / after.halfLifeMs);
  return { used: ledger.used, faded: scaled(ledger.faded, weight) };
}

function fadedAt(ledger: Ledger, nowMs: number, { epochMs, halfLifeMs }: Fading): ValueParts {
  return scaled(ledger.faded, 2 ** Math.min(furthest, (epochMs - nowMs) / halfLifeMs));
}

function lastedMs({ fromMs, toMs }: Held): number {
  return Math.max(0, toMs - fromMs);
}

/** Milliseconds of use at a constant rate, each weighed by its age at the end: the integral, not a sum of steps. */
function weightAtEnd(held: Held, halfLifeMs: number): number {
  return (halfLifeMs / Math.LN2) * -Math.expm1((-Math.LN2 * lastedMs(held)) / halfLifeMs);
}

function plus(sum: ValueParts, value: ValueParts, times: number): ValueParts {
  return {
    gpus: sum.gpus + value.gpus * times,
    memory: sum.memory + value.memory * times,
    processors: sum.processors + value.processors * times,
  };
}

function scaled(parts: ValueParts, by: number): ValueParts {
  return { gpus: parts.gpus * by, memory: parts.memory * by, processors: parts.processors * by };
}

/** What was taken out and put in again may leave less than nothing in the last digit. */
function atLeastNothing({ gpus, memory, processors }: ValueParts): ValueParts {
  return { gpus: Math.max(0, gpus), memory: Math.max(0, memory), processors: Math.max(0, processors) };
}
