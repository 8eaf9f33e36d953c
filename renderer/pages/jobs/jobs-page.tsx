/** Jobs: what is asked about most. Filter, search and sort live in the address; rows in the list; the selection outlives both. */
import { Button } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { useCallback, useEffect, useMemo, useRef, useState, useSyncExternalStore } from 'react';
import type { JobSort } from '../../../core/contract/api.js';
import type { JobChange } from '../../../core/contract/queue.js';
import type { JobSummary } from '../../../core/contract/views.js';
import { jobRoute, navigate, newJobRoute, replaceRoute } from '../../app/router.js';
import { useTimeText } from '../../components/clock.js';
import { EmptyState, ErrorState, LoadingNote } from '../../components/feedback.js';
import { NewJobButton } from '../../components/new-job-button.js';
import { PageHeader } from '../../components/page-header.js';
import { useToast } from '../../components/toasts.js';
import { useWaited } from '../../components/use-waited.js';
import { useJobActions } from '../../components/use-job-actions.js';
import { useDesktop, useHostStatus } from '../../state/desktop-context.js';
import { asRefusal } from '../../state/hooks.js';
import { canRunAgain, canStop } from '../../state/job-actions.js';
import { useStorePart } from '../../state/use-store.js';
import { jobs as words } from '../../strings/jobs.js';
import { FilterBar, SearchBox, SelectionBar } from './filter-bar.js';
import { mostSelected } from './job-list.js';
import { JobTable, type TableControl } from './job-table.js';
import { jobsStateOf } from './jobs-state.js';
import {
  filterOf,
  formatJobsView,
  isFlat,
  isNarrowed,
  parseJobsView,
  showsEnded,
  sortOf,
  startOfDay,
  wholeView,
  type JobsView,
} from './jobs-view.js';
import { RowMenu } from './row-menu.js';
import type { RowHandlers } from './rows-view.js';
import { hasGap, idsBetween } from './line-ids.js';
import { useJobsKeys } from './use-jobs-keys.js';

const searchDelayMs = 150;
const skeletonsAfterMs = 150;

interface OpenMenu {
  readonly rows: readonly JobSummary[];
  readonly x: number;
  readonly y: number;
}

