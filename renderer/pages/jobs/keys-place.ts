/**
 * Where the keys are in the list: on the active row, on the line it had before it went, or on a line whose row is still being fetched,
 * which becomes the active one as soon as it is there.
 */
import type { ReadableStore } from '../../state/store.js';
import { idsBetween, isFetched, jobLine } from './line-ids.js';
import type { ListStructure } from './list-structure.js';
import type { Selection } from './selection.js';

export interface KeysPlace {
  /** The line that is `by` lines on. */
  readonly lineAt: (by: number) => number;
  /** Goes to the nearest job from a line on. The line to bring into view. */
  readonly goTo: (line: number, step: 1 | -1, extend: boolean) => number;
  /** Which rows are asked for: where the keys were in others says nothing of them. */
  readonly inQuery: (query: string) => void;
}

interface Goal {
  readonly line: number;
  readonly step: 1 | -1;
  readonly extend: boolean;
  /** Whoever makes another row active meanwhile goes there. */
  readonly active: string | null;
}

export function createKeysPlace(list: ReadableStore<ListStructure>, selection: Selection): KeysPlace {
  let goal: Goal | null = null;
  let shown: string | null = null;
  /** Line of the active row when it was last seen. */
  let last = -1;

  const activeLine = (): number => {
    const id = selection.active();
    return id === null ? -1 : list.get().lineOf(id);
  };

  function look(): void {
    const line = activeLine();
    if (line >= 0) last = line;
    else if (selection.active() === null) last = -1;
  }

  function arrive(line: number, step: 1 | -1, extend: boolean): number | null {
    const structure = list.get();
    const found = jobLine(structure, line, step);
    if (found === null) return null;
    if (extend) selection.extendTo(found.id, (from, to) => idsBetween(structure, from, to));
    else selection.setActive(found.id);
    return found.line;
  }

  list.subscribe(() => {
    if (goal !== null) {
      const { line, step, extend, active } = goal;
      if (active !== selection.active() || arrive(line, step, extend) !== null) goal = null;
    }
    look();
  });
  selection.subscribe(look);

  return {
    lineAt(by) {
      if (goal !== null && goal.active === selection.active()) return goal.line + by;
      const line = activeLine();
      if (line >= 0) return line + by;
      if (last < 0) return 0;
      // What was below the row that went is on its line now.
      return by > 0 ? last + by - 1 : last + by;
    },
    goTo(wanted, step, extend) {
      const line = Math.max(0, Math.min(list.get().length - 1, wanted));
      goal = null;
      const reached = arrive(line, step, extend);
      if (reached === null && isFetched(list.get(), line, step))
        goal = { line, step, extend, active: selection.active() };
      return reached ?? line;
    },
    inQuery(query) {
      if (query === shown) return;
      shown = query;
      goal = null;
      last = -1;
    },
  };
}
