/**
 * The rows of the Jobs page without React: pages of 200 fetched as they come into view, children as they are opened, patched in
 * place by the `jobs` topic, and fetched again when who belongs or the order may have changed. One structure a change; row contents live
 * in the entities.
 */
import type { JobFilter, JobSort, MethodResult } from '../../../core/contract/api.js';
import type { Refusal } from '../../../core/contract/errors.js';
import type { JobSummary } from '../../../core/contract/views.js';
import type { JobBatch, JobEntities } from '../../state/entities.js';
import { asRefusal } from '../../state/hooks.js';
import type { Host } from '../../state/host.js';
import { createStore, type ReadableStore } from '../../state/store.js';
import { createSlots } from './slots.js';
import { buildStructure, emptyStructure, type ChildList, type ListStructure } from './list-structure.js';

export const pageSize = 200;
/** Pages kept; with the children that are open, less than the rows that are kept. */
const mostPages = 60;
/** Rows fetched ahead of what is shown: scrolled to, they are there, instead of being drawn twice. */
const aheadRows = 80;
/** Least time between two fetches caused by changes. */
const refetchGapMs = 1000;
const refetchDelayMs = 120;
/** Most jobs one command may name. */
export const mostSelected = 10_000;

export interface ListQuery {
  readonly filter: JobFilter;
  readonly sort: JobSort;
}

export interface JobList {
  readonly structure: ReadableStore<ListStructure>;
  /** Shows another filter or order; what is shown stays until the first rows of it arrive. */
  readonly setQuery: (query: ListQuery) => void;
  /** The rows on the screen, by position: what is missing among them is fetched. */
  readonly show: (start: number, end: number) => void;
  readonly toggle: (id: string, open?: boolean) => void;
  readonly moreChildren: (parentId: string) => void;
  readonly refresh: () => void;
  /** Ids of all rows of the query in order, fetched as needed, at most `mostSelected`. */
  readonly allIds: () => Promise<readonly string[]>;
  /** Ids of the lines from one job to another, those not loaded fetched; at most `mostSelected`. */
  readonly idsBetween: (from: string, to: string) => Promise<readonly string[]>;
  /** While not attached (another page is shown) changes are not followed; attaching fetches what is on the screen anew. */
  readonly attach: () => () => void;
}

export interface JobListOptions {
  readonly call: Host['call'];
  readonly jobs: JobEntities;
  /** The job whose page is kept however far one scrolls. */
  readonly keepPageOf?: () => string | null;
  readonly setTimer?: (run: () => void, ms: number) => () => void;
  readonly now?: () => number;
}

type PageState = 'loading' | 'fresh' | 'stale';

function sameQuery(a: ListQuery | null, b: ListQuery): boolean {
  return a !== null && JSON.stringify(a) === JSON.stringify(b);
}

/** Whether a row's change can move it into, out of, or within the list. */
export function movesRow(query: ListQuery, before: JobSummary, after: JobSummary): boolean {
  const { states, finishedSinceMs } = query.filter;
  if (states !== undefined && states.includes(before.state) !== states.includes(after.state)) return true;
  if (finishedSinceMs !== undefined && before.finishedAtMs !== after.finishedAtMs) return true;
  switch (query.sort.key) {
    case 'state':
      return before.state !== after.state;
    case 'finished':
      return before.finishedAtMs !== after.finishedAtMs;
    case 'duration':
      return before.finishedAtMs !== after.finishedAtMs || before.startedAtMs !== after.startedAtMs;
    case 'name':
    case 'submitted':
      return false;
  }
}

