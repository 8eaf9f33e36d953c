/** What an attempt used, in one line. */
import type { AttemptUsage } from '../../core/contract/usage.js';
import { formatSize } from '../../core/formats/sizes.js';

export function usageText(usage: AttemptUsage, devices: readonly string[]): string {
  const gpu = [
    ...(usage.gpuPercent === null ? [] : [`${usage.gpuPercent} %`]),
    ...(usage.gpuMemoryBytes === null ? [] : [`${formatSize(usage.gpuMemoryBytes)} of memory`]),
    ...(usage.energyJoules === null ? [] : [energyText(usage.energyJoules)]),
  ];
  const beside = usage.devicesUsed.filter((uuid) => !devices.includes(uuid));
  const parts = [
    ...(usage.cpuSeconds === null ? [] : [`${usage.cpuSeconds} s of CPU`]),
    ...(usage.diskReadBytes === null ? [] : [`${formatSize(usage.diskReadBytes)} read from disk`]),
    ...(usage.diskWrittenBytes === null ? [] : [`${formatSize(usage.diskWrittenBytes)} written`]),
    ...(gpu.length === 0 ? [] : [`GPU ${gpu.join(', ')}`]),
    ...(beside.length === 0 ? [] : [`also computed on ${beside.join(', ')}, which it was not given`]),
  ];
  return parts.length === 0 ? '' : `Used ${parts.join('; ')}.`;
}

function energyText(joules: number): string {
  return joules < 3600 ? `${joules} J` : `${(joules / 3600).toPrecision(3)} Wh`;
}
