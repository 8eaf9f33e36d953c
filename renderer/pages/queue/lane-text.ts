/** A bar in words: for the hover, screen readers and the table. */
import type { LaneItem } from '../../../core/contract/queue.js';
import { bandWords } from '../../strings/budgets.js';
import { formatClock, laneStateWord, queue as words } from '../../strings/queue.js';

export interface BarText {
  readonly name: string;
  readonly state: string;
  readonly user: string;
  readonly band: string;
  readonly startAt: string;
  readonly start: string;
  readonly end: string;
}

const over = new Set<LaneItem['state']>([
  'SUCCEEDED',
  'FAILED',
  'KILLED',
  'WORKER_FAILED',
  'PREEMPTED',
  'COSCHED_FAILED',
]);

export function barText(item: LaneItem, nowMs: number): BarText {
  const at = (ms: number) => formatClock(ms, nowMs);
  return {
    name: item.jobName,
    state: laneStateWord(item.state),
    user: item.user,
    band: bandWords[item.band],
    startAt: at(item.fromMs),
    start: `${item.state === 'PROMISED' ? words.promisedSince : words.from} ${at(item.fromMs)}`,
    end:
      item.state === 'PROMISED'
        ? words.waitsForPlace
        : item.toMs === null
          ? words.noEnd
          : `${over.has(item.state) ? words.endedAt : words.endsBy} ${at(item.toMs)}`,
  };
}

export function barSentence(item: LaneItem, where: string, nowMs: number): string {
  const text = barText(item, nowMs);
  return `${text.name}, ${text.state}, ${text.user}, ${text.band}, ${where}. ${text.start}. ${text.end}`;
}
