/** One clock for every relative time on the screen: ticks each second while something listens and the page is seen. */
import { useSyncExternalStore } from 'react';

let nowMs = Date.now();
let timer: ReturnType<typeof setInterval> | null = null;
const listeners = new Set<() => void>();

function tick(): void {
  if (document.visibilityState === 'hidden') return;
  nowMs = Date.now();
  for (const listener of [...listeners]) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  if (timer === null) {
    nowMs = Date.now();
    timer = setInterval(tick, 1000);
  }
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0 && timer !== null) {
      clearInterval(timer);
      timer = null;
    }
  };
}

/** Calls each second while the page is seen. Returns what ends it. */
export const onTick: (listener: () => void) => () => void = subscribe;

/** The time of the last tick, the same for everything drawn until the next. */
export const tickMs = (): number => nowMs;

/** A text made from the present time; renders only when the text changes. */
export function useTimeText(text: (nowMs: number) => string): string {
  return useSyncExternalStore(subscribe, () => text(nowMs));
}