export function JobsPage({ query }: { readonly query: string }) {
  const desktop = useDesktop();
  const toast = useToast();
  const { stop, runAgain, change } = useJobActions();
  const user = useHostStatus()?.user ?? null;
  const state = jobsStateOf(desktop);
  const { list, selection } = state;
  // Not the whole structure: it is another one at each page of rows that scrolling brings.
  const total = useStorePart(list.structure, (structure) => structure.total);
  const error = useStorePart(list.structure, (structure) => structure.error);
  const selectedIds = useSyncExternalStore(selection.subscribe, selection.selected);
  const [menu, setMenu] = useState<OpenMenu | null>(null);
  const [selecting, setSelecting] = useState(false);
  const searchInput = useRef<HTMLInputElement>(null);
  const control = useRef<TableControl | null>(null);

  const view = useMemo(() => parseJobsView(query), [query]);
  const [searchText, setSearchText] = useState(view.search);
  const [appliedSearch, setAppliedSearch] = useState(view.search);
  // The address changed by itself (back, a link): the box follows.
  if (view.search !== appliedSearch) {
    setAppliedSearch(view.search);
    setSearchText(view.search);
  }

  const show = useCallback((next: JobsView) => {
    setAppliedSearch(next.search);
    replaceRoute({ page: 'jobs', query: formatJobsView(next) });
  }, []);
  const latestView = useRef(view);
  useEffect(() => {
    latestView.current = view;
  });
  const applySearch = useDebouncedCallback((text: string) => {
    show({ ...latestView.current, search: text });
  }, searchDelayMs);
  const onSearch = (text: string) => {
    setSearchText(text);
    // What was typed a moment before must not come after it.
    applySearch.cancel();
    if (text === '') show({ ...view, search: '' });
    else applySearch(text);
  };

  useEffect(() => list.attach(), [list]);
  useEffect(() => {
    state.place.inQuery(query);
  }, [state, query]);
  // What failed today is another list at midnight.
  const day = useTimeText((nowMs) => String(startOfDay(nowMs)));
  useEffect(() => {
    list.setQuery({ filter: filterOf(view, user, Number(day)), sort: sortOf(view) });
  }, [list, view, user, day]);

  const rowsOf = useCallback(
    (ids: readonly string[]) => ids.flatMap((id) => desktop.jobs.get(id) ?? []),
    [desktop],
  );
  const targets = (): readonly JobSummary[] => {
    if (selection.count() > 0) return rowsOf(selection.selected());
    const active = selection.active();
    return active === null || list.structure.get().lineOf(active) < 0 ? [] : rowsOf([active]);
  };

  const stopRows = useCallback(
    (rows: readonly JobSummary[]) => {
      void stop(rows).then((done) => {
        if (done) selection.clear();
      });
    },
    [stop, selection],
  );
  const runRows = useCallback(
    (rows: readonly JobSummary[]) => {
      void runAgain(rows).then((done) => {
        if (done) selection.clear();
      });
    },
    [runAgain, selection],
  );
  const changeRows = useCallback(
    (rows: readonly JobSummary[], what: JobChange) => {
      void change(rows, what);
    },
    [change],
  );
  const openJob = useCallback(
    (id: string) => {
      selection.setActive(id);
      navigate(jobRoute(id));
    },
    [selection],
  );
  const edit = useCallback((row: JobSummary) => {
    navigate(newJobRoute(row.id, 'edit'));
  }, []);
  const openMenu = useCallback(
    (id: string, x: number, y: number) => {
      if (!selection.isSelected(id)) selection.setActive(id);
      setMenu({ rows: rowsOf(selection.isSelected(id) ? selection.selected() : [id]), x, y });
    },
    [rowsOf, selection],
  );

  const selectTo = useCallback(
    (id: string) => {
      const structure = list.structure.get();
      const start = selection.rangeStart() ?? id;
      selection.extendTo(id, (from, to) => idsBetween(structure, from, to));
      if (!hasGap(structure, start, id)) return;
      list.idsBetween(start, id).then(
        (ids) => {
          // Unless it was let go of meanwhile.
          if (selection.isSelected(start) && selection.isSelected(id)) selection.add(ids);
        },
        (error: unknown) => {
          toast({ tone: 'error', text: asRefusal(error).message });
        },
      );
    },
    [list, selection, toast],
  );

  const handlers = useMemo<RowHandlers>(
    () => ({
      open: openJob,
      toggleChildren(id) {
        selection.setActive(id);
        list.toggle(id);
      },
      select(id, how) {
        if (how === 'toggle') selection.toggle(id);
        else selectTo(id);
        control.current?.focus();
      },
      stop(id) {
        stopRows(rowsOf([id]));
      },
      runAgain(id) {
        runRows(rowsOf([id]));
      },
      menu: openMenu,
    }),
    [list, selection, selectTo, openJob, openMenu, rowsOf, stopRows, runRows],
  );

  const selectAll = () => {
    if (selecting) return;
    setSelecting(true);
    list
      .allIds()
      .then(
        (ids) => {
          selection.set(ids);
          const found = list.structure.get().total ?? 0;
          if (found > mostSelected) toast({ tone: 'info', text: words.selectedAtMost(mostSelected, found) });
        },
        (error: unknown) => {
          toast({ tone: 'error', text: asRefusal(error).message });
        },
      )
      .finally(() => {
        setSelecting(false);
      });
  };

  useJobsKeys({
    state,
    control,
    targets,
    open: openJob,
    stop: stopRows,
    runAgain: runRows,
    edit,
    change: changeRows,
    selectAll,
    focusSearch() {
      searchInput.current?.focus();
      searchInput.current?.select();
    },
    clearSearch() {
      if (searchText === '') return false;
      onSearch('');
      return true;
    },
    menu: openMenu,
  });

  const onSort = useCallback(
    (key: JobSort['key']) => {
      const now = sortOf(latestView.current);
      const descending = now.key === key ? !now.descending : key !== 'name' && key !== 'state';
      show({ ...latestView.current, sort: { key, descending } });
    },
    [show],
  );
  const onControl = useCallback((value: TableControl) => {
    control.current = value;
  }, []);

  const selectedRows = rowsOf(selectedIds);
  const failedWhole = error !== null && total === null;
  const empty = total === 0 && error === null;
  // The first answer mostly comes at once: skeletons drawn before it would be work for nothing, and a flicker.
  const waited = useWaited(total === null, skeletonsAfterMs);
  const nothingYet = total === null && !waited;
  return (
    <>
      <PageHeader
        title={words.title}
        aside={
          total === null ? null : (
            <span className="iris-muted" role="status">
              {isNarrowed(view) ? words.totalFound(total) : words.total(total)}
            </span>
          )
        }
        actions={
          <>
            <SearchBox
              value={searchText}
              inputRef={searchInput}
              onChange={onSearch}
              onLeave={() => {
                applySearch.flush();
                control.current?.focus();
              }}
            />
            <NewJobButton plus />
          </>
        }
      />
      {selectedIds.length > 0 || selecting ? (
        <SelectionBar
          count={selectedIds.length}
          total={total ?? 0}
          busy={selecting}
          stoppable={selectedRows.filter(canStop).length}
          endable={selectedRows.filter(canRunAgain).length}
          onStop={() => {
            stopRows(selectedRows);
          }}
          onRunAgain={() => {
            runRows(selectedRows);
          }}
          onClear={() => {
            selection.clear();
          }}
        />
      ) : (
        <FilterBar view={view} user={user} onChange={show} />
      )}
      {total === null && !failedWhole ? <LoadingNote /> : null}
      {error !== null ? (
        <ErrorState
          what={failedWhole ? words.what : words.refreshWhat}
          refusal={error}
          onRetry={() => {
            list.refresh();
          }}
        />
      ) : null}
      {failedWhole || nothingYet ? null : empty ? (
        <NoJobs
          view={view}
          onShowAll={() => {
            applySearch.cancel();
            setSearchText('');
            show(wholeView);
          }}
        />
      ) : (
        <JobTable
          state={state}
          sort={sortOf(view)}
          showEnd={showsEnded(view)}
          handlers={handlers}
          queryKey={query}
          onSort={onSort}
          onControl={onControl}
        />
      )}
      {menu === null ? null : (
        <RowMenu
          rows={menu.rows}
          at={menu}
          onClose={() => {
            setMenu(null);
            control.current?.focus();
          }}
          onOpen={(row) => {
            openJob(row.id);
          }}
          onStop={stopRows}
          onRunAgain={runRows}
          onChange={changeRows}
          onEdit={edit}
        />
      )}
    </>
  );
}

function NoJobs({ view, onShowAll }: { readonly view: JobsView; readonly onShowAll: () => void }) {
  if (isNarrowed(view)) {
    return (
      <EmptyState
        icon="filter"
        title={words.nothingFoundTitle}
        action={
          <Button variant="default" onClick={onShowAll}>
            {words.showAll}
          </Button>
        }
      >
        {isFlat(view) ? words.nothingFoundBody : words.nothingFiltered}
      </EmptyState>
    );
  }
  return (
    <EmptyState icon="list" title={words.emptyTitle} example={words.emptyExample} action={<NewJobButton />}>
      {words.emptyBody}
    </EmptyState>
  );
}
