/** One client's subscription, with what waits to be sent to it. */
import type { TopicDelta, TopicName } from '../../core/contract/api.js';
import type { HostFrame } from '../../core/contract/protocol.js';
import type { InboxItem, JobSummary, TaskView } from '../../core/contract/views.js';

export type Send = (frame: HostFrame) => void;

export interface Subscription {
  readonly id: number;
  readonly topic: TopicName;
  /** The job, attempt or machine's address it is about; empty for topics without one. */
  readonly key: string;
  /** Of `jobs`: the rows are of no use to it. */
  readonly countsOnly: boolean;
  readonly send: Send;
  seq: number;
  awaitingAck: boolean;
  /** A snapshot is being made; deltas wait for it. */
  loading: boolean;
  stale: boolean;
  /** A snapshot was sent. */
  begun: boolean;
  /** When the first of the readings failed that have all failed since; null: the last one did not. */
  failsSinceMs: number | null;
  dirty: boolean;
  lastSentMs: number;
  timer: NodeJS.Timeout | null;
  /** Null: to be made when it is sent. */
  readonly rows: Map<string, JobSummary | null>;
  readonly removed: Set<string>;
  readonly tasks: Map<string, TaskView>;
  /** The job's line, if it could not be made later. */
  summary: JobSummary | null;
  /** The job changed; its line is to be made when it is sent. */
  touched: boolean;
  log: TopicDelta<'log'> | null;
  readonly inbox: Map<number, InboxItem>;
  ended: boolean;
}

export function keyOf(filter: object): string {
  if ('jobId' in filter && typeof filter.jobId === 'string') return filter.jobId;
  if ('attemptUid' in filter && typeof filter.attemptUid === 'string') return filter.attemptUid;
  if ('address' in filter && typeof filter.address === 'string') return filter.address;
  return '';
}

export function clearPending(subscription: Subscription): void {
  subscription.rows.clear();
  subscription.removed.clear();
  subscription.tasks.clear();
  subscription.summary = null;
  subscription.touched = false;
  subscription.log = null;
  subscription.inbox.clear();
}
