/** Keys of the list. They act on the selection, or on the active row when nothing is selected. */
import type { RefObject } from 'react';
import type { JobChange } from '../../../core/contract/queue.js';
import type { JobSummary } from '../../../core/contract/views.js';
import { useShortcuts } from '../../components/shortcuts.js';
import { queue } from '../../strings/queue.js';
import { jobs as words } from '../../strings/jobs.js';
import { rowElementId } from './row-element.js';
import type { TableControl } from './job-table.js';
import type { JobsState } from './jobs-state.js';
import { concernedBy } from './row-menu.js';
import type { ListStructure } from './list-structure.js';

export interface JobsKeysOptions {
  readonly state: JobsState;
  readonly control: RefObject<TableControl | null>;
  /** Rows the keys act on. */
  readonly targets: () => readonly JobSummary[];
  readonly open: (id: string) => void;
  readonly stop: (rows: readonly JobSummary[]) => void;
  readonly runAgain: (rows: readonly JobSummary[]) => void;
  readonly edit: (row: JobSummary) => void;
  readonly change: (rows: readonly JobSummary[], change: JobChange) => void;
  readonly selectAll: () => void;
  readonly focusSearch: () => void;
  readonly clearSearch: () => boolean;
  readonly menu: (id: string, x: number, y: number) => void;
}

/** The nearest line that holds a job, going `step` from `line`. */
function jobLine(structure: ListStructure, line: number, step: 1 | -1): { line: number; id: string } | null {
  for (let at = line; at >= 0 && at < structure.length; at += step) {
    const row = structure.rowAt(at);
    if (row.kind === 'job') return { line: at, id: row.id };
    // Not fetched yet: it will be there in a moment; going further would skip unseen rows.
    if (row.kind === 'skeleton') return null;
  }
  return null;
}

/** Ids of the lines from one job to another. */
export function idsBetween(structure: ListStructure, from: string, to: string): string[] {
  const a = structure.lineOf(from);
  const b = structure.lineOf(to);
  if (a < 0 || b < 0) return [to];
  const ids: string[] = [];
  for (let line = Math.min(a, b); line <= Math.max(a, b); line += 1) {
    const row = structure.rowAt(line);
    if (row.kind === 'job') ids.push(row.id);
  }
  return ids;
}

/** Whether there are lines between two jobs whose rows are not loaded. */
export function hasGap(structure: ListStructure, from: string, to: string): boolean {
  const a = structure.lineOf(from);
  const b = structure.lineOf(to);
  if (a < 0 || b < 0) return false;
  for (let line = Math.min(a, b); line <= Math.max(a, b); line += 1)
    if (structure.rowAt(line).kind === 'skeleton') return true;
  return false;
}

