/** Strings of machines and their cards: the Machines page and what other pages show of a machine. */
import type { Contact, MachineView } from '../../core/contract/machines.js';
import type { GpuView } from '../../core/contract/gpus.js';
import { countTasks, formatAge, formatCount } from './common.js';

const plural = (count: number, one: string, many: string): string =>
  `${formatCount(count)} ${count === 1 ? one : many}`;

export const gpuStateWords: Readonly<Record<GpuView['state'], string>> = {
  FREE: 'Free',
  HELD: 'Held by a job',
  BUSY: 'Used by others',
  SICK: 'Sick',
  SILENT: 'Silent',
};

export const gpuStateHints: Readonly<Record<GpuView['state'], string>> = {
  FREE: 'Jobs may get it.',
  HELD: 'A task has it for itself.',
  BUSY: 'Somebody computes on it without a job here; jobs are not given it meanwhile.',
  SICK: 'Kept from jobs until it is released by hand or a look at it finds nothing wrong.',
  SILENT: 'The tool does not answer about it; jobs are not given it meanwhile.',
};

export const contactWords: Readonly<Record<Contact['state'], string>> = {
  CONNECTED: 'Connected',
  CONNECTING: 'Connecting',
  ANSWER_NEEDED: 'Waits for your answer',
  UNREACHABLE: 'Unreachable',
  OFF: 'Off',
};

export const schedulingWords: Readonly<Record<MachineView['scheduling'], string>> = {
  OPEN: 'Takes tasks',
  CORDONED: 'Cordoned',
  DRAINING: 'Draining',
  DRAINED: 'Drained',
};

export const schedulingHints: Readonly<Record<MachineView['scheduling'], string>> = {
  OPEN: 'New tasks are placed on it.',
  CORDONED: 'No new task is placed on it; what runs goes on.',
  DRAINING: 'No new task is placed on it, and what runs is on its way out.',
  DRAINED: 'No task runs on it and none is placed: it can be taken down.',
};

export const healthWords: Readonly<Record<MachineView['state'], string>> = {
  HEALTHY: 'Healthy',
  DEGRADED: 'Trouble',
  DEAD: 'Not answering',
};

