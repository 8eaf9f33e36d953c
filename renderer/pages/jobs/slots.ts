/** Ids by their place in a list that may be very long, of which pages are known: what changes one page copies that page only. */
export interface SlotsView {
  /** Undefined where none is known. */
  readonly at: (index: number) => string | undefined;
}

export interface Slots extends SlotsView {
  readonly set: (index: number, id: string | undefined) => void;
  /** The ids of a page, which are no longer known afterwards. */
  readonly forget: (page: number) => readonly string[];
  /** The ids from a place on, which are no longer known afterwards. */
  readonly cut: (length: number) => readonly string[];
  readonly clear: () => void;
  /** What is known now; later changes do not reach it. */
  readonly snapshot: () => SlotsView;
}

export function createSlots(pageSize: number): Slots {
  let pages = new Map<number, (string | undefined)[]>();
  /** Pages that no snapshot has. */
  let own = new Set<number>();

  function ownPage(page: number): (string | undefined)[] {
    const known = pages.get(page);
    if (known !== undefined && own.has(page)) return known;
    const copy = [...(known ?? [])];
    pages.set(page, copy);
    own.add(page);
    return copy;
  }

  function forget(page: number): readonly string[] {
    const ids = pages.get(page) ?? [];
    pages.delete(page);
    return ids.filter((id) => id !== undefined);
  }

  const readIn = (from: ReadonlyMap<number, readonly (string | undefined)[]>) => (index: number) =>
    from.get(Math.floor(index / pageSize))?.[index % pageSize];

  return {
    at: (index) => readIn(pages)(index),
    set(index, id) {
      ownPage(Math.floor(index / pageSize))[index % pageSize] = id;
    },
    forget,
    cut(length) {
      const last = Math.floor(length / pageSize);
      const gone = [...pages.keys()].filter((page) => page > last).flatMap(forget);
      if ((pages.get(last)?.length ?? 0) > length % pageSize)
        for (const id of ownPage(last).splice(length % pageSize)) if (id !== undefined) gone.push(id);
      return gone;
    },
    clear() {
      pages = new Map();
    },
    snapshot() {
      own = new Set();
      return { at: readIn(new Map(pages)) };
    },
  };
}
