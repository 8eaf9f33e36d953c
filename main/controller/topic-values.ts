/** What a subscription is told: the whole of its topic, and what of it has changed. */
import type { TopicDelta, TopicSnapshot } from '../../core/contract/api.js';
import type { ImageNews } from '../../core/contract/machines.js';
import type { Question } from '../../core/contract/questions.js';
import type { Counts, HostStatus, JobSummary, Overview } from '../../core/contract/views.js';
import type { Subscription } from './subscription.js';

/** Where snapshots come from; they may be read from the database. */
export interface TopicSources {
  counts(): Counts;
  /** The line of a job in memory; null when it is not there. */
  summary(jobId: string): JobSummary | null;
  job(jobId: string): Promise<TopicSnapshot<'job'>>;
  log(attemptUid: string): Promise<TopicSnapshot<'log'>>;
  overview(): Promise<Overview>;
  budgets(): TopicSnapshot<'budgets'>;
  queue(): TopicSnapshot<'queue'>;
  unread(): Promise<number>;
  /** What is asked on the way to this machine, or (empty) to any. */
  question(address: string): Question | null;
  images(): ImageNews;
  /** There may be others, or what is known of them changed. */
  machinesSeen(): void;
  status(): HostStatus;
  /** Called when the first subscription to something begins and the last one ends. */
  interest(kind: 'overview' | 'log' | 'questions' | 'images', key: string, wanted: boolean): void;
}

export async function snapshotOf(sources: TopicSources, subscription: Subscription): Promise<unknown> {
  switch (subscription.topic) {
    case 'jobs':
      return { counts: sources.counts() } satisfies TopicSnapshot<'jobs'>;
    case 'job':
      return await sources.job(subscription.key);
    case 'log':
      return await sources.log(subscription.key);
    case 'overview':
      return await sources.overview();
    case 'budgets':
      return sources.budgets();
    case 'queue':
      return sources.queue();
    case 'inbox':
      return { unread: await sources.unread() } satisfies TopicSnapshot<'inbox'>;
    case 'questions':
      return { question: sources.question(subscription.key) } satisfies TopicSnapshot<'questions'>;
    case 'images':
      return sources.images();
    case 'status':
      return sources.status();
  }
}

/** Null: there is nothing to tell, or it is told in another way. */
export function deltaOf(sources: TopicSources, subscription: Subscription): unknown {
  switch (subscription.topic) {
    case 'jobs':
      return {
        rows: [...subscription.rows]
          .map(([id, row]) => row ?? sources.summary(id))
          .filter((row) => row !== null),
        removed: [...subscription.removed],
        counts: sources.counts(),
      } satisfies TopicDelta<'jobs'>;
    case 'job': {
      const summary = subscription.summary ?? sources.summary(subscription.key);
      if (summary === null) return null;
      return { summary, tasks: [...subscription.tasks.values()] } satisfies TopicDelta<'job'>;
    }
    case 'log':
      return subscription.log;
    case 'status':
      return sources.status();
    case 'overview':
    case 'budgets':
    case 'queue':
    case 'questions':
    case 'images':
    case 'inbox':
      return null; // made elsewhere: sent whole, or read from the database
  }
}
