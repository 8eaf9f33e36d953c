/**
 * One desktop notification for each root job that ends while the desktop runs, and for each warning its owner is to know while a job
 * goes on. What is from before is never told again: it is in the app's own list. Where the desktop has no notifications, that list is all there is.
 */
import { RefusalError, type ErrorCode } from '../../core/contract/errors.js';
import type { InboxItem } from '../../core/contract/views.js';
import {
  advance,
  idleGrouping,
  offer,
  type GroupingState,
  type GroupingStep,
} from './notification-grouping.js';
import { notificationText, type NotificationText } from './notification-text.js';
import type { ShellClient } from './shell-client.js';

/** The list could not be read, as when the database is busy: asked again after that. */
const askAgainMs = 5000;

/** Said of the controller and its connection alone. */
const away: ReadonlySet<ErrorCode> = new Set(['UNAVAILABLE', 'DISCONNECTED']);

/** Ends looked up after a gap; more than that at once is a flood the list tells better. */
const mostCaughtUp = 200;

export interface NotificationsOptions {
  readonly client: Pick<ShellClient, 'call' | 'subscribe'>;
  readonly supported: () => boolean;
  readonly paused: () => boolean;
  /** Shows one; `clicked` at most once. */
  readonly show: (text: NotificationText, clicked: () => void) => void;
  /** One job, or null for several: then the list of those that ended is opened. */
  readonly open: (jobId: string | null) => void;
  readonly nowMs: () => number;
  readonly setTimer: (run: () => void, ms: number) => () => void;
  readonly log: (line: string) => void;
}

/** Returns the function that ends it. */
export function startNotifications(options: NotificationsOptions): () => void {
  let grouping: GroupingState<InboxItem> = idleGrouping();
  let cancelTimer: (() => void) | null = null;
  let cancelAgain: (() => void) | null = null;
  /** Highest id known; null until the list was asked once. */
  let lastId: number | null = null;
  /** Deltas that came before the answer about the list. */
  let early: InboxItem[] = [];
  let stopped = false;

  function apply(step: GroupingStep<InboxItem>): void {
    grouping = step.state;
    cancelTimer?.();
    cancelTimer = null;
    if (step.wakeAtMs !== null && !stopped) {
      cancelTimer = options.setTimer(
        () => apply(advance(grouping, options.nowMs())),
        Math.max(1, step.wakeAtMs - options.nowMs()),
      );
    }
    for (const group of step.show) show(group);
  }

  function show(items: readonly InboxItem[]): void {
    // Asked again at the showing: the user may have paused while these were held back.
    if (options.paused() || !options.supported()) return;
    const only = items.length === 1 ? items[0] : undefined;
    options.show(notificationText(items), () => options.open(only?.jobId ?? null));
  }

  function take(items: readonly InboxItem[]): void {
    if (lastId === null) {
      early = [...early, ...items].slice(-mostCaughtUp);
      return;
    }
    for (const item of [...items].sort((left, right) => left.id - right.id)) {
      if (item.id <= lastId) continue;
      lastId = item.id;
      if (!item.read && !options.paused()) apply(offer(grouping, item, options.nowMs()));
    }
  }

  /** On the first connection: where we begin. After a gap: what we missed while we ran. */
  async function synchronise(): Promise<void> {
    cancelAgain?.();
    cancelAgain = null;
    try {
      const { items } = await options.client.call('inbox.list', {
        limit: lastId === null ? 1 : mostCaughtUp,
      });
      if (stopped) return;
      if (lastId === null) {
        // What was told meanwhile has ended since we listen, though the list has it too.
        const told = early.flatMap((item) => (item.read ? [] : [item.id - 1]));
        lastId = Math.min(items[0]?.id ?? 0, ...told);
        take(early.splice(0));
      } else take(items);
    } catch (error) {
      options.log(
        `The list of ended jobs cannot be read: ${error instanceof Error ? error.message : String(error)}`,
      );
      // The next connection begins with a snapshot, and asks itself.
      if (error instanceof RefusalError && away.has(error.refusal.code)) return;
      // Without it nothing would ever be told.
      if (!stopped) cancelAgain ??= options.setTimer(() => void synchronise(), askAgainMs);
    }
  }

  const leave = options.client.subscribe(
    'inbox',
    {},
    () => void synchronise(),
    (value) => take(value.items),
  );
  return () => {
    stopped = true;
    leave();
    cancelTimer?.();
    cancelAgain?.();
    early = [];
  };
}
