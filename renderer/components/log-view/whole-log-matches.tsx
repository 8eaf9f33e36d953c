/** Lines of the whole log that hold a text, also those that are not shown; a click shows the place. */
import { ActionIcon, Button } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import { formatSize } from '../../../core/formats/sizes.js';
import { asRefusal } from '../../state/hooks.js';
import { useHost } from '../../state/desktop-context.js';
import { log as words } from '../../strings/job.js';
import { ErrorState } from '../feedback.js';
import { Icon } from '../icon.js';
import type { StreamName } from './composer.js';
import type { StreamChoice } from './log-source.js';
import styles from './log-view.module.css';
import { plainLine } from './plain-line.js';

export interface LogMatch {
  readonly stream: StreamName;
  readonly offset: number;
  readonly line: string;
}

export interface WholeLogMatchesProps {
  readonly attemptUid: string;
  readonly choice: StreamChoice;
  readonly text: string;
  readonly matchCase: boolean;
  readonly onChoose: (match: LogMatch) => void;
  readonly onClose: () => void;
}

const pageSize = 200;

export function WholeLogMatches(props: WholeLogMatchesProps) {
  const { attemptUid, choice, text, matchCase, onChoose, onClose } = props;
  const host = useHost();
  const query = useInfiniteQuery({
    queryKey: ['log.search', attemptUid, choice, text, matchCase],
    initialPageParam: choice === 'both' ? { out: 0, err: 0 } : { [choice]: 0 },
    queryFn: async ({ pageParam }) => {
      const matches: LogMatch[] = [];
      const next: Partial<Record<StreamName, number>> = {};
      for (const stream of ['out', 'err'] as const) {
        const offset = pageParam[stream];
        if (offset === undefined) continue;
        const answer = await host.call('log.search', {
          attemptUid,
          stream,
          text,
          matchCase,
          offset,
          limit: pageSize,
        });
        for (const match of answer.matches) matches.push({ stream, ...match });
        if (answer.nextOffset !== null) next[stream] = answer.nextOffset;
      }
      return { matches, next };
    },
    getNextPageParam: (last) => (Object.keys(last.next).length === 0 ? undefined : last.next),
  });
  const matches = query.data?.pages.flatMap((page) => page.matches) ?? [];
  // One answer looks through a part of a long log: that nothing was in it says nothing of the rest.
  const { fetchNextPage } = query;
  const goesOn = matches.length === 0 && query.hasNextPage && !query.isFetching && query.error === null;
  const parts = query.data?.pages.length ?? 0;
  useEffect(() => {
    if (goesOn) void fetchNextPage();
  }, [goesOn, parts, fetchNextPage]);

  return (
    <section className={styles['matches']} aria-label={words.findInFile}>
      <div className={styles['matchesHead']}>
        <span role="status">
          {query.isFetching || goesOn
            ? words.searchingFile
            : words.fileMatches(matches.length, query.hasNextPage)}
        </span>
        <span className={styles['space']} />
        {query.hasNextPage && !query.isFetching ? (
          <Button
            variant="subtle"
            onClick={() => {
              void query.fetchNextPage();
            }}
          >
            {words.searchMore}
          </Button>
        ) : null}
        <ActionIcon aria-label={words.closeMatches} onClick={onClose}>
          <Icon name="cross" size={14} />
        </ActionIcon>
      </div>
      {query.error === null ? null : (
        <ErrorState
          what={words.what}
          refusal={asRefusal(query.error)}
          inline
          onRetry={() => {
            void query.refetch();
          }}
        />
      )}
      {matches.map((match) => (
        <button
          key={`${match.stream} ${match.offset}`}
          type="button"
          className={styles['match']}
          onClick={() => {
            onChoose(match);
          }}
        >
          <span className={styles['matchPlace']}>
            {words[match.stream]} {formatSize(match.offset)}
          </span>
          <span className="iris-mono iris-ellipsis">{plainLine(match.line)}</span>
        </button>
      ))}
    </section>
  );
}