export function createJobList(options: JobListOptions): JobList {
  const { call, jobs } = options;
  const now = options.now ?? Date.now;
  const setTimer =
    options.setTimer ??
    ((run: () => void, ms: number) => {
      const timer = setTimeout(run, ms);
      return () => {
        clearTimeout(timer);
      };
    });

  const structure = createStore<ListStructure>(emptyStructure);
  let query: ListQuery | null = null;
  /** Answers of an older query are dropped. */
  let generation = 0;
  let total: number | null = null;
  const slots = createSlots(pageSize);
  let indexOf = new Map<string, number>();
  let pages = new Map<number, PageState>();
  const children = new Map<string, ChildList>();
  const expanded = new Set<string>();
  let error: Refusal | null = null;
  let newestMs = 0;
  let shown = { start: 0, end: 40 };
  let attached = 0;
  let lastRefetchMs = Number.NEGATIVE_INFINITY;
  let cancelRefetch: (() => void) | null = null;
  const staleChildren = new Set<string>();

  function publish(): void {
    structure.set(
      buildStructure({
        total,
        slots: slots.snapshot(),
        indexOf,
        children,
        expanded,
        error,
        flat: query?.filter.rootsOnly === false,
      }),
    );
  }

  function setSlot(index: number, id: string): void {
    const before = slots.at(index);
    if (before !== undefined && before !== id && indexOf.get(before) === index) indexOf.delete(before);
    const elsewhere = indexOf.get(id);
    if (elsewhere !== undefined && elsewhere !== index && slots.at(elsewhere) === id) {
      // The row moved here from a page that is therefore old.
      slots.set(elsewhere, undefined);
      const page = Math.floor(elsewhere / pageSize);
      if (pages.get(page) === 'fresh') pages.set(page, 'stale');
    }
    slots.set(index, id);
    indexOf.set(id, index);
  }

  function applyPage(page: number, answer: MethodResult<'job.list'>): void {
    jobs.put(answer.rows);
    total = answer.total;
    for (const id of slots.cut(total)) indexOf.delete(id);
    answer.rows.forEach((row, offset) => {
      setSlot(page * pageSize + offset, row.id);
      if (row.submittedAtMs > newestMs) newestMs = row.submittedAtMs;
    });
    pages.set(page, 'fresh');
    forgetFar(page);
  }

  /** Of a long list only so many pages are kept, those nearest to what was fetched last: the entities forget their rows as well. */
  function forgetFar(near: number): void {
    if (pages.size <= mostPages) return;
    const kept = indexOf.get(options.keepPageOf?.() ?? '');
    const far = [...pages.keys()].sort((a, b) => Math.abs(b - near) - Math.abs(a - near));
    for (const page of far.slice(0, pages.size - mostPages)) {
      if (pages.get(page) === 'loading' || (kept !== undefined && Math.floor(kept / pageSize) === page))
        continue;
      pages.delete(page);
      for (const id of slots.forget(page)) indexOf.delete(id);
    }
  }

  function fetchPage(page: number): void {
    const wanted = query;
    if (wanted === null) return;
    const mine = generation;
    const first = total === null;
    pages.set(page, 'loading');
    call('job.list', { ...wanted, offset: page * pageSize, limit: pageSize }).then(
      (answer) => {
        if (mine !== generation) return;
        error = null;
        applyPage(page, answer);
        publish();
        if (first) ensure();
      },
      (reason: unknown) => {
        if (mine !== generation) return;
        pages.set(page, 'stale');
        error = asRefusal(reason);
        publish();
      },
    );
  }

  /** A new query's first page; the old rows stay on the screen until it is here. */
  function fetchFirst(): void {
    const wanted = query;
    if (wanted === null) return;
    generation += 1;
    const mine = generation;
    call('job.list', { ...wanted, offset: 0, limit: pageSize }).then(
      (answer) => {
        if (mine !== generation) return;
        slots.clear();
        indexOf = new Map();
        pages = new Map();
        error = null;
        newestMs = 0;
        applyPage(0, answer);
        publish();
      },
      (reason: unknown) => {
        if (mine !== generation) return;
        slots.clear();
        indexOf = new Map();
        pages = new Map();
        total = null;
        error = asRefusal(reason);
        publish();
      },
    );
  }

  /** The pages of the rows that are shown, and of as many `around` them. */
  function pagesShown(around = 0): number[] {
    if (total === null || total === 0) return [];
    const { rootIndexAt } = structure.get();
    const first = Math.floor(rootIndexAt(Math.max(0, shown.start - around)) / pageSize);
    const last = Math.floor(rootIndexAt(shown.end + around) / pageSize);
    const result: number[] = [];
    for (let page = first; page <= last; page += 1) result.push(page);
    return result;
  }

  function ensure(): void {
    if (error !== null) return;
    for (const page of pagesShown()) {
      const state = pages.get(page);
      if (state === undefined || state === 'stale') fetchPage(page);
    }
    // One that is only near and old stays so: it is fetched when it is seen.
    for (const page of pagesShown(aheadRows)) if (pages.get(page) === undefined) fetchPage(page);
  }

  function refetch(): void {
    cancelRefetch = null;
    if (attached === 0 || query === null) return;
    lastRefetchMs = now();
    error = null;
    for (const parentId of staleChildren) if (expanded.has(parentId)) fetchChildren(parentId, true);
    staleChildren.clear();
    if (total === null) {
      fetchFirst();
      return;
    }
    const visible = new Set(pagesShown());
    // An empty list has no page in view; its first page tells whether that is still so.
    if (visible.size === 0) visible.add(0);
    for (const [page, state] of pages) if (state === 'fresh' && !visible.has(page)) pages.set(page, 'stale');
    for (const page of visible) if (pages.get(page) !== 'loading') fetchPage(page);
  }

  /** Ids of so many rows of the query from a place on, in order. */
  async function idsFrom(offset: number, count: number): Promise<string[]> {
    const wanted = query;
    const ids: string[] = [];
    while (wanted !== null && ids.length < count) {
      const limit = Math.min(500, count - ids.length);
      const answer = await call('job.list', { ...wanted, offset: offset + ids.length, limit });
      jobs.put(answer.rows);
      ids.push(...answer.rows.map((row) => row.id));
      if (answer.rows.length < limit) break;
    }
    return ids;
  }

  function scheduleRefetch(): void {
    if (cancelRefetch !== null || attached === 0) return;
    const wait = Math.max(refetchDelayMs, lastRefetchMs + refetchGapMs - now());
    cancelRefetch = setTimer(refetch, wait);
  }

  function onBatch(batch: JobBatch): void {
    const wanted = query;
    if (wanted === null) return;
    let moved = batch.removed.some((id) => indexOf.has(id));
    // Then what is new has an earlier time than what was there.
    const clockWentBack = newestMs > Date.now();
    for (const { before, after } of batch.changed) {
      if (!moved && movesRow(wanted, before, after)) moved = true;
    }
    for (const row of batch.unknown) {
      if (row.parentId !== null && expanded.has(row.parentId)) {
        staleChildren.add(row.parentId);
        moved = true;
      }
      if (moved || (wanted.filter.rootsOnly !== false && row.parentId !== null)) continue;
      // A row of a page not loaded can only matter when it is new, or when a change of state can bring it here.
      const isNew = row.submittedAtMs >= newestMs || clockWentBack;
      const bystate = wanted.filter.states !== undefined || !['name', 'submitted'].includes(wanted.sort.key);
      if (isNew || bystate) moved = true;
    }
    for (const id of batch.removed) {
      for (const [parentId, list] of children) if (list.ids.includes(id)) staleChildren.add(parentId);
    }
    if (moved || staleChildren.size > 0) scheduleRefetch();
  }

  function fetchChildren(parentId: string, fromStart: boolean): void {
    const before = children.get(parentId) ?? { ids: [], total: null, loading: false, error: null };
    if (before.loading) return;
    children.set(parentId, { ...before, loading: true, error: null });
    const offset = fromStart ? 0 : before.ids.length;
    const limit = fromStart ? Math.min(500, Math.max(pageSize, before.ids.length)) : pageSize;
    call('job.children', { jobId: parentId, offset, limit }).then(
      (answer) => {
        jobs.put(answer.rows);
        const kept = fromStart ? before.ids.slice(limit) : before.ids;
        const fresh = answer.rows.map((row) => row.id);
        const ids = fromStart ? [...fresh, ...kept] : [...kept, ...fresh];
        children.set(parentId, { ids: [...new Set(ids)], total: answer.total, loading: false, error: null });
        publish();
      },
      (reason: unknown) => {
        children.set(parentId, { ...before, loading: false, error: asRefusal(reason) });
        publish();
      },
    );
  }

  return {
    structure,
    setQuery(next) {
      if (sameQuery(query, next)) return;
      query = next;
      fetchFirst();
    },
    show(start, end) {
      shown = { start, end };
      ensure();
    },
    toggle(id, open = !expanded.has(id)) {
      if (open === expanded.has(id)) return;
      if (open) {
        expanded.add(id);
        fetchChildren(id, true);
      } else expanded.delete(id);
      publish();
    },
    moreChildren(parentId) {
      fetchChildren(parentId, false);
      publish();
    },
    refresh() {
      cancelRefetch?.();
      refetch();
    },
    async allIds() {
      return [...new Set(await idsFrom(0, mostSelected))];
    },
    async idsBetween(from, to) {
      const now = structure.get();
      const [a, b] = [now.lineOf(from), now.lineOf(to)];
      if (a < 0 || b < 0) return [to];
      const [low, high] = [Math.min(a, b), Math.min(Math.max(a, b), Math.min(a, b) + mostSelected - 1)];
      const first = now.rootIndexAt(low);
      const roots = await idsFrom(first, now.rootIndexAt(high) - first + 1);
      const ids: string[] = [];
      for (let line = low; line <= high; line += 1) {
        const row = now.rowAt(line);
        const id = row.kind === 'job' ? row.id : roots[now.rootIndexAt(line) - first];
        if (id !== undefined) ids.push(id);
      }
      return [...new Set(ids)];
    },
    attach() {
      attached += 1;
      const stops = [
        jobs.onBatch(onBatch),
        jobs.onMissed(() => {
          for (const parentId of expanded) staleChildren.add(parentId);
          cancelRefetch?.();
          refetch();
        }),
      ];
      if (query !== null) {
        for (const parentId of expanded) staleChildren.add(parentId);
        refetch();
      }
      return () => {
        attached -= 1;
        for (const stop of stops) stop();
        cancelRefetch?.();
        cancelRefetch = null;
      };
    },
  };
}
