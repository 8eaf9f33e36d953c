/** Keys of the list. They act on the selection, or on the active row when nothing is selected. */
import type { RefObject } from 'react';
import type { JobChange } from '../../../core/contract/queue.js';
import type { JobSummary } from '../../../core/contract/views.js';
import { useJobListShortcuts } from '../../components/use-job-list-shortcuts.js';
import { queue } from '../../strings/queue.js';
import { jobs as words } from '../../strings/jobs.js';
import { rowElementId } from './row-element.js';
import type { TableControl } from './job-table.js';
import type { JobsState } from './jobs-state.js';
import { concernedBy } from './row-menu.js';

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

export function useJobsKeys(options: JobsKeysOptions): void {
  const { state, control } = options;
  const { list, selection, place } = state;

  const goTo = (line: number, step: 1 | -1, extend: boolean): void => {
    control.current?.reveal(place.goTo(line, step, extend));
    control.current?.focus();
  };

  const move = (by: number, extend = false): void => {
    goTo(place.lineAt(by), by < 0 ? -1 : 1, extend);
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

  useJobListShortcuts(
    words.keysTitle,
    {
      page: () => control.current?.pageLines() ?? 10,
      move,
      toEnd: (which) => {
        if (which === 'first') goTo(0, 1, false);
        else goTo(list.structure.get().length - 1, -1, false);
      },
      open: () => withActive(options.open),
      toggle: () =>
        withActive((id) => {
          selection.toggle(id);
        }),
    },
    [
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
    ],
  );
}
