/** What ended, newest first, behind the bell: kept whether or not the desktop showed it. */
import { ActionIcon, Button, Popover, Switch, UnstyledButton } from '@mantine/core';
import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import type { InboxItem } from '../../core/contract/views.js';
import { ErrorState, LoadingNote, Skeleton } from '../components/feedback.js';
import { Icon } from '../components/icon.js';
import { StateBadge } from '../components/state-badge.js';
import { RelativeTime } from '../components/time.js';
import { useToast } from '../components/toasts.js';
import { useChangeSettings } from '../components/use-change-settings.js';
import { useDesktop, useHost } from '../state/desktop-context.js';
import { asRefusal, useTopic } from '../state/hooks.js';
import { useStore } from '../state/use-store.js';
import { common, localTimes, stateWords } from '../strings/common.js';
import styles from './inbox.module.css';
import { jobRoute, navigate } from './router.js';

const pageLength = 50;
const queryKey = ['inbox.list', 'pages'] as const;

export function Inbox() {
  const [opened, setOpened] = useState(false);
  const host = useHost();
  const queries = useQueryClient();
  const topic = useTopic('inbox', {});
  const unread = topic.kind === 'live' ? topic.value.unread : 0;
  const { settings } = useDesktop();
  const paused = useStore(settings).notificationsPaused;

  // The number alone does not tell of an item that came as another was read, so items are listened to as well.
  useEffect(
    () =>
      host.subscribe(
        'inbox',
        {},
        {
          snapshot() {
            void queries.invalidateQueries({ queryKey });
          },
          delta() {
            void queries.invalidateQueries({ queryKey });
          },
        },
      ),
    [host, queries],
  );

  return (
    <Popover
      opened={opened}
      onChange={setOpened}
      position="top-end"
      width={400}
      trapFocus
      returnFocus
      // The list has a name of its own; by Mantine's roles it would be named by the bell and its number.
      withRoles={false}
    >
      <Popover.Target>
        <UnstyledButton
          className={styles['bell']}
          aria-label={unread > 0 ? common.inboxUnread(unread) : common.inbox}
          title={common.inbox}
          aria-expanded={opened}
          aria-haspopup="dialog"
          onClick={() => {
            setOpened(!opened);
          }}
        >
          <Icon name={paused ? 'bell-off' : 'bell'} size={14} />
          {unread > 0 ? <span className={styles['count']}>{unread > 99 ? '99+' : unread}</span> : null}
        </UnstyledButton>
      </Popover.Target>
      <Popover.Dropdown p={0} role="dialog" tabIndex={-1} aria-label={common.inbox}>
        {opened ? (
          <InboxList
            unread={unread}
            onDone={() => {
              setOpened(false);
            }}
          />
        ) : null}
      </Popover.Dropdown>
    </Popover>
  );
}

function InboxList({ unread, onDone }: { readonly unread: number; readonly onDone: () => void }) {
  const desktop = useDesktop();
  const { host } = desktop;
  const toast = useToast();
  const changeSettings = useChangeSettings();
  const paused = useStore(desktop.settings).notificationsPaused;
  const list = useInfiniteQuery({
    queryKey,
    initialPageParam: null as number | null,
    queryFn: ({ pageParam }) =>
      host.call('inbox.list', { limit: pageLength, ...(pageParam === null ? {} : { beforeId: pageParam }) }),
    getNextPageParam: (page) => (page.items.length < pageLength ? null : (page.items.at(-1)?.id ?? null)),
  });
  const items = list.data?.pages.flatMap((page) => page.items) ?? [];

  const markRead = (ids?: number[]) => {
    host.call('inbox.read', ids === undefined ? {} : { ids }).catch((error: unknown) => {
      toast({ tone: 'error', text: asRefusal(error).message });
    });
  };

  return (
    <>
      <div className={styles['head']}>
        <h2>{common.inbox}</h2>
        <Button
          variant="subtle"
          disabled={unread === 0}
          onClick={() => {
            markRead();
          }}
        >
          {common.inboxMarkAll}
        </Button>
        <ActionIcon aria-label={common.close} onClick={onDone}>
          <Icon name="cross" size={14} />
        </ActionIcon>
      </div>
      <div className={styles['list']} tabIndex={0} role="group" aria-label={common.inbox}>
        {list.isPending ? (
          <>
            <LoadingNote />
            {[0, 1, 2].map((line) => (
              <div key={line} className={styles['skeleton']}>
                <Skeleton width={140 + line * 20} />
                <Skeleton width={220 - line * 30} />
              </div>
            ))}
          </>
        ) : list.isError ? (
          <ErrorState
            what={common.inbox}
            refusal={asRefusal(list.error)}
            onRetry={() => {
              void list.refetch();
            }}
          />
        ) : items.length === 0 ? (
          <p className={styles['empty']}>{common.inboxEmpty}</p>
        ) : (
          items.map((item) => (
            <InboxLine
              key={item.id}
              item={item}
              onOpen={() => {
                if (!item.read) markRead([item.id]);
                navigate(jobRoute(item.jobId));
                onDone();
              }}
            />
          ))
        )}
        {list.hasNextPage ? (
          <Button
            variant="subtle"
            fullWidth
            loading={list.isFetchingNextPage}
            onClick={() => {
              void list.fetchNextPage();
            }}
          >
            {common.inboxMore}
          </Button>
        ) : null}
      </div>
      <div className={styles['foot']}>
        <Switch
          label={common.inboxPause}
          checked={paused}
          onChange={(event) => {
            changeSettings({ notificationsPaused: event.currentTarget.checked });
          }}
        />
      </div>
    </>
  );
}

function InboxLine({ item, onOpen }: { readonly item: InboxItem; readonly onOpen: () => void }) {
  const cause = item.cause === null ? null : localTimes(item.cause.message);
  return (
    <UnstyledButton className={styles['line']} data-unread={!item.read || undefined} onClick={onOpen}>
      <span className={styles['top']}>
        <StateBadge state={item.state} />
        <span className={`${styles['name'] ?? ''} iris-ellipsis`}>{item.jobName}</span>
        <span className="iris-muted">
          <RelativeTime atMs={item.atMs} long />
        </span>
      </span>
      <span className={`${styles['cause'] ?? ''} iris-ellipsis`} title={cause ?? undefined}>
        {cause ?? common.endedAfter(stateWords[item.state], item.durationMs)}
      </span>
    </UnstyledButton>
  );
}
