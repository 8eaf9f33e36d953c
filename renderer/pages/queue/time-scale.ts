/** Time on the horizontal axis: what part of it is seen, how it is zoomed and moved, and where its ticks are. */
export interface TimeWindow {
  readonly spanMs: number;
  /** Left edge; null while the window follows the present. */
  readonly startMs: number | null;
}

export const minSpanMs = 15 * 60_000;
export const maxSpanMs = 7 * 86_400_000;
/** The last hour, and half of one to come. */
export const startWindow: TimeWindow = { spanMs: 90 * 60_000, startMs: null };
/** Share of the width left of the present while it is followed. */
const pastShare = 2 / 3;

export interface TimeRange {
  readonly startMs: number;
  readonly endMs: number;
}

export function rangeOf(window: TimeWindow, nowMs: number): TimeRange {
  const startMs = window.startMs ?? nowMs - window.spanMs * pastShare;
  return { startMs, endMs: startMs + window.spanMs };
}

/** Zooms so that what is at `share` of the width stays there. Below 1 shows less time. */
export function zoomed(window: TimeWindow, factor: number, nowMs: number, share = pastShare): TimeWindow {
  const spanMs = Math.min(maxSpanMs, Math.max(minSpanMs, window.spanMs * factor));
  if (window.startMs === null && Math.abs(share - pastShare) < 0.02) return { spanMs, startMs: null };
  const { startMs } = rangeOf(window, nowMs);
  return { spanMs, startMs: startMs + share * (window.spanMs - spanMs) };
}

/** Moves by a share of the width; to the right is later. */
export function moved(window: TimeWindow, share: number, nowMs: number): TimeWindow {
  return { ...window, startMs: rangeOf(window, nowMs).startMs + share * window.spanMs };
}

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
const steps = [
  minute,
  5 * minute,
  10 * minute,
  15 * minute,
  30 * minute,
  hour,
  2 * hour,
  3 * hour,
  6 * hour,
  12 * hour,
  day,
  2 * day,
];

/** What the local clock is ahead of UTC then. */
export const localOffset = (atMs: number): number => -new Date(atMs).getTimezoneOffset() * minute;

/** Whole local times, at most `most` of them. `offsetAt`: what the local clock is ahead of UTC, which changes twice a year. */
export function ticksOf(
  range: TimeRange,
  most: number,
  offsetAt: (atMs: number) => number = localOffset,
): number[] {
  const span = range.endMs - range.startMs;
  const step = steps.find((candidate) => span / candidate <= Math.max(1, most)) ?? 7 * day;
  const ticks: number[] = [];
  let local = Math.ceil((range.startMs + offsetAt(range.startMs)) / step) * step;
  for (;;) {
    // By the offset before, and where the clock was changed in between by the one that holds then.
    const near = local - offsetAt(ticks.at(-1) ?? range.startMs);
    const at = local - offsetAt(local - offsetAt(near));
    if (at >= range.endMs) return ticks;
    // An hour that is left out, or comes twice, has no tick of its own.
    if (at >= range.startMs && at > (ticks.at(-1) ?? -Infinity)) ticks.push(at);
    local += step;
  }
}

/** Start of what is asked of the past: whole steps of the span, so that the present moving on asks nothing anew. */
export function historySince(range: TimeRange, nowMs: number): number {
  const step = Math.max(5 * minute, 2 ** Math.ceil(Math.log2((range.endMs - range.startMs) / 8)));
  return Math.max(0, Math.floor(Math.min(range.startMs, nowMs - hour) / step) * step);
}
