/** Figures of a machine that more than one page shows. */
import type { GpuView } from '../../core/contract/gpus.js';
import type { DiskView, MachineView } from '../../core/contract/machines.js';
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
