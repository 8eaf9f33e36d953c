/** What an attempt used, in words, each on its own; nothing of what was not measured. */
import type { AttemptUsage } from '../../../core/contract/usage.js';
import { formatDuration } from '../../../core/formats/durations.js';
import { formatSize } from '../../../core/formats/sizes.js';
import { graphs as words } from '../../strings/graphs.js';

export function usageFacts(usage: AttemptUsage | undefined): string[] {
  if (usage === undefined) return [];
  const { cpuSeconds, memoryBytes, diskReadBytes, diskWrittenBytes } = usage;
  const { gpuPercent, gpuMemoryBytes, energyJoules } = usage;
  return [
    ...(memoryBytes === null ? [] : [words.memoryNow(formatSize(memoryBytes))]),
    ...(cpuSeconds === null ? [] : [words.cpuTime(formatDuration(Math.round(cpuSeconds * 1000)))]),
    ...(diskReadBytes === null ? [] : [words.diskRead(formatSize(diskReadBytes))]),
    ...(diskWrittenBytes === null ? [] : [words.diskWritten(formatSize(diskWrittenBytes))]),
    ...(gpuPercent === null ? [] : [words.gpuMean(gpuPercent)]),
    ...(gpuMemoryBytes === null ? [] : [words.gpuMemory(formatSize(gpuMemoryBytes))]),
    ...(energyJoules === null ? [] : [words.energy(energyJoules)]),
  ];
}

/** Cards its processes computed on beside those it was given. */
export function foreignCards(usage: AttemptUsage | undefined, granted: readonly string[]): string[] {
  return (usage?.devicesUsed ?? []).filter((uuid) => !granted.includes(uuid));
}
