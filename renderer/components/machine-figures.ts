/** Figures of a machine that more than one page shows. */
import type { GpuView } from '../../core/contract/gpus.js';
import type { DiskView, MachineView } from '../../core/contract/machines.js';
import { formatSize } from '../../core/formats/sizes.js';
import { machines } from '../strings/machines.js';
import { formatCores } from '../strings/numbers.js';
import { conditionOf } from './machine-state.js';

/** A disk with less than this share free is told of. */
const lowShare = 0.05;

export function lowDisks(machine: MachineView): DiskView[] {
  return machine.disks.filter((disk) => disk.totalBytes > 0 && disk.freeBytes / disk.totalBytes < lowShare);
}

export const freeGpus = (gpus: readonly GpuView[]): number =>
  gpus.filter(({ state, heldBy, busyByOthers }) => state === 'FREE' && heldBy === null && !busyByOthers)
    .length;

/** What was free of a machine when it last answered is not free now. */
export const answering = (machines: readonly MachineView[]): MachineView[] =>
  machines.filter((machine) => conditionOf(machine).answers);

/** GPUs of the machines that answer. Where only others have any, theirs: there are some, and none of them is to be had now. */
export function gpusOf(machines: readonly MachineView[]): { readonly free: number; readonly all: number } {
  const here = answering(machines).flatMap((machine) => machine.gpus);
  const all = here.length > 0 ? here : machines.flatMap((machine) => machine.gpus);
  return { free: freeGpus(here), all: all.length };
}

/** What jobs of other controllers on the machine have of it, for where the room beside a figure is small; null: nothing. */
export function ofOthers({ others }: MachineView): string | null {
  const { cpuMillicores = 0, memoryBytes = 0 } = others ?? {};
  const parts = [
    ...(cpuMillicores === 0 ? [] : [machines.coresCount(formatCores(cpuMillicores))]),
    ...(memoryBytes === 0 ? [] : [machines.memorySize(formatSize(memoryBytes))]),
  ];
  return parts.length === 0 ? null : machines.withOthers(parts.join(' and '));
}

/** What stands behind the cores that are free, when jobs of other controllers on the machine have some. */
export function coresOfOthers({ others }: MachineView): string {
  const has = others?.cpuMillicores ?? 0;
  return machines.ofOthers(has, formatCores(has));
}

/** The same of its memory. */
export function memoryOfOthers({ others }: MachineView): string {
  const has = others?.memoryBytes ?? 0;
  return machines.ofOthers(has, formatSize(has));
}
