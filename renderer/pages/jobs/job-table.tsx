/** The list itself: a tree of rows as a treegrid, only those in view in the page, the same place kept when rows come and go above it. */
import { useVirtualizer } from '@tanstack/react-virtual';
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useSyncExternalStore } from 'react';
import type { JobSort } from '../../../core/contract/api.js';
import { ErrorState } from '../../components/feedback.js';
import { useStore } from '../../state/use-store.js';
import { jobs as words } from '../../strings/jobs.js';
import { JobRow, SkeletonRow, rowElementId, type RowHandlers } from './job-row.js';
import styles from './job-table.module.css';
import type { JobsState } from './jobs-state.js';
import { MoreRow } from './more-row.js';
import { TableHeader } from './table-header.js';

export const rowHeight = 30;
const headHeight = 27;
const overscan = 8;

export interface TableControl {
  /** Brings a line into view. */
  readonly reveal: (line: number) => void;
  /** Lines a page has, for Page up and Page down. */
  readonly pageLines: () => number;
  readonly focus: () => void;
}

export interface JobTableProps {
  readonly state: JobsState;
  readonly sort: JobSort;
  readonly showEnd: boolean;
  readonly handlers: RowHandlers;
  /** Changes when other rows are asked for: the list then starts at its top. */
  readonly queryKey: string;
  readonly onSort: (key: JobSort['key']) => void;
  readonly onControl: (control: TableControl) => void;
}

export function JobTable({ state, sort, showEnd, handlers, queryKey, onSort, onControl }: JobTableProps) {
  const { list, selection } = state;
  const structure = useStore(list.structure);
  const scroller = useRef<HTMLDivElement>(null);
  const grid = useRef<HTMLDivElement>(null);
  const activeId = useSyncExternalStore(selection.subscribe, selection.active);
  const loading = structure.total === null;
  // While nothing is known yet, as many skeletons as a window holds.
  const count = loading ? 24 : structure.length;

  const virtualizer = useVirtualizer({
    count,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan,
    // The head stays on top of the rows and takes that much of the view.
    scrollPaddingEnd: headHeight,
    initialOffset: state.scrollTop,
    initialRect: { width: 1000, height: 600 },
  });
  const items = virtualizer.getVirtualItems();
  // A line's place in the pool is its key: a row that leaves one end becomes the one that enters at the other, without new elements.
  const pool = Math.ceil((virtualizer.scrollRect?.height ?? 0) / rowHeight) + 2 * overscan + 2;
  const first = items[0]?.index ?? 0;
  const last = items.at(-1)?.index ?? 0;

  useEffect(() => {
    list.show(first, last);
  }, [list, first, last, structure]);

  // The line at the top of the view, by its job: what the user looks at stays where it is.
  const anchor = useRef<{ readonly id: string; readonly within: number } | null>(null);
  const remember = useCallback(
    (top: number) => {
      state.scrollTop = top;
      const line = Math.floor(top / rowHeight);
      const row = line < list.structure.get().length ? list.structure.get().rowAt(line) : undefined;
      anchor.current = row?.kind === 'job' && top > 0 ? { id: row.id, within: top - line * rowHeight } : null;
    },
    [list, state],
  );

  useLayoutEffect(() => {
    const element = scroller.current;
    if (element === null) return;
    const kept = anchor.current;
    if (kept !== null && element.scrollTop > 0) {
      const line = structure.lineOf(kept.id);
      const wanted = line * rowHeight + kept.within;
      if (line >= 0 && Math.abs(wanted - element.scrollTop) >= 1) element.scrollTop = wanted;
    }
    remember(element.scrollTop);
  }, [structure, remember]);

  const shownQuery = useRef(queryKey);
  useLayoutEffect(() => {
    if (shownQuery.current === queryKey) return;
    shownQuery.current = queryKey;
    anchor.current = null;
    if (scroller.current !== null) scroller.current.scrollTop = 0;
  }, [queryKey]);

  const control = useMemo<TableControl>(
    () => ({
      reveal(line) {
        virtualizer.scrollToIndex(line, { align: 'auto' });
      },
      pageLines: () => Math.max(1, Math.floor((scroller.current?.clientHeight ?? 600) / rowHeight) - 2),
      focus() {
        grid.current?.focus({ preventScroll: true });
      },
    }),
    [virtualizer],
  );
  useEffect(() => {
    onControl(control);
    // Coming back from a job: the keys go on where they were.
    const active = selection.active();
    if (active !== null && list.structure.get().lineOf(active) >= 0) control.focus();
  }, [control, onControl, list, selection]);

  const activeShown =
    activeId !== null &&
    items.some((item) => {
      if (loading) return false;
      const row = structure.rowAt(item.index);
      return row.kind === 'job' && row.id === activeId;
    });

  return (
    <div
      ref={grid}
      className={styles['grid']}
      role="treegrid"
      tabIndex={0}
      aria-label={words.listLabel}
      aria-multiselectable="true"
      aria-rowcount={loading ? -1 : structure.length + 1}
      aria-colcount={9}
      aria-busy={loading}
      aria-activedescendant={activeShown ? rowElementId(activeId) : undefined}
    >
      <div
        ref={scroller}
        className={styles['scroller']}
        role="none"
        onScroll={() => {
          // The list's own note of it: asked for here, it would have the new rows laid out at once.
          remember(virtualizer.scrollOffset ?? 0);
        }}
      >
        <TableHeader sort={sort} showEnd={showEnd} onSort={onSort} />
        <div role="rowgroup" className={styles['canvas']} style={{ height: virtualizer.getTotalSize() }}>
          {items.map((item) => {
            const { index, start } = item;
            const row = loading ? ({ kind: 'skeleton', depth: 0 } as const) : structure.rowAt(index);
            switch (row.kind) {
              case 'job':
                return (
                  <JobRow
                    key={index % pool}
                    id={row.id}
                    depth={row.depth}
                    open={row.open}
                    line={index}
                    top={start}
                    flat={structure.flat}
                    showEnd={showEnd}
                    selection={selection}
                    handlers={handlers}
                  />
                );
              case 'skeleton':
                return <SkeletonRow key={index % pool} line={index} top={start} depth={row.depth} />;
              case 'more':
                return (
                  <MoreRow
                    key={`more ${row.parentId}`}
                    line={index}
                    top={start}
                    depth={row.depth}
                    remaining={row.remaining}
                    onMore={() => {
                      list.moreChildren(row.parentId);
                    }}
                  />
                );
              case 'failed':
                return (
                  <div
                    key={`failed ${row.parentId}`}
                    role="row"
                    className={styles['failed']}
                    style={{ top: start }}
                  >
                    <span role="gridcell">
                      <ErrorState
                        inline
                        what={words.childrenWhat}
                        refusal={row.refusal}
                        onRetry={() => {
                          list.moreChildren(row.parentId);
                        }}
                      />
                    </span>
                  </div>
                );
            }
          })}
        </div>
      </div>
    </div>
  );
}
