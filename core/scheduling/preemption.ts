/**
 * Phase 5 of our rules: one search for one task and for a gang. It finds the cheapest set of strictly worse victims that, with what is
 * free and what is on its way out, makes room: on one machine, or for all members in one group of machines.
 */
import { GroupSearch } from './group-search.js';
import type { Victim } from './holdings.js';
import { MachineSearch } from './machine-search.js';
import type { JobEntry } from './queue.js';
import { isCandidate } from './shape.js';
import { VictimSets } from './victim-sets.js';
import type { Victims } from './victims.js';
import type { Working } from './working.js';

export interface Plan {
  /** Machines for the tasks, one entry each. */
  readonly workers: readonly number[];
  /** Empty: what is on its way out already makes room. */
  readonly victims: readonly Victim[];
}

export class VictimSearch {
  private readonly machines: MachineSearch;
  private readonly groups: GroupSearch;

  constructor(
    private readonly working: Working,
    private readonly victims: Victims,
  ) {
    const sets = new VictimSets(working, victims);
    this.machines = new MachineSearch(working, victims, sets);
    this.groups = new GroupSearch(working, victims, sets);
  }

  /** For one task of the job; null when no allowed set of victims makes room. */
  forTask(entry: JobEntry, band: number): Plan | null {
    const { shape } = entry;
    const { working } = this;
    for (const worker of working.leavers) {
      if (working.fitsLater(shape, worker) && isCandidate(shape, worker))
        return { workers: [worker], victims: [] };
    }
    if (!this.victims.couldFit(shape, band)) return null;
    return this.machines.cheapest(entry, band);
  }

  /** For all members of a gang together, in one group. */
  forGang(entry: JobEntry, band: number, size: number): Plan | null {
    return this.victims.couldFit(entry.shape, band) ? this.groups.cheapest(entry, band, size) : null;
  }
}
