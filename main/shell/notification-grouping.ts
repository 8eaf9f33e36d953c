/**
 * When an ended job is told on its own and when several are told together. Pure: time comes in, what to show comes out.
 * Up to three in ten seconds appear one by one and at once; what comes above that waits for the end of the ten seconds and appears as one.
 * While it goes on like that there is one notification every ten seconds; a quiet ten seconds end it.
 */

export const groupWindowMs = 10_000;
export const singlesPerWindow = 3;

export interface GroupingState<T> {
  /** End of the current ten seconds; null when nothing was shown lately. */
  readonly windowEndsAtMs: number | null;
  /** Shown one by one in this window. */
  readonly singles: number;
  readonly held: readonly T[];
}

export interface GroupingStep<T> {
  readonly state: GroupingState<T>;
  /** Each inner list is one notification: one item, or several told together. */
  readonly show: readonly (readonly T[])[];
  /** When `advance` must be called next; null for not at all. */
  readonly wakeAtMs: number | null;
}

export function idleGrouping<T>(): GroupingState<T> {
  return { windowEndsAtMs: null, singles: 0, held: [] };
}

/** An item came. */
export function offer<T>(state: GroupingState<T>, item: T, nowMs: number): GroupingStep<T> {
  const current = advance(state, nowMs);
  if (current.state.windowEndsAtMs === null) {
    const next = { windowEndsAtMs: nowMs + groupWindowMs, singles: 1, held: [] };
    return { state: next, show: [...current.show, [item]], wakeAtMs: next.windowEndsAtMs };
  }
  if (current.state.singles < singlesPerWindow) {
    const next = { ...current.state, singles: current.state.singles + 1 };
    return { state: next, show: [...current.show, [item]], wakeAtMs: next.windowEndsAtMs };
  }
  const next = { ...current.state, held: [...current.state.held, item] };
  return { state: next, show: current.show, wakeAtMs: next.windowEndsAtMs };
}

/** Time passed: closes a window that is over. */
export function advance<T>(state: GroupingState<T>, nowMs: number): GroupingStep<T> {
  const { windowEndsAtMs, held } = state;
  if (windowEndsAtMs === null) return { state, show: [], wakeAtMs: null };
  // A clock set back must not hold notifications for hours: a window never lasts longer than ten seconds from now.
  const endsAtMs = Math.min(windowEndsAtMs, nowMs + groupWindowMs);
  if (nowMs < endsAtMs)
    return { state: { ...state, windowEndsAtMs: endsAtMs }, show: [], wakeAtMs: endsAtMs };
  if (held.length === 0) return { state: idleGrouping(), show: [], wakeAtMs: null };
  const next = { windowEndsAtMs: nowMs + groupWindowMs, singles: singlesPerWindow, held: [] };
  return { state: next, show: [held], wakeAtMs: next.windowEndsAtMs };
}
