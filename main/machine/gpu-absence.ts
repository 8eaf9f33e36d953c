/** What is told of cards where nvidia-smi is not installed. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { displays, noCardsNote } from '../../core/formats/display-vendors.js';
import type { GpuReading } from './gpus.js';

export const absentReading = (vendors: readonly string[]): GpuReading => ({
  gpus: [],
  processes: [],
  note: noCardsNote(vendors),
});

/** Who made what displays or computes on the bus of this machine. */
export function displayVendors(bus = '/sys/bus/pci/devices'): readonly string[] {
  const word = (device: string, name: string) => readFileSync(path.join(bus, device, name), 'utf8').trim();
  try {
    return readdirSync(bus).flatMap((device) =>
      displays(word(device, 'class')) ? [word(device, 'vendor')] : [],
    );
  } catch {
    return []; // not this system, or one without such a bus
  }
}
