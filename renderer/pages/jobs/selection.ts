/** Which rows are selected, and which one the keys act on. Rows listen, each to its own part. */
export interface Selection {
  readonly isSelected: (id: string) => boolean;
  readonly selected: () => readonly string[];
  readonly count: () => number;
  readonly active: () => string | null;
  /** Moves the keys' row; the start of a range moves along unless `extend`. */
  readonly setActive: (id: string | null) => void;
  readonly toggle: (id: string) => void;
  readonly set: (ids: Iterable<string>) => void;
  /** Where a range begins. */
  readonly rangeStart: () => string | null;
  readonly add: (ids: Iterable<string>) => void;
  /** Of jobs that are no longer there. */
  readonly drop: (ids: Iterable<string>) => void;
  /** Selects from the range's start to `id`, in the order given by `between`. */
  readonly extendTo: (id: string, between: (from: string, to: string) => readonly string[]) => void;
  readonly clear: () => void;
  readonly subscribe: (listener: () => void) => () => void;
}

/** `most`: what one command may name; what is selected beyond it is left out. */
export function createSelection(most = Infinity): Selection {
  let ids: ReadonlySet<string> = new Set();
  let list: readonly string[] = [];
  let active: string | null = null;
  let rangeStart: string | null = null;
  const listeners = new Set<() => void>();

  function change(next: ReadonlySet<string>): void {
    list = next.size > most ? [...next].slice(0, most) : [...next];
    ids = next.size > most ? new Set(list) : next;
    notify();
  }

  function notify(): void {
    for (const listener of [...listeners]) listener();
  }

  return {
    isSelected: (id) => ids.has(id),
    selected: () => list,
    count: () => ids.size,
    active: () => active,
    setActive(id) {
      rangeStart = id;
      if (active === id) return;
      active = id;
      notify();
    },
    toggle(id) {
      const next = new Set(ids);
      if (!next.delete(id)) next.add(id);
      active = id;
      rangeStart = id;
      change(next);
    },
    set(wanted) {
      change(new Set(wanted));
    },
    rangeStart: () => rangeStart,
    add(more) {
      change(new Set([...ids, ...more]));
    },
    drop(gone) {
      const next = new Set(ids);
      for (const id of gone) next.delete(id);
      if (next.size < ids.size) change(next);
    },
    extendTo(id, between) {
      const start = rangeStart ?? id;
      rangeStart = start;
      active = id;
      change(new Set([...ids, ...between(start, id)]));
    },
    clear() {
      if (ids.size > 0) change(new Set());
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => {
        listeners.delete(listener);
      };
    },
  };
}
