/** What the list shows, as the address' hash keeps it: filter, search and sort. */
import type { JobFilter, JobSort } from '../../../core/contract/api.js';
import { jobSortKeys } from '../../../core/contract/constants.js';
import { isTerminalJobState, jobStates, type JobState } from '../../../core/contract/states.js';

export const presets = ['all', 'running', 'waiting', 'failed-today', 'ended'] as const;
export type Preset = (typeof presets)[number];

export interface JobsView {
  /** The chip chosen; `states` when the state menu was used instead. */
  readonly show: Preset | 'states';
  /** Only with `show: 'states'`; never empty. */
  readonly states: readonly JobState[];
  readonly mine: boolean;
  readonly search: string;
  /** Null: the order that suits the filter. */
  readonly sort: JobSort | null;
}

export const wholeView: JobsView = { show: 'all', states: [], mine: false, search: '', sort: null };

const endedStates = jobStates.filter(isTerminalJobState);
const failedStates: readonly JobState[] = ['FAILED', 'WORKER_FAILED', 'UNSCHEDULABLE'];

export function parseJobsView(query: string): JobsView {
  const parameters = new URLSearchParams(query);
  const states = (parameters.get('states') ?? '').split(',');
  const known = jobStates.filter((state) => states.includes(state));
  const show = presets.find((preset) => preset === parameters.get('show')) ?? 'all';
  const sortText = parameters.get('sort') ?? '';
  const key = jobSortKeys.find((candidate) => candidate === sortText.replace(/^-/, ''));
  return {
    show: known.length > 0 ? 'states' : show,
    states: known,
    mine: parameters.get('mine') === '1',
    search: parameters.get('q') ?? '',
    sort: key === undefined ? null : { key, descending: sortText.startsWith('-') },
  };
}

export function formatJobsView(view: JobsView): string {
  const parameters = new URLSearchParams();
  if (view.show === 'states') parameters.set('states', view.states.join(','));
  else if (view.show !== 'all') parameters.set('show', view.show);
  if (view.mine) parameters.set('mine', '1');
  if (view.search !== '') parameters.set('q', view.search);
  if (view.sort !== null) parameters.set('sort', `${view.sort.descending ? '-' : ''}${view.sort.key}`);
  return parameters.toString();
}

/** True when every job shown has ended: then the time of its end says more than its age. */
export function showsEnded(view: JobsView): boolean {
  return view.show === 'states'
    ? view.states.every(isTerminalJobState)
    : view.show === 'ended' || view.show === 'failed-today';
}

export function sortOf(view: JobsView): JobSort {
  return view.sort ?? { key: showsEnded(view) ? 'finished' : 'submitted', descending: true };
}

function statesOf(view: JobsView): readonly JobState[] | null {
  switch (view.show) {
    case 'all':
      return null;
    case 'running':
      return ['RUNNING'];
    case 'waiting':
      return ['PENDING'];
    case 'failed-today':
      return failedStates;
    case 'ended':
      return endedStates;
    case 'states':
      return view.states;
  }
}

/** A search looks at jobs of every depth and shows them flat; otherwise the list is a tree of root jobs. */
export function isFlat(view: JobsView): boolean {
  return view.search.trim() !== '';
}

export function isNarrowed(view: JobsView): boolean {
  return view.show !== 'all' || view.mine || isFlat(view);
}

/** Midnight before `nowMs`, local time. */
export function startOfDay(nowMs: number): number {
  const day = new Date(nowMs);
  day.setHours(0, 0, 0, 0);
  return day.getTime();
}

export function filterOf(view: JobsView, user: string | null, nowMs: number): JobFilter {
  const states = statesOf(view);
  const search = view.search.trim().slice(0, 500);
  return {
    ...(states === null ? {} : { states: [...states] }),
    ...(view.mine && user !== null ? { user } : {}),
    ...(search === '' ? {} : { search }),
    ...(view.show === 'failed-today' ? { finishedSinceMs: startOfDay(nowMs) } : {}),
    rootsOnly: !isFlat(view),
  };
}
