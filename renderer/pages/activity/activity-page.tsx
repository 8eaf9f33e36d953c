/** Activity: what was done, by whom, of what; newest first, live, as far back as it is kept. */
import { Button, Select, TextInput } from '@mantine/core';
import { useEffect, useMemo, useRef, useState } from 'react';
import { activityRoute, replaceRoute } from '../../app/router.js';
import { AuditList } from '../../components/audit/audit-list.js';
import { useAudit, type AuditFeed } from '../../components/audit/use-audit.js';
import { EmptyState, ErrorState, LoadingNote, Skeleton } from '../../components/feedback.js';
import { Icon } from '../../components/icon.js';
import { PageHeader } from '../../components/page-header.js';
import { useShortcuts } from '../../components/shortcuts.js';
import { actionWord, activity as words } from '../../strings/activity.js';
import styles from './activity-page.module.css';

export interface ActivityPageProps {
  /** Path of what it is of; empty for everything. */
  readonly entity: string;
}

/** What is typed is asked for once it rests. */
const restMs = 300;

export function ActivityPage({ entity }: ActivityPageProps) {
  const feed = useAudit(entity === '' ? null : entity, null);
  const [text, setText] = useState(entity);
  const [asked, setAsked] = useState(entity);
  // The address changed by itself (back, a link, the rail): the field follows.
  if (entity !== asked) {
    setAsked(entity);
    setText(entity);
  }
  const [actor, setActor] = useState('');
  const [action, setAction] = useState('');
  const field = useRef<HTMLInputElement>(null);
  useShortcuts(words.keysTitle, [{ keys: '/', label: words.keyFilter, run: () => field.current?.focus() }]);
  useEffect(() => {
    const wanted = text.trim();
    if (wanted === entity) return undefined;
    const timer = setTimeout(() => {
      setAsked(wanted);
      replaceRoute(activityRoute(wanted));
    }, restMs);
    return () => {
      clearTimeout(timer);
    };
  }, [text, entity]);

  const { events } = feed;
  const actors = useMemo(() => [...new Set(events.map((event) => event.actor))].sort(), [events]);
  const actions = useMemo(
    () =>
      [...new Set(events.map((event) => event.action))]
        .map((value) => ({ value, label: actionWord(value) }))
        .sort((a, b) => (a.label < b.label ? -1 : 1)),
    [events],
  );
  const shown = useMemo(
    () =>
      events.filter(
        (event) => (actor === '' || event.actor === actor) && (action === '' || event.action === action),
      ),
    [events, actor, action],
  );
  const filtered = text.trim() !== '' || actor !== '' || action !== '';
  return (
    <>
      <PageHeader
        title={words.title}
        aside={
          feed.loaded ? (
            <span className="iris-muted" role="status">
              {words.shown(events.length, feed.more)}
            </span>
          ) : null
        }
      />
      <div className={styles['filters']} role="group" aria-label={words.filters}>
        <TextInput
          ref={field}
          className={styles['entity'] ?? ''}
          classNames={{ input: 'iris-mono' }}
          aria-label={words.entityField}
          placeholder={words.entityExample}
          leftSection={<Icon name="search" size={14} />}
          spellCheck={false}
          value={text}
          onChange={(event) => {
            setText(event.currentTarget.value);
          }}
        />
        <Select
          aria-label={words.actorField}
          data={[{ value: '', label: words.actorAll }, ...actors]}
          allowDeselect={false}
          value={actor}
          onChange={(value) => {
            setActor(value ?? '');
          }}
        />
        <Select
          aria-label={words.actionField}
          data={[{ value: '', label: words.actionAll }, ...actions]}
          allowDeselect={false}
          value={action}
          onChange={(value) => {
            setAction(value ?? '');
          }}
        />
        {filtered ? (
          <Button
            variant="subtle"
            onClick={() => {
              setText('');
              setActor('');
              setAction('');
            }}
          >
            {words.clear}
          </Button>
        ) : null}
      </div>
      <Body feed={feed} shown={shown} filtered={filtered} />
    </>
  );
}

interface BodyProps {
  readonly feed: AuditFeed;
  readonly shown: AuditFeed['events'];
  readonly filtered: boolean;
}

function Body({ feed, shown, filtered }: BodyProps) {
  if (feed.refusal !== null && !feed.loaded) {
    return <ErrorState what={words.what} refusal={feed.refusal} onRetry={feed.retry} />;
  }
  if (!feed.loaded) {
    return (
      <div className={styles['skeleton']}>
        <LoadingNote />
        {[70, 62, 76, 58, 66, 72].map((width) => (
          <Skeleton key={width} width={`${width}%`} />
        ))}
      </div>
    );
  }
  if (shown.length > 0) return <AuditList feed={feed} events={shown} withEntity />;
  if (!filtered) {
    return (
      <EmptyState icon="activity" title={words.emptyTitle} example={words.emptyExample}>
        {words.emptyBody}
      </EmptyState>
    );
  }
  return (
    <div className={styles['nothing']}>
      <p className="iris-muted">{words.nothing}</p>
      {feed.more ? (
        <Button variant="default" loading={feed.loadingOlder} onClick={feed.older}>
          {words.lookFurther}
        </Button>
      ) : null}
    </div>
  );
}
