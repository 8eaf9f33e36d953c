/** Arrays and lists of a pass, kept for the next one. What is in them between passes means nothing. */
import type { Cluster } from './cluster.js';
import { VictimSearch } from './preemption.js';
import { Reservations } from './reservations.js';
import { Victims } from './victims.js';
import { Working } from './working.js';

export class PassMemory {
  readonly working: Working;
  readonly victims: Victims;
  readonly search: VictimSearch;
  readonly reservations: Reservations;
  passes = 0;

  constructor(readonly cluster: Cluster) {
    this.working = new Working(cluster.table);
    this.victims = new Victims(cluster, this.working);
    this.search = new VictimSearch(this.working, this.victims);
    this.reservations = new Reservations(this.working, this.victims);
  }
}