export function useJobsKeys(options: JobsKeysOptions): void {
  const { state, control } = options;
  const { list, selection } = state;

  const activeLine = (): number => {
    const id = selection.active();
    return id === null ? -1 : list.structure.get().lineOf(id);
  };

  const goTo = (line: number, step: 1 | -1, extend: boolean): void => {
    const structure = list.structure.get();
    const found = jobLine(structure, Math.max(0, Math.min(structure.length - 1, line)), step);
    if (found === null) {
      control.current?.reveal(Math.max(0, Math.min(structure.length - 1, line)));
      return;
    }
    if (extend) selection.extendTo(found.id, (from, to) => idsBetween(structure, from, to));
    else selection.setActive(found.id);
    control.current?.reveal(found.line);
    control.current?.focus();
  };

  const move = (by: number, extend = false): void => {
    const line = activeLine();
    goTo(line < 0 ? 0 : line + by, by < 0 && line >= 0 ? -1 : 1, extend);
  };

  const withActive = (run: (id: string) => void): boolean => {
    const id = selection.active();
    if (id === null || list.structure.get().lineOf(id) < 0) return false;
    run(id);
    return true;
  };

  /** Of the rows that are not over; false when there is none. */
  const changed = (change: JobChange): boolean => {
    const rows = concernedBy(options.targets(), change);
    if (rows.length === 0) return false;
    options.change(rows, change);
    return true;
  };
  const openMenu = () =>
    withActive((id) => {
      const box = document.getElementById(rowElementId(id))?.getBoundingClientRect();
      if (box !== undefined) options.menu(id, box.left + 40, box.bottom - 4);
    });

  useShortcuts(words.keysTitle, [
    {
      keys: ['j', 'ArrowDown'],
      label: words.keyMove,
      shown: ['j', 'k', 'ArrowDown', 'ArrowUp'],
      run: () => move(1),
    },
    { keys: ['k', 'ArrowUp'], run: () => move(-1) },
    { keys: 'PageDown', run: () => move(control.current?.pageLines() ?? 10) },
    { keys: 'PageUp', run: () => move(-(control.current?.pageLines() ?? 10)) },
    { keys: 'Home', label: words.keyEnds, shown: ['Home', 'End'], run: () => goTo(0, 1, false) },
    { keys: 'End', run: () => goTo(list.structure.get().length - 1, -1, false) },
    { keys: 'Enter', label: words.keyOpen, run: () => withActive((id) => options.open(id)) },
    {
      keys: 'Space',
      label: words.keySelect,
      run: () =>
        withActive((id) => {
          selection.toggle(id);
        }),
    },
    {
      keys: ['shift+ArrowDown', 'shift+j'],
      label: words.keyExtend,
      shown: ['shift+ArrowDown', 'shift+ArrowUp'],
      run: () => move(1, true),
    },
    { keys: ['shift+ArrowUp', 'shift+k'], run: () => move(-1, true) },
    { keys: 'mod+a', label: words.keyAll, run: () => options.selectAll() },
    {
      keys: 'ArrowRight',
      label: words.keyExpand,
      shown: ['ArrowRight', 'ArrowLeft'],
      run: () =>
        withActive((id) => {
          list.toggle(id, true);
        }),
    },
    {
      keys: 'ArrowLeft',
      run: () =>
        withActive((id) => {
          const structure = list.structure.get();
          const line = structure.lineOf(id);
          const row = structure.rowAt(line);
          if (row.kind !== 'job') return;
          if (row.open) {
            list.toggle(id, false);
            return;
          }
          for (let above = line - 1; above >= 0; above -= 1) {
            const parent = structure.rowAt(above);
            if (parent.kind === 'job' && parent.depth < row.depth) {
              goTo(above, -1, false);
              return;
            }
          }
        }),
    },
    {
      keys: 'x',
      label: words.keyStop,
      run: () => {
        const rows = options.targets();
        if (rows.length === 0) return false;
        options.stop(rows);
        return true;
      },
    },
    {
      keys: 'r',
      label: words.keyRun,
      run: () => {
        const rows = options.targets();
        if (rows.length === 0) return false;
        options.runAgain(rows);
        return true;
      },
    },
    {
      keys: 'e',
      label: words.keyEdit,
      run: () => {
        const row = options.targets()[0];
        if (row === undefined) return false;
        options.edit(row);
        return true;
      },
    },
    {
      keys: 'h',
      label: queue.keyHold,
      run: () => changed({ kind: 'hold' }) || changed({ kind: 'release' }),
    },
    { keys: 'alt+ArrowUp', label: queue.keyFirst, run: () => changed({ kind: 'move', to: 'first' }) },
    { keys: 'alt+ArrowDown', label: queue.keyLast, run: () => changed({ kind: 'move', to: 'last' }) },
    { keys: 'u', label: queue.keyUsual, run: () => changed({ kind: 'move', to: 'usual' }) },
    { keys: 'b', label: queue.keyBand, run: openMenu },
    { keys: '/', label: words.keySearch, run: () => options.focusSearch() },
    {
      keys: ['shift+F10', 'ContextMenu'],
      label: words.keyMenu,
      shown: ['shift+F10'],
      run: openMenu,
    },
    {
      keys: 'Escape',
      label: words.keyClear,
      run: () => {
        if (selection.count() > 0) {
          selection.clear();
          return true;
        }
        return options.clearSearch();
      },
    },
  ]);
}
