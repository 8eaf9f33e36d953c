/** Machines as the window shows them: what the backend saw last, less what the controller has promised to attempts. */
import { localMachine, type MachineView } from '../../core/contract/machines.js';
import type { Attempt } from '../../core/model/entities.js';
import type { WorkerObservation } from '../backends/backend.js';

export function machineViews(
  workers: readonly WorkerObservation[],
  unfinished: Iterable<Attempt>,
): MachineView[] {
  const used = new Map<
    string,
    { cpu: number; memory: number; running: number; devices: Map<string, string> }
  >();
  for (const attempt of unfinished) {
    const entry = used.get(attempt.workerId) ?? {
      cpu: 0,
      memory: 0,
      running: 0,
      devices: new Map<string, string>(),
    };
    entry.cpu += attempt.cpuMillicores;
    entry.memory += attempt.memoryBytes;
    entry.running += 1;
    for (const device of attempt.devices) entry.devices.set(device, attempt.uid);
    used.set(attempt.workerId, entry);
  }
  return workers.map((worker) => {
    const own = used.get(worker.id);
    return {
      ...localMachine,
      taints: [],
      id: worker.id,
      hostname: worker.hostname,
      state: worker.state,
      platform: worker.platform,
      cpuModel: worker.cpuModel,
      cpuCount: worker.cpuCount,
      cpuMillicoresTotal: worker.cpuMillicores,
      cpuMillicoresFree: Math.max(0, worker.cpuMillicores - (own?.cpu ?? 0)),
      cpuBusyPercent: worker.cpuBusyPercent,
      memoryTotalBytes: worker.memoryBytes,
      memoryAvailableBytes: worker.memoryAvailableBytes,
      memoryFreeForJobsBytes: Math.max(0, worker.memoryBytes - (own?.memory ?? 0)),
      disks: [...worker.disks],
      gpus: worker.gpus.map((gpu) => ({ ...gpu, heldBy: own?.devices.get(gpu.uuid) ?? null })),
      gpuNote: worker.gpuNote,
      attributes: { ...worker.attributes },
      runningTasks: own?.running ?? 0,
      sampledAtMs: worker.sampledAtMs,
    };
  });
}
