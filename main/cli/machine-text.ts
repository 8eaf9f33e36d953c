/** Machines as text for people. */
import type { MachineView } from '../../core/contract/machines.js';
import { formatSize } from '../../core/formats/sizes.js';
import { gpuLines, type JobOfAttempt } from './commands/machine-gpus.js';
import { isoTime, printable, table } from './format.js';

const contactWords: Readonly<Record<MachineView['contact']['state'], string | null>> = {
  CONNECTED: null,
  CONNECTING: 'CONNECTING',
  ANSWER_NEEDED: 'ANSWER_NEEDED',
  UNREACHABLE: 'UNREACHABLE',
  OFF: 'OFF',
};

/** What matters most of: whether it takes tasks, whether it is there, whether it is well. */
export function stateWord({ scheduling, contact, state }: MachineView): string {
  const words = [contactWords[contact.state] ?? (state === 'HEALTHY' ? null : state)];
  if (scheduling !== 'OPEN') words.unshift(scheduling);
  const shown = words.filter((word) => word !== null);
  return shown.length === 0 ? 'HEALTHY' : shown.join(',');
}

export function machineTable(machines: readonly MachineView[]): string {
  return table(
    [
      { title: 'MACHINE' },
      { title: 'STATE' },
      { title: 'CPU FREE', align: 'right' },
      { title: 'MEMORY FREE', align: 'right' },
      { title: 'GPUS FREE', align: 'right' },
      { title: 'TASKS', align: 'right' },
      { title: 'BUSY', align: 'right' },
      { title: 'NOTE' },
    ],
    machines.map((machine) => [
      machine.id,
      stateWord(machine),
      `${cores(machine.cpuMillicoresFree)}/${cores(machine.cpuMillicoresTotal)}`,
      `${formatSize(machine.memoryFreeForJobsBytes)} / ${formatSize(machine.memoryTotalBytes)}`,
      `${machine.gpus.filter((gpu) => gpu.state === 'FREE').length}/${machine.gpus.length}`,
      String(machine.runningTasks),
      machine.cpuBusyPercent === null ? '-' : `${Math.round(machine.cpuBusyPercent)} %`,
      machine.contact.message ?? machine.gpuNote ?? '',
    ]),
  );
}

export function machineLines(machine: MachineView, jobs?: JobOfAttempt): string {
  const { contact, docker } = machine;
  const rows: [string, string][] = [
    ['Machine', machine.id],
    ['State', stateWord(machine)],
    ['Address', machine.address ?? 'the machine the controller runs on'],
    ...(machine.address === null
      ? []
      : ([
          [
            'Contact',
            `${contact.state}${contact.lastContactMs === null ? '' : `, last ${isoTime(contact.lastContactMs)}`}`,
          ],
        ] satisfies [string, string][])),
    ...(contact.message === null ? [] : ([['', contact.message]] satisfies [string, string][])),
    ...(machine.drainDeadlineMs === null
      ? []
      : ([['Drain deadline', isoTime(machine.drainDeadlineMs)]] satisfies [string, string][])),
    ['Host name', machine.hostname],
    ['Platform', machine.platform],
    [
      'Processors',
      `${machine.cpuCount} (${machine.cpuModel}), ${cores(machine.cpuMillicoresFree)} free for jobs${othersText(machine, ({ cpuMillicores }) => [cpuMillicores, cores(cpuMillicores)])}`,
    ],
    [
      'Memory',
      `${formatSize(machine.memoryTotalBytes)}, ${formatSize(machine.memoryFreeForJobsBytes)} free for jobs${othersText(machine, ({ memoryBytes }) => [memoryBytes, formatSize(memoryBytes)])}`,
    ],
    ...machine.disks.map(({ mountPoint, freeBytes, totalBytes }): [string, string] => [
      'Disk',
      `${mountPoint}, ${formatSize(freeBytes)} of ${formatSize(totalBytes)} free`,
    ]),
    ['Docker', dockerText(docker)],
    ['Tasks', String(machine.runningTasks)],
    ['Attributes', pairs(Object.entries(machine.attributes))],
    ['Taints', pairs(machine.taints.map(({ key, value }) => [key, value]))],
    ...(machine.wakeAddress === null
      ? []
      : ([['Woken by', machine.wakeAddress]] satisfies [string, string][])),
    ...(machine.clockSkewMs === null || machine.address === null
      ? []
      : ([['Clock', clockText(machine.clockSkewMs)]] satisfies [string, string][])),
    ['GPUs', machine.gpuNote ?? String(machine.gpus.length)],
  ];
  const width = Math.max(...rows.map(([name]) => name.length));
  const lines = rows.map(([name, value]) => `${name.padEnd(width)}  ${printable(value)}\n`).join('');
  return `${lines}${gpuLines(machine.gpus, jobs)}`;
}

function dockerText({ state, version, message }: MachineView['docker']): string {
  const found = state === 'UNKNOWN' ? 'not looked at yet' : state.toLowerCase();
  return `${found}${version === null ? '' : ` ${version}`}${message === null ? '' : `: ${message}`}`;
}

function pairs(entries: readonly (readonly [string, string | number])[]): string {
  return entries.length === 0 ? '-' : entries.map(([key, value]) => `${key}=${value}`).join(' ');
}

function othersText(
  { others }: MachineView,
  amount: (of: NonNullable<MachineView['others']>) => readonly [number, string],
): string {
  const [value, text] = others === undefined ? [0, ''] : amount(others);
  return value === 0 ? '' : `, ${text} with jobs of other controllers`;
}

function cores(millicores: number): string {
  return String(Math.round(millicores / 10) / 100);
}

function clockText(skewMs: number): string {
  if (skewMs === 0) return "agrees with the controller's";
  return `${Math.abs(skewMs)} ms ${skewMs > 0 ? 'ahead of' : 'behind'} the controller's`;
}
