/** The list itself: a tree of rows as a treegrid, only those in view in the page, the same place kept when rows come and go above it. */
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react';
import type { JobSort } from '../../../core/contract/api.js';
import { ErrorState } from '../../components/feedback.js';
import { useDesktop } from '../../state/desktop-context.js';
import { useStore } from '../../state/use-store.js';
import { jobs as words } from '../../strings/jobs.js';
import styles from './job-table.module.css';
import type { JobsState } from './jobs-state.js';
import type { ListStructure } from './list-structure.js';
import { MoreRow } from './more-row.js';
import { rowHeight } from './row-element.js';
import { createRowsView, headHeight, linesWhileLoading, type RowHandlers } from './rows-view.js';
import { TableHeader } from './table-header.js';

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
  const { jobs, actions } = useDesktop();
  const structure = useStore(list.structure);
  const [others, setOthers] = useState<readonly number[]>([]);
  const scroller = useRef<HTMLDivElement>(null);
  const grid = useRef<HTMLDivElement>(null);
  const place = useRef<HTMLDivElement>(null);
  const loading = structure.total === null;

  const view = useMemo(
    () =>
      createRowsView({
        jobs,
        stopping: actions.stopping,
        selection,
        onRange: list.show,
        onOthers: setOthers,
      }),
    [jobs, actions, selection, list],
  );

  // The line at the top of the view, by its job: what the user looks at stays where it is.
  const anchor = useRef<{ readonly id: string; readonly within: number } | null>(null);
  const remember = useCallback(
    (top: number) => {
      state.keepScrollTop(top);
      const line = Math.floor(top / rowHeight);
      const row = line < list.structure.get().length ? list.structure.get().rowAt(line) : undefined;
      anchor.current = row?.kind === 'job' && top > 0 ? { id: row.id, within: top - line * rowHeight } : null;
    },
    [list, state],
  );

  useLayoutEffect(() => {
    if (grid.current === null || scroller.current === null || place.current === null) return undefined;
    // Where the list was left. The rows are drawn by the effects below, which run anew with this one.
    scroller.current.scrollTop = state.scrollTop();
    return view.attach({
      grid: grid.current,
      scroller: scroller.current,
      place: place.current,
      onScroll: remember,
    });
  }, [view, state, remember]);

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

  // After the place is settled: reading it once rows were changed would have them laid out at once.
  useLayoutEffect(() => {
    view.show({ structure, showEnd, handlers });
  }, [view, structure, showEnd, handlers]);

  const control = useMemo<TableControl>(
    () => ({
      reveal(line) {
        const element = scroller.current;
        if (element === null) return;
        const top = line * rowHeight;
        const bottom = top + rowHeight - (element.clientHeight - headHeight);
        if (top < element.scrollTop) element.scrollTop = top;
        else if (bottom > element.scrollTop) element.scrollTop = bottom;
        else return;
        // The browser tells of it only with the next frame; the row is there at once.
        view.scrolled();
      },
      pageLines: () => Math.max(1, Math.floor((scroller.current?.clientHeight ?? 600) / rowHeight) - 2),
      focus() {
        grid.current?.focus({ preventScroll: true });
      },
    }),
    [view],
  );
  useEffect(() => {
    onControl(control);
    // Coming back from a job: the keys go on where they were.
    const active = selection.active();
    if (active !== null && list.structure.get().lineOf(active) >= 0) control.focus();
  }, [control, onControl, list, selection]);

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
    >
      <div ref={scroller} className={styles['scroller']} role="none">
        <TableHeader sort={sort} showEnd={showEnd} onSort={onSort} />
        <div
          role="rowgroup"
          className={styles['canvas']}
          style={{ height: (loading ? linesWhileLoading : structure.length) * rowHeight }}
        >
          <div ref={place} role="none" />
          {others.map((line) => (
            <OtherRow key={line} structure={structure} line={line} onMore={list.moreChildren} />
          ))}
        </div>
      </div>
    </div>
  );
}

interface OtherRowProps {
  readonly structure: ListStructure;
  readonly line: number;
  readonly onMore: (parentId: string) => void;
}

/** A line that is no job: of opened children there are more, or they could not be read. */
function OtherRow({ structure, line, onMore }: OtherRowProps) {
  const row = structure.rowAt(line);
  const top = line * rowHeight;
  if (row.kind === 'more') {
    return (
      <MoreRow
        line={line}
        top={top}
        depth={row.depth}
        remaining={row.remaining}
        onMore={() => {
          onMore(row.parentId);
        }}
      />
    );
  }
  if (row.kind !== 'failed') return null;
  return (
    <div role="row" className={styles['failed']} style={{ top }}>
      <span role="gridcell">
        <ErrorState
          inline
          what={words.childrenWhat}
          refusal={row.refusal}
          onRetry={() => {
            onMore(row.parentId);
          }}
        />
      </span>
    </div>
  );
}
