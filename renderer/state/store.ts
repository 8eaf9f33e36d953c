/** The smallest external store: a value, a change, listeners. */
export interface ReadableStore<T> {
  readonly get: () => T;
  readonly subscribe: (listener: () => void) => () => void;
}

export interface WritableStore<T> extends ReadableStore<T> {
  readonly set: (value: T) => void;
}

export function createStore<T>(initial: T): WritableStore<T> {
  let value = initial;
  const listeners = new Set<() => void>();
  return {
    get: () => value,
    set(next) {
      if (Object.is(next, value)) return;
      value = next;
      for (const listener of [...listeners]) listener();
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => {
        listeners.delete(listener);
      };
    },
  };
}

/** Takes every value and shows the latest, the first at once and later ones not more often than that. */
export function createPacedStore<T>(initial: T, gapMs: number): WritableStore<T> {
  const shown = createStore<T>(initial);
  let latest = initial;
  let timer: ReturnType<typeof setTimeout> | null = null;
  const show = () => {
    timer = null;
    if (Object.is(shown.get(), latest)) return;
    shown.set(latest);
    timer = setTimeout(show, gapMs);
  };
  return {
    get: shown.get,
    subscribe: shown.subscribe,
    set(next) {
      latest = next;
      if (timer === null) show();
    },
  };
}
