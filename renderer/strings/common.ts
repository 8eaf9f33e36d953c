/** Strings of the frame and of what every page shares. One catalogue, one file a page; no sentence lives in a component. */
import { showTimes, timeInSentence } from '../../core/formats/times.js';
import { formatDuration } from '../../core/formats/durations.js';
import type { Refusal } from '../../core/contract/errors.js';
import type { AttemptState, JobState, TaskState } from '../../core/contract/states.js';
import { formatCount, timeFormat } from './numbers.js';

export { formatCount } from './numbers.js';

export type AnyState = JobState | TaskState | AttemptState;

export const stateWords: Readonly<Record<AnyState, string>> = {
  PENDING: 'Waiting',
  ASSIGNED: 'Assigned',
  BUILDING: 'Building',
  RUNNING: 'Running',
  SUCCEEDED: 'Succeeded',
  FAILED: 'Failed',
  KILLED: 'Killed',
  PREEMPTED: 'Preempted',
  WORKER_FAILED: 'Worker lost',
  UNSCHEDULABLE: 'Unschedulable',
  COSCHED_FAILED: 'Gang ended',
};

const plural = (count: number, one: string, many: string): string =>
  `${formatCount(count)} ${count === 1 ? one : many}`;

export const countJobs = (count: number): string => plural(count, 'job', 'jobs');
export const countTasks = (count: number): string => plural(count, 'task', 'tasks');

export const common = {
  appName: 'Iris Desktop',
  navigation: 'Pages',
  overview: 'Overview',
  jobs: 'Jobs',
  machines: 'Machines',
  machinesAlso: 'workstations gpus cards nodes workers drain',
  images: 'Images',
  imagesAlso: 'docker containers pull',
  activity: 'Activity',
  activityAlso: 'audit events history log',
  settings: 'Settings',
  settingsAlso: 'preferences theme notifications tray about version',
  newJob: 'New job',
  collapseRail: 'Narrow the page list',
  expandRail: 'Widen the page list',
  skipToContent: 'Skip to content',
  // Actions
  stop: 'Stop',
  runAgain: 'Run again',
  editAndRun: 'Edit and run',
  open: 'Open',
  copyName: 'Copy name',
  copyId: 'Copy path',
  cancel: 'Cancel',
  close: 'Close',
  tryAgain: 'Try again',
  dismiss: 'Dismiss',
  // Time
  justNow: 'now',
  ago: (ms: number): string => (ms < 5000 ? 'just now' : `${formatAge(ms)} ago`),
  // Dashes with a reason
  dash: '–',
  notStarted: 'It has not started.',
  notMeasured: 'Not measured.',
  noGpuAsked: 'No GPU was asked for.',
  notPlaced: 'It has not been on a machine.',
  // States of pages
  loading: 'Loading',
  failedTitle: (what: string): string => `${what} could not be loaded`,
  // Connection
  connecting: 'Connecting to the controller',
  connected: 'Healthy',
  unhealthy: 'Trouble',
  connectionLost: 'Connection to the controller lost. Trying again.',
  connectionLostShort: 'Reconnecting',
  connectionRefusedShort: 'Refused',
  connectionRefused: 'The controller refused this window.',
  reconnectNow: 'Connect now',
  stale: 'What is shown may be out of date.',
  noBridgeTitle: 'Open this page in Iris Desktop',
  noBridgeBody:
    'This page talks to the controller through the application; a plain browser has no way to it.',
  // Status bar
  statusBar: 'Status',
  running: (count: number): string => `${formatCount(count)} running`,
  waiting: (count: number): string => `${formatCount(count)} waiting`,
  failed: (count: number): string => `${formatCount(count)} failed`,
  runningHint: 'Show jobs that have started and not ended',
  waitingHint: 'Show jobs that have not started',
  failedHint: 'Failed in the last 24 hours and not looked at yet. Show them.',
  freeGpus: (free: number, total: number): string => `GPU ${free}/${total} free`,
  freeGpusHint: 'GPUs that neither a job nor anybody else uses',
  noGpus: 'no GPU',
  cpuBusy: (percent: number): string => `CPU ${Math.round(percent)}%`,
  cpuHint: 'How busy the processors are now, by everybody',
  cpuFreeHint: 'Processor cores not promised to any task',
  cpuFree: (free: string, total: string): string => `${free} of ${total} cores free`,
  runtimeHint: (runtime: string, version: string): string => `Iris Desktop ${version} on ${runtime}`,
  // Inbox
  inbox: 'Notifications',
  inboxUnread: (count: number): string =>
    count === 1 ? '1 unread notification' : `${formatCount(count)} unread notifications`,
  inboxEmpty:
    'Nothing has ended yet. When a job ends, or wastes or shares its GPU, it is kept here, whether or not the desktop showed it.',
  inboxMarkAll: 'Mark all as read',
  inboxPause: 'Pause desktop notifications',
  inboxResume: 'Resume desktop notifications',
  inboxMore: 'Older',
  endedAfter: (word: string, ms: number | null): string =>
    ms === null ? `${word} without having run` : `${word} after ${formatDuration(ms)}`,
  // Theme
  themeSystem: 'Theme: as the system',
  themeLight: 'Theme: light',
  themeDark: 'Theme: dark',
  // Palette
  palette: 'Command palette',
  paletteSearch: 'Type an action, a page, a machine or a job',
  paletteNothing: 'No action, page, machine or job matches.',
  paletteActions: 'Actions',
  palettePages: 'Pages',
  paletteMachines: 'Machines',
  paletteJobs: 'Jobs',
  goTo: (page: string): string => `Go to ${page}`,
  showKeys: 'Show keyboard shortcuts',
  // Keys
  keysTitle: 'Keyboard shortcuts',
  keysEverywhere: 'Everywhere',
  keyPalette: 'Command palette',
  keyNew: 'New job',
  keyJobs: 'Go to Jobs',
  keyOverview: 'Go to Overview',
  keyMachines: 'Go to Machines',
  keyImages: 'Go to Images',
  keyActivity: 'Go to Activity',
  keySettings: 'Go to Settings',
  keyHelp: 'Show these keys',
  keyUp: 'Close, or go up a page',
  then: 'then',
  // Closing the window
  closingTitle: 'Keep Iris Desktop in the tray?',
  closingBody: (running: number): string =>
    running === 0
      ? 'In the tray it starts what waits and tells you when a job ends.'
      : `${countJobs(running)} ${running === 1 ? 'runs' : 'run'} and will go on either way. In the tray Iris Desktop tells you when ${
          running === 1 ? 'it ends' : 'they end'
        }.`,
  closingTray: 'Keep in tray',
  closingQuit: 'Quit',
  closingRemember: 'Do the same next time',
  // Crash
  crashTitle: 'This page stopped working',
  crashBody: 'Jobs are not affected. Reload the window to go on; the text below helps to find the cause.',
  reload: 'Reload the window',
} as const;

