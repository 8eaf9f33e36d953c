/** The simulated cluster: 64 machines of 8 GPUs in 4 racks, and what its 40 users may hold before they are demoted. */
import { resourceValue } from '../../../core/budget/value.js';
import type { SchedulingWorker } from '../../../core/scheduling/free.js';
import type { UserBudget } from '../../../core/scheduling/inputs.js';
import { userCount } from './trace.js';

const gib = 2 ** 30;
export const gpusPerMachine = 8;
export const machineCount = 64;
const machinesPerRack = 16;
export const variant = 'h100';
/** The attribute a gang's machines have in common. */
export const rackKey = 'rack';

export function machines(count = machineCount): SchedulingWorker[] {
  return Array.from({ length: count }, (_, at) => ({
    id: `m${String(at).padStart(3, '0')}`,
    healthy: true,
    cpuMillicores: 96_000,
    memoryBytes: 1024 * gib,
    gpuNote: null,
    gpus: Array.from({ length: gpusPerMachine }, (__, index) => ({
      uuid: `GPU-${at}-${index}`,
      index,
      variant,
      usable: true,
      busyByOthers: false,
      numaNode: index >> 2,
      linkGroup: 0,
    })),
    attributes: { 'device-type': 'gpu', [rackKey]: `r${Math.floor(at / machinesPerRack)}` },
  }));
}

/** GPUs with their share of processors and memory that a user may hold, by place in the list of users: leads, members, students. */
const tiers = [
  { users: 5, gpus: 128 },
  { users: 15, gpus: 48 },
  { users: userCount - 20, gpus: 16 },
];

export function budgets(): UserBudget[] {
  return tiers
    .flatMap(({ users, gpus }) => Array.from({ length: users }, () => gpus))
    .map((gpuCount, at) => ({
      user: `user${String(at).padStart(2, '0')}`,
      limit: resourceValue({ gpuCount, cpuMillicores: 8000 * gpuCount, memoryBytes: 96 * gib * gpuCount }),
      quota: null,
      cumulative: null,
    }));
}
