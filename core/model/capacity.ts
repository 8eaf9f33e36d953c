/** Capacity held by unfinished attempts, counted while attempts change. */
import type { Attempt } from './entities.js';
import type { UsedCapacity } from './view.js';

export interface MutableUsed extends UsedCapacity {
  cpuMillicores: number;
  memoryBytes: number;
  attempts: number;
  readonly devices: Map<string, string>;
}

export function copyUsed(used: UsedCapacity): MutableUsed {
  return { ...used, devices: new Map(used.devices) };
}

export function holdsCapacity(attempt: Attempt | undefined): attempt is Attempt {
  return attempt !== undefined && attempt.finishedAtMs === null;
}

export function addUse(used: MutableUsed, attempt: Attempt): void {
  used.cpuMillicores += attempt.cpuMillicores;
  used.memoryBytes += attempt.memoryBytes;
  used.attempts += 1;
  for (const device of attempt.devices) used.devices.set(device, attempt.uid);
}

export function removeUse(used: MutableUsed, attempt: Attempt): void {
  used.cpuMillicores -= attempt.cpuMillicores;
  used.memoryBytes -= attempt.memoryBytes;
  used.attempts -= 1;
  for (const device of attempt.devices) {
    if (used.devices.get(device) === attempt.uid) used.devices.delete(device);
  }
}
