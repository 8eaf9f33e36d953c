/** Finds text in what is shown (next, previous, counts), and on request in everything that was printed. */
import { ActionIcon, Button, TextInput, Tooltip } from '@mantine/core';
import { useEffect, useRef } from 'react';
import { log as words } from '../../strings/job.js';
import { Icon } from '../icon.js';
import type { MatchCount } from './log-terminal.js';
import styles from './log-view.module.css';

export interface FindBarProps {
  readonly text: string;
  readonly matchCase: boolean;
  readonly matches: MatchCount | null;
  /** Raised each time `/` is pressed, to take the focus again. */
  readonly focusRequest: number;
  readonly onText: (text: string) => void;
  readonly onMatchCase: (on: boolean) => void;
  readonly onStep: (direction: 'next' | 'previous') => void;
  readonly onWholeLog: () => void;
  readonly onClose: () => void;
}

function countText(text: string, matches: MatchCount | null): string {
  if (text === '' || matches === null) return '';
  return matches.total === 0 ? words.noMatch : words.matchOf(matches.index, matches.total, matches.more);
}

export function FindBar(props: FindBarProps) {
  const { text, matchCase, matches, focusRequest, onText, onMatchCase, onStep, onWholeLog, onClose } = props;
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    field.current?.focus();
    field.current?.select();
  }, [focusRequest]);
  return (
    <div className={styles['find']} role="search">
      <TextInput
        ref={field}
        className={styles['findField'] ?? ''}
        aria-label={words.findField}
        placeholder={words.findPlaceholder}
        leftSection={<Icon name="search" size={14} />}
        value={text}
        spellCheck={false}
        onChange={(event) => {
          onText(event.currentTarget.value);
        }}
        onKeyDown={(event) => {
          if (event.key === 'Enter') {
            event.preventDefault();
            onStep(event.shiftKey ? 'previous' : 'next');
          } else if (event.key === 'Escape') {
            event.preventDefault();
            event.stopPropagation();
            onClose();
          }
        }}
      />
      <Tooltip label={words.matchCase}>
        <ActionIcon
          aria-label={words.matchCase}
          aria-pressed={matchCase}
          variant={matchCase ? 'light' : 'subtle'}
          {...(matchCase ? { color: 'iris' } : {})}
          onClick={() => {
            onMatchCase(!matchCase);
          }}
        >
          <span aria-hidden="true">Aa</span>
        </ActionIcon>
      </Tooltip>
      <ActionIcon
        aria-label={words.findPrevious}
        onClick={() => {
          onStep('previous');
        }}
      >
        <Icon name="chevron-up" />
      </ActionIcon>
      <ActionIcon
        aria-label={words.findNext}
        onClick={() => {
          onStep('next');
        }}
      >
        <Icon name="chevron-down" />
      </ActionIcon>
      <span className={`${styles['count'] ?? ''} iris-muted`} role="status">
        {countText(text, matches)}
      </span>
      <span className={styles['space']} />
      <Button variant="default" disabled={text === ''} title={words.findInFileHint} onClick={onWholeLog}>
        {words.findInFile}
      </Button>
      <ActionIcon aria-label={words.findClose} onClick={onClose}>
        <Icon name="cross" />
      </ActionIcon>
    </div>
  );
}
