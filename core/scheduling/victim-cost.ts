/** What a set of victims costs, compared part by part. Sets are compared within a threshold: the best band any victim may have. */
import { compareTexts } from '../model/sorted-list.js';
import type { Victim } from './holdings.js';

export interface Cost {
  /** Times they were preempted before. */
  preemptions: number;
  /** Value x seconds of work since their last checkpoints, counted once more for each time the victim was preempted before. */
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
    left.lost - right.lost ||
    left.preemptions - right.preemptions ||
    left.value - right.value ||
    left.count - right.count ||
    compareTexts(left.id, right.id)
  );
}

/** `compareCosts` of the cost with that victim in it, without making it. */
export function compareWith(cost: Cost, victim: Victim, other: Cost): number {
  return (
    cost.lost + victim.lost - other.lost ||
    cost.preemptions + victim.preemptions - other.preemptions ||
    cost.value + victim.value - other.value ||
    cost.count + 1 - other.count ||
    compareTexts(cost.count === 0 || victim.id < cost.id ? victim.id : cost.id, other.id)
  );
}

/** Worse band first, then less work lost, less often preempted, less value, smaller id. */
export function compareVictims(left: Victim, right: Victim): number {
  return (
    right.rank - left.rank ||
    left.lost - right.lost ||
    left.preemptions - right.preemptions ||
    left.value - right.value ||
    compareTexts(left.id, right.id)
  );
}
