/** Machines as the window shows them: what the backend saw last, less what the controller has promised to attempts. */
import type { GpuView } from '../../core/contract/gpus.js';
import {
  localMachine,
  type DiskView,
  type DockerState,
  type MachineView,
} from '../../core/contract/machines.js';
import type { ModelView } from '../../core/model/draft.js';
import type { WorkerObservation } from '../backends/backend.js';
import { attributesOf, withAdded } from './machine-offers.js';

export function machineViews(
  observed: readonly WorkerObservation[],
  state: Pick<ModelView, 'unfinishedAttempts' | 'machine' | 'machines'>,
): MachineView[] {
  const used = new Map<
    string,
    { cpu: number; memory: number; running: number; devices: Map<string, string[]> }
  >();
  for (const attempt of state.unfinishedAttempts()) {
    const entry = used.get(attempt.workerId) ?? {
      cpu: 0,
      memory: 0,
      running: 0,
      devices: new Map<string, string[]>(),
    };
    entry.cpu += attempt.cpuMillicores;
    entry.memory += attempt.memoryBytes;
    entry.running += 1;
    for (const device of attempt.devices)
      entry.devices.set(device, [...(entry.devices.get(device) ?? []), attempt.uid]);
    used.set(attempt.workerId, entry);
  }
  return withAdded(observed, state.machines()).map((worker) => {
    const own = used.get(worker.id);
    const row = state.machine(worker.id);
    return {
      address: worker.address ?? null,
      contact: worker.contact ?? localMachine.contact,
      scheduling: row?.scheduling ?? 'OPEN',
      drainDeadlineMs: row?.drainDeadlineMs ?? null,
      docker: worker.docker ?? localMachine.docker,
      taints: [...(row?.taints ?? [])],
      clockSkewMs: worker.clockSkewMs === undefined ? localMachine.clockSkewMs : worker.clockSkewMs,
      wakeAddress: row?.wakeAddress ?? null,
      id: worker.id,
      hostname: worker.hostname,
      state: worker.state,
      platform: worker.platform,
      cpuModel: worker.cpuModel,
      cpuCount: worker.cpuCount,
      cpuMillicoresTotal: worker.cpuMillicores,
      cpuMillicoresFree: Math.max(
        0,
        worker.cpuMillicores - (own?.cpu ?? 0) - (worker.others?.cpuMillicores ?? 0),
      ),
      cpuBusyPercent: worker.cpuBusyPercent,
      memoryTotalBytes: worker.memoryBytes,
      memoryAvailableBytes: worker.memoryAvailableBytes,
      memoryFreeForJobsBytes: Math.max(
        0,
        worker.memoryBytes - (own?.memory ?? 0) - (worker.others?.memoryBytes ?? 0),
      ),
      disks: withDataOf(worker.docker, worker.disks),
      gpus: worker.gpus.map((gpu) => withHolders(gpu, own?.devices.get(gpu.uuid) ?? [])),
      gpuNote: worker.gpuNote,
      attributes: { ...attributesOf(worker, row) },
      ...(Object.keys(row?.attributes ?? {}).length === 0
        ? {}
        : { setByHand: Object.keys(row?.attributes ?? {}) }),
      runningTasks: own?.running ?? 0,
      ...(worker.others === undefined || worker.others.cpuMillicores + worker.others.memoryBytes === 0
        ? {}
        : { others: worker.others }),
      sampledAtMs: worker.sampledAtMs,
    };
  });
}

/** Where Docker keeps its data is one of the machine's disks, unless it lies on one of the others. */
function withDataOf(docker: DockerState | undefined, disks: readonly DiskView[]): DiskView[] {
  const { storage = null } = docker ?? {};
  if (storage === null) return [...disks];
  const { path, totalBytes, freeBytes } = storage;
  // The two were not looked at in the same moment.
  const margin = totalBytes / 50;
  const same = (disk: DiskView): boolean =>
    disk.totalBytes === totalBytes && Math.abs(disk.freeBytes - freeBytes) <= margin;
  const own = { mountPoint: path, purpose: 'images and containers of Docker', totalBytes, freeBytes };
  return disks.some(same) ? [...disks] : [...disks, own];
}

/** Who is given a card is known here at once; the machine sees it later. */
function withHolders(gpu: GpuView, [heldBy, ...others]: readonly string[]): GpuView {
  if (heldBy === undefined) return { ...gpu, heldBy: null, state: gpu.state === 'HELD' ? 'FREE' : gpu.state };
  return {
    ...gpu,
    heldBy,
    ...(others.length === 0 ? {} : { sharedWith: others }),
    state: gpu.state === 'FREE' ? 'HELD' : gpu.state,
  };
}
