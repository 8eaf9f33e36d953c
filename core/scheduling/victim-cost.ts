/** What a set of victims costs, compared part by part. Sets are compared within a threshold: the best band any victim may have. */
import { compareTexts } from '../model/sorted-list.js';
import type { Victim } from './holdings.js';

export interface Cost {
  /** Times they were preempted before. */
  preemptions: number;
  /** Value x seconds of work since their last checkpoints. */
  lost: number;
  value: number;
  count: number;
  /** The smallest id among them, for what is equal in all else. */
  id: string;
}

export function newCost(): Cost {
  return { preemptions: 0, lost: 0, value: 0, count: 0, id: '' };
}

export function addCost(cost: Cost, victim: Victim): void {
  cost.preemptions += victim.preemptions;
  cost.lost += victim.lost;
  cost.value += victim.value;
  if (cost.count === 0 || victim.id < cost.id) cost.id = victim.id;
  cost.count += 1;
}

export function costOf(victims: readonly Victim[]): Cost {
  const cost = newCost();
  for (const victim of victims) addCost(cost, victim);
  return cost;
}

export function compareCosts(left: Cost, right: Cost): number {
  return (
    left.preemptions - right.preemptions ||
    left.lost - right.lost ||
    left.value - right.value ||
    left.count - right.count ||
    compareTexts(left.id, right.id)
  );
}

/** `compareCosts` of the cost with that victim in it, without making it. */
export function compareWith(cost: Cost, victim: Victim, other: Cost): number {
  return (
    cost.preemptions + victim.preemptions - other.preemptions ||
    cost.lost + victim.lost - other.lost ||
    cost.value + victim.value - other.value ||
    cost.count + 1 - other.count ||
    compareTexts(cost.count === 0 || victim.id < cost.id ? victim.id : cost.id, other.id)
  );
}

/** Worse band first, then the less often preempted, less work lost, less value, smaller id. */
export function compareVictims(left: Victim, right: Victim): number {
  return (
    right.rank - left.rank ||
    left.preemptions - right.preemptions ||
    left.lost - right.lost ||
    left.value - right.value ||
    compareTexts(left.id, right.id)
  );
}