/** Why something was not done, in words that name it; not those where nobody knows whether it was, as the answer never came. */
export function outcomeText(reason: Refusal, notDone: (message: string) => string): string {
  return reason.code === 'DISCONNECTED' ? reason.message : notDone(reason.message);
}

/** An age as people say it: `now`, `40s`, `12m`, `2h`, `5d`, `3mo`, `2y`: one unit, rounded down. */
export function formatAge(ms: number): string {
  const seconds = Math.floor(Math.max(0, ms) / 1000);
  if (seconds < 5) return common.justNow;
  if (seconds < 60) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes}m`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return `${hours}h`;
  const days = Math.floor(hours / 24);
  if (days < 60) return `${days}d`;
  if (days < 730) return `${Math.floor(days / 30)}mo`;
  return `${Math.floor(days / 365)}y`;
}

const exactParts: Intl.DateTimeFormatOptions = {
  ...timeInSentence,
  weekday: 'short',
  timeZoneName: 'short',
};
const exact = timeFormat(exactParts);

const sentenceTime = timeFormat(timeInSentence);

/** A sentence of the controller's, its times by the reader's clock. */
export function localTimes(sentence: string, timeZone?: string): string {
  const format =
    timeZone === undefined
      ? sentenceTime()
      : new Intl.DateTimeFormat('en-GB', { ...timeInSentence, timeZone });
  return showTimes(sentence, (ms) => format.format(ms));
}

/** `1 Dec 2026, 09:00:00`, by the reader's clock. */
export const formatClockDay = (atMs: number): string => sentenceTime().format(atMs);

/** Local date and time to the second with the zone, as one hour a year comes twice; for the hover of a relative time. */
export function formatExactTime(atMs: number, timeZone?: string): string {
  const format =
    timeZone === undefined ? exact() : new Intl.DateTimeFormat('en-GB', { ...exactParts, timeZone });
  return format.format(atMs);
}
