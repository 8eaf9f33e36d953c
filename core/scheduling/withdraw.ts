/** An eviction whose notice was not sent yet is taken back when nothing promised needs what it would free. */
import { compareTexts } from '../model/sorted-list.js';
import type { Held, Holdings } from './holdings.js';
import type { Working } from './working.js';

/** Uids, a gang's members together or not at all. */
export function withdrawNeedless(holdings: Holdings, working: Working): string[] {
  const units = new Map<string, Held[]>();
  if (holdings.asked.size === 0) return [];
  for (const held of holdings.asked.values()) {
    const { attempt } = held;
    const key = attempt.gang ? attempt.jobId : attempt.taskId;
    const unit = units.get(key);
    if (unit === undefined) units.set(key, [held]);
    else unit.push(held);
  }
  const withdrawn: string[] = [];
  for (const [, members] of [...units].sort(([left], [right]) => compareTexts(left, right))) {
    const stayed: Held[] = [];
    for (const member of members) {
      if (!working.isSpare(member)) break;
      working.stay(member);
      stayed.push(member);
    }
    if (stayed.length === members.length) {
      withdrawn.push(...members.map(({ attempt }) => attempt.uid).sort());
    } else {
      for (const member of stayed) working.leave(member);
    }
  }
  return withdrawn;
}
