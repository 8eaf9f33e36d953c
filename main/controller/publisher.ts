/**
 * Subscriptions: a snapshot, then deltas with sequence numbers. At most one delta in flight a subscription and ten a second;
 * between them the last value of an entity wins. A client that falls too far behind gets a new snapshot instead.
 */
import type { TopicDelta, TopicFilter, TopicName, TopicSnapshot } from '../../core/contract/api.js';
import { RefusalError, refusal, type Refusal } from '../../core/contract/errors.js';
import { clearPending, keyOf, type Send, type Subscription } from './subscription.js';
import { deltaOf, snapshotOf, type TopicSources } from './topic-values.js';
import type { InboxItem, JobSummary, TaskView } from '../../core/contract/views.js';

/** Ten deltas a second; the overview is costlier to make and slower to change. */
const minGapMs: Readonly<Record<TopicName, number>> = {
  jobs: 100,
  job: 100,
  log: 100,
  overview: 500,
  budgets: 500,
  queue: 500,
  inbox: 100,
  questions: 100,
  images: 200,
  status: 500,
};

/** Entities that may wait for one slow subscription before it is given a snapshot instead. */
const maxPending = 2000;

/** From a reading that failed to the next. */
const readAgainMs = 1000;
/** What fails for longer is told of: what is shown is old by then. */
const failsForMs = 10_000;

/** The delta of these is the whole again, so both ways make the same value. */
const sentWhole: ReadonlySet<TopicName> = new Set(['overview', 'budgets', 'queue', 'questions', 'images']);

export interface Changes {
  /** Lines of jobs that changed, where they must be made now. */
  readonly jobs: readonly JobSummary[];
  /** Jobs that changed and stay in memory: their lines are made when they are sent. */
  readonly touched: readonly string[];
  /** Tasks that changed, by job. */
  readonly tasks: ReadonlyMap<string, readonly TaskView[]>;
  readonly removed: readonly string[];
}

export interface SubscriptionHandle {
  /** Confirmed by the client: the next delta may go. */
  acknowledge(seq: number): void;
  end(): void;
}

export class Publisher {
  private readonly byTopic = new Map<TopicName, Set<Subscription>>();
  private readonly interests = new Map<string, number>();
  /** Of logs somebody follows, by attempt: what whoever comes later is to see as well. */
  private readonly heard = new Map<string, NonNullable<TopicDelta<'log'>['heard']>>();

  constructor(
    private readonly sources: TopicSources,
    private readonly monotonicMs: () => number,
    private readonly failed: (error: unknown) => void,
  ) {}

  subscribe<T extends TopicName>(
    id: number,
    topic: T,
    filter: TopicFilter<T>,
    send: Send,
  ): SubscriptionHandle {
    const subscription: Subscription = {
      id,
      topic,
      key: keyOf(filter),
      countsOnly: 'countsOnly' in filter && filter.countsOnly === true,
      send,
      seq: 0,
      awaitingAck: false,
      loading: false,
      stale: true,
      begun: false,
      failsSinceMs: null,
      dirty: false,
      lastSentMs: Number.NEGATIVE_INFINITY,
      timer: null,
      rows: new Map(),
      removed: new Set(),
      tasks: new Map(),
      summary: null,
      touched: false,
      log: null,
      inbox: new Map(),
      ended: false,
    };
    this.members(topic).add(subscription);
    this.count(subscription, 1);
    this.advance(subscription);
    return {
      acknowledge: (seq) => {
        if (subscription.seq !== seq) return;
        subscription.awaitingAck = false;
        this.advance(subscription);
      },
      end: () => this.end(subscription),
    };
  }

  wants(topic: 'job' | 'log', key: string): boolean {
    for (const subscription of this.members(topic)) if (subscription.key === key) return true;
    return false;
  }

  hasSubscribers(topic: TopicName): boolean {
    return this.members(topic).size > 0;
  }

  /** Somebody looks at jobs or tasks, not at their counts alone. */
  wantsRows(): boolean {
    for (const subscription of this.members('jobs')) if (!subscription.countsOnly) return true;
    return (['job', 'overview', 'queue'] as const).some((topic) => this.hasSubscribers(topic));
  }

