/** Audit rows as lines; only those in view are drawn. Older ones are asked for when the end comes near. */
import { Button } from '@mantine/core';
import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useRef } from 'react';
import type { AuditEvent } from '../../../core/contract/views.js';
import { jobRoute, machineRoute, routeHash } from '../../app/router.js';
import { RelativeTime } from '../time.js';
import { Dash } from '../values.js';
import { actionWord, activity as words } from '../../strings/activity.js';
import { detailRecord, detailText } from '../../strings/audit-detail.js';
import styles from './audit-list.module.css';
import type { AuditFeed } from './use-audit.js';

export interface AuditListProps {
  readonly feed: AuditFeed;
  /** Those of the feed to be shown. */
  readonly events: readonly AuditEvent[];
  /** All are of one thing, so it is not named in each line. */
  readonly withEntity: boolean;
}

const rowHeight = 30;
const loadBefore = 20;

/** Where an entity is shown; null for what has no page. */
function entityHash(entity: string): string | null {
  if (entity.startsWith('machine/')) return routeHash(machineRoute(entity.slice('machine/'.length)));
  const parts = entity.split('/').filter((part) => part !== '');
  if (!entity.startsWith('/') || parts.length < 2) return null;
  // A task or an attempt is shown with its job.
  const last = parts.at(-1) ?? '';
  const job = parts.length > 2 && /^\d+(:\d+)?$/.test(last) ? parts.slice(0, -1) : parts;
  return routeHash(jobRoute(`/${job.join('/')}`));
}

export function AuditList({ feed, events, withEntity }: AuditListProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: events.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    getItemKey: (index) => events[index]?.id ?? index,
    overscan: 12,
  });
  const items = virtual.getVirtualItems();
  const lastShown = items.at(-1)?.index ?? 0;
  const { more, loadingOlder, older } = feed;
  const nearEnd = events.length > 0 && lastShown >= events.length - loadBefore && feed.refusal === null;
  useEffect(() => {
    if (nearEnd && more && !loadingOlder) older();
  }, [nearEnd, more, loadingOlder, older]);

  return (
    <div className={styles['scroller']} ref={scroller} tabIndex={0} role="region" aria-label={words.list}>
      <div
        role="table"
        aria-label={words.list}
        aria-rowcount={more ? -1 : events.length + 1}
        data-entity={withEntity || undefined}
        className={styles['table']}
      >
        <div role="row" className={`${styles['row'] ?? ''} ${styles['head'] ?? ''}`}>
          <span role="columnheader">{words.when}</span>
          <span role="columnheader">{words.who}</span>
          <span role="columnheader">{words.action}</span>
          {withEntity ? <span role="columnheader">{words.entity}</span> : null}
          <span role="columnheader">{words.detail}</span>
        </div>
        <div role="rowgroup" className={styles['body']} style={{ height: virtual.getTotalSize() }}>
          {items.map((item) => {
            const event = events[item.index];
            if (event === undefined) return null;
            return (
              <div
                key={item.key}
                role="row"
                aria-rowindex={item.index + 2}
                className={`${styles['row'] ?? ''} ${styles['item'] ?? ''}`}
                style={{ transform: `translateY(${item.start}px)` }}
              >
                <Cells event={event} withEntity={withEntity} />
              </div>
            );
          })}
        </div>
      </div>
      {feed.refusal === null || !feed.loaded ? null : (
        <p className={styles['failed']} role="alert">
          {words.olderFailed(feed.refusal.message)}{' '}
          <Button variant="subtle" size="compact-xs" onClick={older}>
            {words.older}
          </Button>
        </p>
      )}
      {loadingOlder ? (
        <p className={styles['note']} role="status">
          {words.loadingOlder}
        </p>
      ) : null}
    </div>
  );
}

function Cells({ event, withEntity }: { readonly event: AuditEvent; readonly withEntity: boolean }) {
  const detail = detailText(event.detail);
  const hash = entityHash(event.entity);
  return (
    <>
      <span role="cell">
        <RelativeTime atMs={event.atMs} long />
      </span>
      <span role="cell" className={`iris-ellipsis ${event.actor === words.controller ? 'iris-muted' : ''}`}>
        {event.actor}
      </span>
      <span role="cell" className="iris-ellipsis" title={event.action}>
        {actionWord(event.action)}
      </span>
      {withEntity ? (
        <span role="cell" className="iris-mono iris-ellipsis" title={event.entity}>
          {hash === null ? event.entity : <a href={hash}>{event.entity}</a>}
        </span>
      ) : null}
      <span
        role="cell"
        className={`${styles['detail'] ?? ''} iris-ellipsis`}
        title={detailRecord(event.detail)}
      >
        {detail === '' ? <Dash reason={words.noDetail} /> : detail}
      </span>
    </>
  );
}