export const machines = {
  title: 'Machines',
  what: 'The machines',
  list: 'Machines',
  counts: (all: number, answering: number): string =>
    answering === all ? plural(all, 'machine', 'machines') : `${answering} of ${all} machines answer`,
  add: 'Add a workstation',
  images: 'Images',
  views: 'How they are shown',
  viewCards: 'Cards',
  viewTable: 'Table',
  // Empty
  aloneTitle: 'Only this machine so far',
  aloneBody:
    'Other workstations of the lab can take tasks as well: all they need is SSH and a login of yours. Nothing is installed on them.',
  aloneExample: 'irisctl machine add ssh://ws-2 --name ws-2',
  noneTitle: 'No machine yet',
  noneBody: 'Here you see what each machine does, who uses its cards, and whether it takes tasks.',
  // Figures
  processors: 'Processors',
  memory: 'Memory',
  disk: (mountPoint: string): string => `Disk ${mountPoint}`,
  busy: (percent: number): string => `${Math.round(percent)}%`,
  coresFree: (free: string, all: string): string => `${free} of ${all} cores free for jobs`,
  coresCount: (cores: string): string => `${cores} ${cores === '1' ? 'core' : 'cores'}`,
  memorySize: (size: string): string => `${size} of memory`,
  withOthers: (what: string): string => `${what} with jobs of other controllers`,
  /** Behind what is free; empty where they have nothing. */
  ofOthers: (value: number, text: string): string =>
    value === 0 ? '' : `, ${text} with jobs of other controllers`,
  memoryUsed: (used: string, all: string): string => `${used} of ${all}`,
  memoryFree: (free: string): string => `${free} free for jobs`,
  diskLow: (mountPoint: string, free: string): string => `${mountPoint} is nearly full: ${free} left`,
  cachesLieThere: '. The caches of containers lie there:',
  seeCaches: 'measure or empty them',
  notMeasured: 'Not measured.',
  notReached: 'Not known: the machine does not answer.',
  tasks: (count: number): string => (count === 0 ? 'No task' : countTasks(count)),
  here: 'This machine',
  since: 'since',
  drainUntil: 'what runs is requeued',
  // Cards
  gpus: 'GPUs',
  gpu: (index: number): string => `GPU ${index}`,
  gpuUse: (index: number): string => `Use of GPU ${index}`,
  gpuTile: (gpu: GpuView, who: string): string =>
    `GPU ${gpu.index}, ${gpu.name}: ${gpuStateWords[gpu.state]}${who === '' ? '' : `, ${who}`}`,
  gpusFree: (free: number, all: number): string => (all === 0 ? 'none' : `${free} of ${all} free`),
  /** A slice of a card, by NVIDIA's word for it. */
  slice: (index: number): string => `MIG ${index}`,
  shared: 'memory of the machine',
  noGpus: 'No GPU on this machine.',
  heldByTask: 'a task',
  claimed: (owners: readonly string[]): string => `${owners.join(', ')}, by another controller`,
  release: 'Release',
  releaseGpu: (index: number): string => `Release GPU ${index}`,
  // Table
  machine: 'Machine',
  state: 'State',
  tasksColumn: 'Tasks',
  docker: 'Docker',
  dockerReady: (version: string | null): string => (version === null ? 'Ready' : version),
  dockerAbsent: 'None',
  dockerFailed: 'Not usable',
  dockerUnknown: 'Not looked at yet.',
  actionsColumn: 'Actions',
  // Actions
  actions: (name: string): string => `Actions on ${name}`,
  open: 'Open',
  cordon: 'Cordon',
  uncordon: 'Take tasks again',
  drain: 'Drain',
  remove: 'Remove',
  wake: 'Wake',
  connect: 'Connect now',
  notLocal: 'The machine the controller runs on stays.',
  noWakeAddress: 'Its hardware address is not known.',
  woken: (name: string): string =>
    `${name} was sent the packet that wakes it. It may take a minute to answer.`,
  failed: (name: string, message: string): string => `${name}: ${message}`,
  drainTitle: (name: string): string => `Drain ${name}?`,
  drainBody: (running: number): string =>
    running === 0
      ? 'No new task is placed on it. None runs there now, so it is drained at once.'
      : `No new task is placed on it. ${countTasks(running)} ${running === 1 ? 'runs' : 'run'} there now.`,
  drainLet: 'Let what runs come to its end',
  drainAfter: 'Requeue what still runs after',
  drainAfterField: 'After how long it is requeued',
  drainAfterHint: 'Each task is told first, then it starts again elsewhere.',
  drainWrong: (text: string, expected: string): string =>
    text === '' ? `Expected ${expected}.` : `${text}: expected ${expected}.`,
  drainAction: (name: string): string => `Drain ${name}`,
  removeTitle: (name: string): string => `Remove ${name}?`,
  removeBody:
    'It is forgotten here; nothing on the machine itself is changed. What ran on it stays in the history, with the logs that were fetched.',
  removeRuns: (running: number): string =>
    `${countTasks(running)} ${running === 1 ? 'runs' : 'run'} there. ${
      running === 1 ? 'It is stopped, counts' : 'They are stopped, count'
    } as lost and ${running === 1 ? 'starts' : 'start'} again elsewhere where retries are left. Drain it first to lose nothing.`,
  removeAction: (name: string): string => `Remove ${name}`,
  removeLosing: (running: number): string => `Remove and lose ${countTasks(running)}`,
  // Keys
  keysTitle: 'Machines',
  keyMove: 'Next or previous machine',
  keyEnds: 'First or last machine',
  keyOpen: 'Open the machine',
  keyAdd: 'Add a workstation',
  keyView: 'Cards or table',
  keyCordon: 'Cordon, or take tasks again',
  keyDrain: 'Drain',
  keyWake: 'Wake',
  keyRemove: 'Remove',
} as const;

/** When what runs on a machine that is drained is requeued. */
export function drainText(deadlineMs: number, nowMs: number): string {
  const left = deadlineMs - nowMs;
  return left <= 0 ? `${machines.drainUntil} now` : `${machines.drainUntil} in ${formatAge(left + 59_999)}`;
}
