import { useSyncExternalStore } from 'react';
import type { ReadableStore } from './store.js';

export function useStore<T>(store: ReadableStore<T>): T {
  return useSyncExternalStore(store.subscribe, store.get);
}

/** A part of a store's value: renders only when that part is another one. The part must be a plain value or keep its identity. */
export function useStorePart<T, P>(store: ReadableStore<T>, part: (value: T) => P): P {
  return useSyncExternalStore(store.subscribe, () => part(store.get()));
}
