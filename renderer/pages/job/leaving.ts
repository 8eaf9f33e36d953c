/** What an attempt was told before it had to leave, and what it had saved by then. */
import type { AttemptView } from '../../../core/contract/views.js';
import { formatClock, queue as words } from '../../strings/queue.js';

type Leaving = Pick<
  AttemptView,
  'noticeAtMs' | 'checkpointAtMs' | 'finishedAtMs' | 'signal' | 'state' | 'startedAtMs'
>;

/** Attempts that were cut off by others: what they did since their last checkpoint has to be done again. */
const cutOff = new Set<AttemptView['state']>(['PREEMPTED', 'WORKER_FAILED', 'COSCHED_FAILED']);

export function leavingTexts(attempt: Leaving, graceMs: number): string[] {
  const { noticeAtMs, checkpointAtMs, finishedAtMs, signal, state } = attempt;
  const texts: string[] = [];
  if (noticeAtMs !== null) {
    const told = formatClock(noticeAtMs, noticeAtMs);
    const at = (ms: number) => formatClock(ms, noticeAtMs);
    if (finishedAtMs === null) texts.push(words.toldStill(told, at(noticeAtMs + graceMs)));
    else if (signal === 'SIGKILL') texts.push(words.toldKilled(told, at(finishedAtMs)));
    else texts.push(words.toldGone(told, at(finishedAtMs)));
  }
  if (checkpointAtMs !== null) {
    const at = formatClock(checkpointAtMs, finishedAtMs ?? checkpointAtMs);
    const lostMs = finishedAtMs === null ? 0 : finishedAtMs - checkpointAtMs;
    texts.push(cutOff.has(state) && lostMs >= 1000 ? words.checkpointLost(at, lostMs) : words.checkpoint(at));
  }
  return texts;
}
