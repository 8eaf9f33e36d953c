import { useSyncExternalStore } from 'react';
import { onTick, tickMs } from '../../components/clock.js';

/** The present in whole steps; renders once a step. */
export function useNow(stepMs: number): number {
  return useSyncExternalStore(onTick, () => Math.floor(tickMs() / stepMs) * stepMs);
}
