/** Tells those who look what a commit changed. */
import type { InboxItem } from '../../core/contract/views.js';
import type { ChangeSet } from '../../core/model/entities.js';
import { metaKeys } from '../../core/model/view.js';
import type { Backend } from '../backends/backend.js';
import type { LiveViews } from './live-views.js';
import { publishLogEnd } from './log-end.js';
import type { Logger } from './logger.js';
import type { Publisher } from './publisher.js';
import type { ReasonWatch } from './reason-watch.js';

export interface Publication {
  readonly changes: ChangeSet;
  readonly inboxIds: readonly number[];
  readonly views: LiveViews;
  readonly reasons: ReasonWatch;
  readonly backend: Backend;
  readonly logger: Logger;
}

export function publishChanges(publisher: Publisher, publication: Publication): void {
  const { changes, inboxIds, views, backend, logger } = publication;
  if (
    changes.attempts.length + changes.budgets.length + changes.uses.length > 0 ||
    changes.meta[metaKeys.halfLife] !== undefined
  )
    publisher.budgetsChanged();
  if (changes.machines.length > 0) publisher.machinesChanged();
  if (changes.jobs.length > 0) publisher.countsChanged();
  if (publisher.wantsRows()) {
    const changed = views.changed(changes, (jobId) => publisher.wants('job', jobId));
    if (changed.jobs.length + changed.touched.length > 0) publisher.changed({ ...changed, removed: [] });
    publication.reasons.soon(publisher);
  }
  for (const attempt of changes.attempts) {
    if (attempt.finishedAtMs !== null && publisher.wants('log', attempt.uid))
      void publishLogEnd(attempt.uid, publisher, { backend, logger });
  }
  const items = changes.inbox.map((entry, index): InboxItem => ({
    ...entry,
    id: inboxIds[index] ?? 0,
    read: false,
  }));
  if (items.length > 0) publisher.inboxChanged(items);
}

/** Jobs that were over and are kept no longer. */
export function publishForgotten(
  publisher: Publisher,
  views: Pick<LiveViews, 'forgotten'>,
  removed: readonly string[],
): void {
  views.forgotten(removed.length);
  publisher.changed({ jobs: [], touched: [], tasks: new Map(), removed });
  publisher.countsChanged();
}
