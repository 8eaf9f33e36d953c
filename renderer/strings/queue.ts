/** Strings of the Queue page, and of holding, releasing and moving jobs wherever that can be done. */
import type { LaneItem } from '../../core/contract/queue.js';
import type { Band } from '../../core/contract/states.js';
import { formatDuration } from '../../core/formats/durations.js';
import { bandWords } from './budgets.js';
import { countJobs, formatCount, stateWords } from './common.js';
import { timeFormat } from './numbers.js';

export const laneStateWord = (state: LaneItem['state']): string =>
  state === 'PROMISED' ? 'Promised' : stateWords[state];

const plainBand = (band: Band): string => bandWords[band].toLowerCase();

export const queue = {
  title: 'Queue',
  what: 'The queue',
  keyQueue: 'Go to Queue',
  also: 'order band waiting hold release timeline lanes what runs where',
  counts: (waiting: number, running: number): string =>
    `${formatCount(waiting)} waiting, ${formatCount(running)} running`,
  keysTitle: 'Queue',
  keyHold: 'Hold or release',
  keyBand: 'Change band',
  keyFirst: 'To front',
  keyLast: 'To back',
  keyUsual: 'Usual place',
  keyStop: 'Stop',
  keyMenu: 'Actions of the job',
  keyClear: 'Select none',
  keysTimeline: 'What runs where',
  keyZoom: 'Zoom in or out',
  keyPan: 'Earlier or later',
  keyNow: 'Back to now',
  // Lanes
  list: 'Waiting jobs by band, in the order they are tried',
  position: 'Place',
  name: 'Job',
  user: 'User',
  tasks: 'Tasks',
  gpus: 'GPUs',
  age: 'Age',
  reason: 'Why it waits',
  turns: 'Turns of users',
  bandJobs: (count: number): string => countJobs(count),
  nothingIn: (band: Band): string => `${bandWords[band]}: nothing waits`,
  more: (count: number): string => `${formatCount(count)} more not shown`,
  waitingTasks: (waiting: number, all: number): string =>
    waiting === all ? formatCount(all) : `${formatCount(waiting)} of ${formatCount(all)}`,
  waitingTasksHint: (waiting: number, all: number): string =>
    `${formatCount(waiting)} of its ${formatCount(all)} ${all === 1 ? 'task' : 'tasks'} ${waiting === 1 ? 'waits' : 'wait'}`,
  noReason: 'It is next; no reason was given yet.',
  held: 'Held',
  heldHint: 'Nothing of it starts until it is released.',
  movedUp: 'Moved up',
  movedDown: 'Moved down',
  movedHint: 'Its owner moved it among their own jobs of this band.',
  demoted: (band: Band): string => `Demoted from ${plainBand(band)}`,
  demotedHint: (band: Band, lane: Band): string =>
    `It asked for ${plainBand(band)} and is treated as ${plainBand(lane)} while its user is over the limit.`,
  laneUser: (user: string): string => `User ${user}`,
  moreUsers: 'Further users',
  emptyTitle: 'Nothing waits',
  emptyBody:
    'Jobs that cannot start at once line up here by band, in the order they are tried: users take turns, whoever uses least goes first.',
  emptyExample: 'irisctl job run --hold -- python train.py',
  // Actions
  actions: 'Actions on the chosen jobs',
  noneChosen: 'Choose a job to hold, release or move it.',
  chosen: (count: number): string => `${formatCount(count)} selected`,
  notYours: 'Only its owner, or who administers the cluster, may change it.',
  hold: 'Hold',
  release: 'Release',
  band: 'Band',
  toFirst: 'To front',
  toLast: 'To back',
  toUsual: 'Usual place',
  firstHint: 'Before one’s other jobs of the band',
  lastHint: 'After one’s other jobs of the band',
  usualHint: 'By its time of submission again',
  menu: 'Actions of the job',
  bandOf: (band: Band): string => bandWords[band],
  bandNow: (band: Band): string => `${bandWords[band]} (now)`,
  open: 'Open',
  refused: (message: string): string => `Not changed. ${message}`,
  // What runs where
  lanes: 'What runs where',
  lanesHint: 'One line a machine for work without a GPU, one a GPU; past, now and expected.',
  processors: 'processors',
  processorsOf: (machine: string): string => `${machine}, processors`,
  gpuOf: (machine: string, gpu: string): string => `${machine}, ${gpu}`,
  gpu: (index: number, variant: string): string => `GPU ${index} ${variant}`,
  goneGpu: (uuid: string): string => `GPU ${uuid.slice(-4)}, not there now`,
  views: 'How it is shown',
  viewLanes: 'Timeline',
  viewTable: 'Table',
  zoomIn: 'Zoom in',
  zoomOut: 'Zoom out',
  earlier: 'Earlier',
  later: 'Later',
  toNow: 'Now',
  span: (ms: number): string => formatDuration(ms),
  spanHint: 'Time shown from the left edge to the right',
  now: 'now',
  lanesEmpty: 'No machine is known yet.',
  lanesQuiet: 'Nothing ran or runs in this time.',
  lanesSummary: (items: number, rows: number): string =>
    `${formatCount(items)} ${items === 1 ? 'piece' : 'pieces'} of work on ${formatCount(rows)} ${rows === 1 ? 'line' : 'lines'}. Arrow keys go through them, Enter opens the job; the table shows the same as text.`,
  historyWhat: 'What ran before',
  historyCut: (count: number): string =>
    `Only the last ${formatCount(count)} that ended are shown; zoom in to see older ones.`,
  state: 'State',
  where: 'Where',
  from: 'From',
  to: 'To',
  promisedSince: 'Promised since',
  endsBy: 'Ends by',
  endedAt: 'Ended',
  noEnd: 'No time limit: its end is not known.',
  waitsForPlace: 'Starts when others have left.',
  keptFor: (name: string): string => `Kept for ${name}`,
  tableRest: (count: number): string => `${formatCount(count)} more not shown; zoom in to see them.`,
  tableEmpty: 'Nothing ran or runs in this time.',
  // Job page
  jobHeld: 'Held',
  jobHeldHint: 'Nothing of it starts until it is released.',
  after: 'After',
  onWords: { SUCCESS: 'has succeeded', END: 'has ended', FAILURE: 'has failed' } as const,
  notBefore: 'Starts no earlier than',
  mustEndBy: 'Must end by',
  toldGone: (told: string, gone: string): string => `Told to leave at ${told}, gone at ${gone}`,
  toldKilled: (told: string, killed: string): string => `Told to leave at ${told}, killed at ${killed}`,
  toldStill: (told: string, by: string): string =>
    `Told to leave at ${told}, killed at ${by} if it has not left by then`,
  checkpoint: (at: string): string => `Last checkpoint at ${at}`,
  checkpointLost: (at: string, lostMs: number): string =>
    `Last checkpoint at ${at}; the ${formatDuration(lostMs)} of work after it were lost`,
} as const;

const clock = timeFormat({ hour: '2-digit', minute: '2-digit', second: '2-digit' });
const dayClock = timeFormat({
  weekday: 'short',
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
});

/** `14:20:05`, with the day when it is more than half a day from the other time. */
export function formatClock(atMs: number, nearMs: number): string {
  return Math.abs(atMs - nearMs) < 43_200_000 ? clock().format(atMs) : dayClock().format(atMs);
}
