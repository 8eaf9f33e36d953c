/** Capacity held by unfinished attempts, counted while attempts change. */
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
