/** Capacity held by unfinished attempts, counted while attempts change. */
import type { JobSpec } from '../contract/job-request.js';
import type { Attempt } from './entities.js';
import type { UsedCapacity } from './view.js';

export interface MutableUsed extends UsedCapacity {
  cpuMillicores: number;
  memoryBytes: number;
  attempts: number;
  readonly devices: Map<string, readonly string[]>;
}

export function copyUsed(used: UsedCapacity): MutableUsed {
  return { ...used, devices: new Map(used.devices) };
}

export function holdsCapacity(attempt: Attempt | undefined): attempt is Attempt {
  return attempt !== undefined && attempt.finishedAtMs === null;
}

/** The cards that count: those it was given, as a number asked for may mean a model (`4090`); else those it asked for. */
export function cardsOf(
  { devices }: Pick<Attempt, 'devices'>,
  { gpuCount }: Pick<JobSpec, 'gpuCount'>,
): number {
  return devices.length === 0 ? gpuCount : devices.length;
}

export function addUse(used: MutableUsed, attempt: Attempt): void {
  used.cpuMillicores += attempt.cpuMillicores;
  used.memoryBytes += attempt.memoryBytes;
  used.attempts += 1;
  for (const device of attempt.devices)
    used.devices.set(device, [...(used.devices.get(device) ?? []), attempt.uid].sort());
}

export function removeUse(used: MutableUsed, attempt: Attempt): void {
  used.cpuMillicores -= attempt.cpuMillicores;
  used.memoryBytes -= attempt.memoryBytes;
  used.attempts -= 1;
  for (const device of attempt.devices) {
    const rest = (used.devices.get(device) ?? []).filter((uid) => uid !== attempt.uid);
    if (rest.length === 0) used.devices.delete(device);
    else used.devices.set(device, rest);
  }
}