  /** Rows of jobs were written: for who wants no rows. */
  countsChanged(): void {
    for (const subscription of this.members('jobs')) if (subscription.countsOnly) this.touch(subscription, 0);
  }

  /** Nothing in it: the counts alone. */
  changed(changes: Changes): void {
    const rows = changes.jobs.length + changes.touched.length + changes.removed.length;
    for (const subscription of this.members('jobs')) {
      if (subscription.countsOnly && rows > 0) continue;
      for (const row of changes.jobs) subscription.rows.set(row.id, row);
      for (const id of changes.touched) subscription.rows.set(id, null);
      for (const id of changes.removed) {
        subscription.rows.delete(id);
        subscription.removed.add(id);
      }
      this.touch(subscription, subscription.rows.size + subscription.removed.size);
    }
    for (const subscription of this.members('job')) {
      const summary = changes.jobs.find((row) => row.id === subscription.key);
      const tasks = changes.tasks.get(subscription.key) ?? [];
      const touched = changes.touched.includes(subscription.key);
      if (summary === undefined && !touched && tasks.length === 0) continue;
      if (summary !== undefined) subscription.summary = summary;
      if (touched) subscription.touched = true;
      for (const task of tasks) subscription.tasks.set(task.id, task);
      this.touch(subscription, subscription.tasks.size);
    }
    for (const topic of ['overview', 'queue'] as const)
      for (const subscription of this.members(topic)) this.touch(subscription, 0);
  }

  logGrew(attemptUid: string, value: TopicDelta<'log'>): void {
    if (value.heard === undefined) this.heard.delete(attemptUid);
    else if (this.wants('log', attemptUid)) this.heard.set(attemptUid, value.heard);
    for (const subscription of this.members('log')) {
      if (subscription.key !== attemptUid) continue;
      subscription.log = value;
      this.touch(subscription, 0);
    }
  }

  /** The default limit follows the machines. */
  machinesChanged(): void {
    for (const subscription of this.members('overview')) this.touch(subscription, 0);
    this.budgetsChanged();
    this.sources.machinesSeen();
  }

  budgetsChanged(): void {
    for (const subscription of this.members('budgets')) this.touch(subscription, 0);
  }

  inboxChanged(items: readonly InboxItem[]): void {
    for (const subscription of this.members('inbox')) {
      for (const item of items) subscription.inbox.set(item.id, item);
      this.touch(subscription, subscription.inbox.size);
    }
  }

  questionsChanged(): void {
    for (const subscription of this.members('questions')) this.touch(subscription, 0);
  }

  imagesChanged(): void {
    for (const subscription of this.members('images')) this.touch(subscription, 0);
  }

  statusChanged(): void {
    for (const subscription of this.members('status')) this.touch(subscription, 0);
  }

  /** Ends every subscription with the reason. */
  close(reason: Refusal): void {
    for (const members of this.byTopic.values()) {
      for (const subscription of [...members]) {
        subscription.send({ kind: 'refused', id: subscription.id, refusal: reason });
        this.end(subscription);
      }
    }
  }

  private members(topic: TopicName): Set<Subscription> {
    let members = this.byTopic.get(topic);
    if (members === undefined) {
      members = new Set();
      this.byTopic.set(topic, members);
    }
    return members;
  }

  private touch(subscription: Subscription, pending: number): void {
    subscription.dirty = true;
    if (pending > maxPending) {
      clearPending(subscription);
      subscription.stale = true;
    }
    this.advance(subscription);
  }

  /** Sends what is due, or sets the timer for it. */
  private advance(subscription: Subscription): void {
    if (subscription.ended || subscription.awaitingAck || subscription.loading || subscription.timer !== null)
      return;
    if (!subscription.stale && !subscription.dirty) return;
    const waitMs = subscription.lastSentMs + minGapMs[subscription.topic] - this.monotonicMs();
    if (waitMs > 0) {
      subscription.timer = setTimeout(() => {
        subscription.timer = null;
        this.advance(subscription);
      }, waitMs);
      return;
    }
    if (subscription.stale || sentWhole.has(subscription.topic)) void this.sendFull(subscription);
    else this.sendDelta(subscription);
  }

