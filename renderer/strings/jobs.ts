/** Strings of the Jobs page and of stopping and running jobs again. */
import { formatDuration } from '../../core/formats/durations.js';
import type { JobChange } from '../../core/contract/queue.js';
import type { Band } from '../../core/contract/states.js';
import { bandWords } from './budgets.js';
import { countJobs, formatCount } from './common.js';

const changeVerbs: Readonly<Record<JobChange['kind'], string>> = {
  hold: 'Hold',
  release: 'Release',
  band: 'Change band',
  move: 'Move',
};

function changeWords(change: JobChange): (what: string) => string {
  switch (change.kind) {
    case 'hold':
    case 'release':
      return (what) => `${changeVerbs[change.kind]} ${what}`;
    case 'band':
      return (what) => `Change the band of ${what} to ${bandWords[change.band].toLowerCase()}`;
    case 'move':
      return (what) =>
        `Move ${what} ${{ first: 'to the front', last: 'to the back', usual: 'to their usual place' }[change.to]}`;
  }
}

const them = (count: number, one: string, many: string): string => (count === 1 ? one : many);

export const jobs = {
  title: 'Jobs',
  listLabel: 'Jobs',
  // Filter
  filterLabel: 'Filter jobs',
  search: 'Search name or command',
  clearSearch: 'Clear the search',
  all: 'All',
  running: 'Running',
  waiting: 'Waiting',
  failedToday: 'Failed today',
  ended: 'Ended',
  mine: 'Mine',
  mineHint: (user: string): string => `Only jobs of ${user}`,
  state: 'State',
  stateFilter: 'Show jobs in these states',
  stateAny: 'Any state',
  stateCount: (count: number): string => `State: ${count}`,
  total: (count: number): string => countJobs(count),
  totalFound: (count: number): string => `${countJobs(count)} found`,
  // Columns
  select: 'Selected',
  name: 'Name',
  tasks: 'Tasks',
  gpu: 'GPU',
  age: 'Age',
  endedColumn: 'Ended',
  duration: 'Run time',
  where: 'Where',
  sortBy: (column: string): string => `Sort by ${column.toLowerCase()}`,
  // Rows
  selectRow: (name: string): string => `Select ${name}`,
  openChildren: (name: string): string => `Show the child jobs of ${name}`,
  closeChildren: (name: string): string => `Hide the child jobs of ${name}`,
  loadingChildren: 'Loading child jobs',
  moreChildren: (count: number): string => `Show ${formatCount(count)} more`,
  childrenWhat: 'The child jobs',
  failedTasks: (count: number): string => `${formatCount(count)} failed`,
  stopping: 'Stopping',
  tasksDone: (done: number, all: number): string => `${formatCount(done)}/${formatCount(all)}`,
  tasksHint: (parts: string): string => `Tasks: ${parts}`,
  oneTask: '1 task',
  actions: (name: string): string => `Actions for ${name}`,
  moreActions: 'More actions',
  // Selection
  selected: (count: number): string => `${formatCount(count)} selected`,
  selectedOf: (count: number, total: number): string =>
    `${formatCount(count)} of ${formatCount(total)} selected`,
  clearSelection: 'Clear selection',
  selecting: 'Selecting all',
  selectedAtMost: (count: number, total: number): string =>
    `${formatCount(count)} of ${formatCount(total)} selected. Narrow the filter for the others.`,
  /** `of`: how many are selected; of several the number that can be stopped is said. */
  stopMany: (count: number, of: number = count): string => (of === 1 ? 'Stop' : `Stop ${countJobs(count)}`),
  runAgainMany: (count: number, of: number = count): string =>
    of === 1 ? 'Run again' : `Run ${countJobs(count)} again`,
  nothingToStop: (count: number): string =>
    them(
      count,
      'It has ended; there is nothing to stop.',
      'All of these have ended; there is nothing to stop.',
    ),
  nothingToRun: (count: number): string =>
    them(
      count,
      'It has not ended yet. Run again works on ended jobs.',
      'None of these has ended yet. Run again works on ended jobs.',
    ),
  // Confirmation
  stopTitle: (name: string): string => `Stop ${name}?`,
  stopTitleMany: (count: number): string => `Stop ${countJobs(count)}?`,
  stopBodyRan: (ms: number): string => `It has run ${formatDuration(ms)}. Its log and results stay.`,
  stopBodyWaiting: 'It has not started yet.',
  stopBodyMany: (names: string, longestMs: number | null): string =>
    longestMs === null
      ? `${names}. None has started yet.`
      : `${names}. The longest has run ${formatDuration(longestMs)}. Their logs and results stay.`,
  stopBodyChildren: (count: number): string =>
    `${them(count, 'Its child job stops', `Its ${formatCount(count)} child jobs stop`)} with it.`,
  runTitleMany: (count: number): string => `Run ${countJobs(count)} again?`,
  runBodyMany: (names: string): string =>
    `${names}. Each starts as a new job under a new suffix; the old ones stay.`,
  namesMore: (names: string, more: number): string => `${names} and ${formatCount(more)} more`,
  // Outcome
  stopFailed: (name: string, message: string): string => `${name} was not stopped: ${message}`,
  stopFailedMany: (failed: number, all: number, message: string): string =>
    `${formatCount(failed)} of ${formatCount(all)} jobs were not stopped. The first: ${message}`,
  runFailed: (name: string, message: string): string => `${name} was not run again: ${message}`,
  runFailedMany: (failed: number, all: number, message: string): string =>
    `${formatCount(failed)} of ${formatCount(all)} jobs were not run again. The first: ${message}`,
  changeTitleMany: (change: JobChange, count: number): string => `${changeWords(change)(countJobs(count))}?`,
  changeBodyMany: (change: JobChange, names: string): string => {
    if (change.kind === 'hold') return `${names}. What runs goes on; nothing more of them starts.`;
    if (change.kind === 'band') return `${names}. What runs keeps the band it was placed in.`;
    return `${names}.`;
  },
  changeAction: (change: JobChange): string => changeVerbs[change.kind],
  demotedMark: 'Demoted',
  bandHint: (band: Band): string => `Band ${bandWords[band].toLowerCase()}, as asked for.`,
  changeFailed: (name: string, message: string): string => `${name} was not changed: ${message}`,
  changeFailedMany: (failed: number, all: number, message: string): string =>
    `${formatCount(failed)} of ${formatCount(all)} jobs were not changed. The first: ${message}`,
  runAgainDone: (name: string): string => `${name} submitted`,
  runAgainDoneMany: (count: number): string => `${countJobs(count)} submitted`,
  show: 'Show',
  // Empty
  emptyTitle: 'No jobs yet',
  emptyBody: 'Every job you launch is listed here: whether it runs, waits or has ended, and why.',
  emptyExample: 'irisctl job run --gpu 1 -- python train.py',
  nothingFoundTitle: 'No job matches',
  nothingFoundBody: 'No job has all of these words in its name or command and passes the filter.',
  nothingFiltered: 'No job passes this filter.',
  showAll: 'Show all jobs',
  what: 'The list of jobs',
  refreshWhat: 'The newest state of the list',
  // Keys
  keysTitle: 'Jobs list',
  keyAll: 'Select all',
  keyStop: 'Stop',
  keyRun: 'Run again',
  keyEdit: 'Edit and run',
  keySearch: 'Search',
  keyExpand: 'Show and hide child jobs',
  keyMenu: 'Actions of the job',
  keyClear: 'Clear selection, then search',
} as const;

/** Of every list of jobs, in the help. */
export const jobListKeys = {
  move: 'Next or previous job',
  ends: 'First or last job',
  open: 'Open',
  select: 'Select',
  extend: 'Extend the selection',
};
