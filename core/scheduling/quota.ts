/** What a user may have running at once. Places promised count like what runs, or as many more would be promised in each pass. */
import type { Cluster } from './cluster.js';
import { cardsMeant } from './gpu-models.js';
import type { JobEntry, UserEntry } from './queue.js';

export interface UserUse {
  tasks: number;
  cpu: number;
  memory: number;
  gpus: number;
}

/** Running and promised. */
export function useOf(user: UserEntry, { holdings, queue }: Pick<Cluster, 'holdings' | 'queue'>): UserUse {
  const { tasks, cpu, memory, gpus } = user;
  const use = { tasks, cpu, memory, gpus };
  for (const { jobId, devices } of holdings.allClaims()) {
    const entry = queue.jobs.get(jobId);
    if (entry?.user === user) add(use, entry, devices);
  }
  return use;
}

function add(use: UserUse, { job }: JobEntry, devices: readonly string[]): void {
  use.tasks += 1;
  use.cpu += job.cpuMillicores;
  use.memory += job.memoryBytes;
  use.gpus += devices.length;
}

/** Quotas in one pass: with what it has given. */
export class Quotas {
  private readonly uses = new Map<UserEntry, UserUse>();

  constructor(private readonly cluster: Pick<Cluster, 'holdings' | 'queue' | 'table'>) {}

  /** True when so many more tasks of the job stay within its user's. */
  allow({ job, user, shape }: JobEntry, tasks: number): boolean {
    const { quota } = user.budget;
    if (quota === null) return true;
    // A number of cards may be a model: what it means follows from the machines.
    shape.refresh(this.cluster.table);
    const use = this.of(user);
    const within = (bound: number | null, used: number) => bound === null || used <= bound;
    return (
      within(quota.tasks, use.tasks + tasks) &&
      within(quota.cpuMillicores, use.cpu + tasks * job.cpuMillicores) &&
      within(quota.memoryBytes, use.memory + tasks * job.memoryBytes) &&
      within(quota.gpuCount, use.gpus + tasks * cardsMeant(shape.gpus, job.gpuVariant))
    );
  }

  /** A task of the job got a place, or was promised one. */
  give(entry: JobEntry, devices: readonly string[]): void {
    if (entry.user.budget.quota !== null) add(this.of(entry.user), entry, devices);
  }

  private of(user: UserEntry): UserUse {
    let use = this.uses.get(user);
    if (use === undefined) {
      use = useOf(user, this.cluster);
      this.uses.set(user, use);
    }
    return use;
  }
}