  private async sendFull(subscription: Subscription): Promise<void> {
    subscription.loading = true;
    const asDelta = !subscription.stale;
    subscription.stale = false;
    subscription.dirty = false;
    try {
      const made = await snapshotOf(this.sources, subscription);
      const heard = subscription.topic === 'log' ? this.heard.get(subscription.key) : undefined;
      const value = heard === undefined ? made : { ...(made as TopicSnapshot<'log'>), heard };
      if (subscription.ended) return;
      subscription.lastSentMs = this.monotonicMs();
      subscription.awaitingAck = true;
      subscription.begun = true;
      subscription.failsSinceMs = null;
      if (asDelta) {
        subscription.seq += 1;
        subscription.send({ kind: 'delta', id: subscription.id, seq: subscription.seq, value });
      } else {
        subscription.seq = 0;
        subscription.send({ kind: 'snapshot', id: subscription.id, value });
      }
    } catch (error) {
      if (!(error instanceof RefusalError)) this.failed(error);
      if (subscription.ended) return;
      // Who was told of it once need not know that its next reading failed, when that may pass and does so soon.
      if (subscription.begun && mayPass(error) && !this.failsForLong(subscription)) {
        if (error instanceof RefusalError) this.failed(error);
        this.later(subscription);
        return;
      }
      const reason =
        error instanceof RefusalError
          ? error.refusal
          : refusal(
              'INTERNAL',
              `The ${subscription.topic} topic could not be read; the host's log says why.`,
            );
      subscription.send({ kind: 'refused', id: subscription.id, refusal: reason });
      this.end(subscription);
    } finally {
      subscription.loading = false;
    }
  }

  private sendDelta(subscription: Subscription): void {
    if (subscription.topic === 'inbox') {
      void this.sendInbox(subscription);
      return;
    }
    const value = deltaOf(this.sources, subscription);
    subscription.dirty = false;
    clearPending(subscription);
    if (value === null) return;
    this.emitDelta(subscription, value);
  }

  private async sendInbox(subscription: Subscription): Promise<void> {
    subscription.loading = true;
    subscription.dirty = false;
    const items = [...subscription.inbox.values()];
    subscription.inbox.clear();
    try {
      const unread = await this.sources.unread();
      if (!subscription.ended) this.emitDelta(subscription, { items, unread } satisfies TopicDelta<'inbox'>);
    } catch (error) {
      this.failed(error);
      // What was to be told is known to the list: a snapshot has it looked up there.
      subscription.failsSinceMs ??= this.monotonicMs();
      if (!subscription.ended) this.later(subscription);
    } finally {
      subscription.loading = false;
    }
  }

  private failsForLong(subscription: Subscription): boolean {
    subscription.failsSinceMs ??= this.monotonicMs();
    return this.monotonicMs() - subscription.failsSinceMs > failsForMs;
  }

  /** The whole of it, after a while. */
  private later(subscription: Subscription): void {
    subscription.stale = true;
    subscription.timer = setTimeout(() => {
      subscription.timer = null;
      this.advance(subscription);
    }, readAgainMs);
  }

  private emitDelta(subscription: Subscription, value: unknown): void {
    subscription.seq += 1;
    subscription.awaitingAck = true;
    subscription.lastSentMs = this.monotonicMs();
    subscription.send({ kind: 'delta', id: subscription.id, seq: subscription.seq, value });
  }

  private end(subscription: Subscription): void {
    if (subscription.ended) return;
    subscription.ended = true;
    if (subscription.timer !== null) clearTimeout(subscription.timer);
    this.members(subscription.topic).delete(subscription);
    this.count(subscription, -1);
  }

  private count(subscription: Subscription, by: 1 | -1): void {
    const { topic } = subscription;
    if (topic !== 'overview' && topic !== 'log' && topic !== 'questions' && topic !== 'images') return;
    const name = `${topic} ${subscription.key}`;
    const before = this.interests.get(name) ?? 0;
    const after = before + by;
    if (after === 0) this.interests.delete(name);
    else this.interests.set(name, after);
    if (after === 0 && topic === 'log') this.heard.delete(subscription.key);
    if (before === 0 || after === 0) this.sources.interest(topic, subscription.key, after > 0);
  }
}

/** What there is not, and what nobody may see, stays so. */
function mayPass(error: unknown): boolean {
  return !(error instanceof RefusalError) || !['NOT_FOUND', 'PERMISSION_DENIED'].includes(error.refusal.code);
}
