/** What `machine show` tells of each card: all there is, one paragraph a card, so that what is unknown is seen as well. */
import type { GpuProcessView, GpuView } from '../../../core/contract/gpus.js';
import { formatSize } from '../../../core/formats/sizes.js';
import { printable } from '../format.js';

/** Jobs by the uids of their attempts. */
export type JobOfAttempt = ReadonlyMap<string, string>;

export function gpuLines(gpus: readonly GpuView[], jobs: JobOfAttempt = new Map()): string {
  return gpus.map((gpu) => `\n${cardLines(gpu, jobs)}`).join('');
}

function cardLines(gpu: GpuView, jobs: JobOfAttempt): string {
  const rows: [string, string | null][] = [
    [`GPU ${gpu.index}`, `${gpu.name} (${gpu.variant})`],
    ['State', `${gpu.state}${gpu.stateReason === null ? '' : `: ${gpu.stateReason}`}`],
    ['Held by', heldText(gpu, jobs)],
    ['Claimed by', gpu.claimedBy.length === 0 ? null : gpu.claimedBy.join(', ')],
    ['UUID', gpu.uuid],
    ['Slice of', gpu.parentUuid],
    ['Bus', gpu.busId],
    ['Use', shown(gpu.utilizationPercent, '%')],
    ['Memory', memoryText(gpu)],
    ['Temperature', shown(gpu.temperatureCelsius, 'C')],
    ['Power', withLimit(shown(gpu.powerWatts, 'W'), shown(gpu.powerLimitWatts, 'W'), gpu.powerLimitWatts)],
    ['Clocks', `${shown(gpu.clockMhz, 'MHz')}, memory ${shown(gpu.memoryClockMhz, 'MHz')}`],
    [
      'Memory errors',
      gpu.eccUncorrected === null ? 'not counted here' : `${gpu.eccUncorrected} not corrected`,
    ],
    ['Beside', besideText(gpu)],
    ['Note', gpu.note],
    ...gpu.processes.map((process): [string, string] => ['Process', processText(process)]),
  ];
  const known = rows.flatMap(([name, value]) => (value === null ? [] : [{ name, value }]));
  const width = Math.max(...known.map(({ name }) => name.length));
  return known.map(({ name, value }) => `${name.padEnd(width)}  ${printable(value)}\n`).join('');
}

function heldText({ heldBy, sharedWith = [] }: GpuView, jobs: JobOfAttempt): string | null {
  if (heldBy === null) return null;
  const all = [heldBy, ...sharedWith].map((uid) => {
    const job = jobs.get(uid);
    return job === undefined ? `attempt ${uid}` : `${job} (attempt ${uid})`;
  });
  return `${all.join(', ')}${sharedWith.length === 0 ? '' : ', which share it'}`;
}

function shown(value: number | null, unit: string): string {
  return value === null ? 'unknown' : `${value} ${unit}`;
}

function withLimit(text: string, limit: string, value: number | null): string {
  return value === null ? text : `${text} of ${limit}`;
}

function memoryText({ memoryUsedBytes, memoryTotalBytes, sharesHostMemory }: GpuView): string {
  const used = memoryUsedBytes === null ? 'unknown' : formatSize(memoryUsedBytes);
  const total = memoryTotalBytes === null ? 'unknown' : formatSize(memoryTotalBytes);
  return `${used} used of ${total}${sharesHostMemory ? ", the machine's own" : ''}`;
}

function besideText({ numaNode, nvlinkTo }: GpuView): string {
  const node = numaNode === null ? null : `memory node ${numaNode}`;
  const links = nvlinkTo === null || nvlinkTo.length === 0 ? null : `NVLink to ${nvlinkTo.join(', ')}`;
  if (node === null && nvlinkTo === null) return 'not readable here';
  return [node ?? 'memory node not told', links ?? 'no NVLink'].join(', ');
}

function processText({ pid, user, name, usedBytes, computes, attemptUid }: GpuProcessView): string {
  return [
    `${pid} ${name}`,
    user ?? 'owner not seen',
    usedBytes === null ? 'memory unknown' : formatSize(usedBytes),
    computes ? 'computes' : 'draws the desktop',
    ...(attemptUid === null ? [] : [`attempt ${attemptUid}`]),
  ].join(', ');
}
