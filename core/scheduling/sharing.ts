/**
 * Cards that several tasks share. What counts of one is the memory seen in use on it; of tasks that have not run for long, which may
 * not have taken theirs yet, what they said they would use. Nothing enforces it: a task that takes more than it said may make others
 * on its card fail.
 */
import type { Held } from './holdings.js';

export interface CardMemory {
  readonly totalBytes: number;
  /** By everybody. */
  readonly usedBytes: number;
  /** Of that, by attempts of ours whose processes were seen. */
  readonly byAttempt?: Readonly<Record<string, number>>;
}

/** A task counts with what it said until it has run that long. */
export const rampMs = 5 * 60_000;
/** Tasks on one card, where the machine names no other number. */
export const defaultSharers = 4;
/** It has the card alone, or is promised it. */
export const notShared = 255;

/** Kept free on a card that is shared: 5 % of it, at least 1 GiB. */
export function marginOf(totalBytes: number): number {
  return Math.max(2 ** 30, Math.ceil(totalBytes / 20));
}

/** True when nothing but its margin were in its way. A card whose memory is not readable may be had alone. */
export function couldHold(memory: CardMemory | null | undefined, bytes: number): boolean {
  return memory === null || memory === undefined || bytes + marginOf(memory.totalBytes) <= memory.totalBytes;
}

export interface CardUse {
  /** 0: free; `notShared`: nobody may join. */
  readonly sharers: number;
  /** Of its memory, in use or expected to be. */
  readonly countedBytes: number;
  /** When less of it counts though nothing has happened; Infinity for never. */
  readonly changesAtMs: number;
}

export function cardUse(
  holders: readonly Held[],
  memory: CardMemory | null | undefined,
  nowMs: number,
): CardUse {
  let countedBytes = memory?.usedBytes ?? 0;
  let changesAtMs = Number.POSITIVE_INFINITY;
  if (holders.length === 0) return { sharers: 0, countedBytes, changesAtMs };
  const alone = { sharers: notShared, countedBytes, changesAtMs };
  if (memory === null || memory === undefined) return alone;
  for (const { attempt } of holders) {
    const said = attempt.sharedGpuBytes ?? null;
    if (said === null) return alone;
    // One that is only being started has its time before it.
    const startedMs = attempt.state === 'RUNNING' || attempt.state === 'ENDING' ? attempt.startedAtMs : null;
    const settlesMs = startedMs === null ? Number.POSITIVE_INFINITY : startedMs + rampMs;
    if (settlesMs <= nowMs) continue;
    changesAtMs = Math.min(changesAtMs, settlesMs);
    countedBytes += Math.max(0, said - (memory.byAttempt?.[attempt.uid] ?? 0));
  }
  return { sharers: holders.length, countedBytes, changesAtMs };
}

/** True when a task that uses so much may join those on the card, or have it as the first. */
export function hasShare(
  use: Pick<CardUse, 'sharers' | 'countedBytes'>,
  memory: CardMemory | null | undefined,
  most: number,
  bytes: number,
): boolean {
  if (memory === null || memory === undefined) return use.sharers === 0;
  return (
    use.sharers < Math.max(1, most) &&
    use.countedBytes + bytes + marginOf(memory.totalBytes) <= memory.totalBytes
  );
}
