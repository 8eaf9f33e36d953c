/** An attempt's log: live, followed or paused, searched, copied, saved. Its size never matters: only a bounded part is held. */
import { ActionIcon, Button, Menu, SegmentedControl, Tooltip, useComputedColorScheme } from '@mantine/core';
import {
  useCallback,
  useEffect,
  useRef,
  useState,
  type KeyboardEvent,
  type ReactNode,
  type RefObject,
} from 'react';
import type { LogCut } from '../../../core/formats/log-cut.js';
import { useDesktop } from '../../state/desktop-context.js';
import { asRefusal } from '../../state/hooks.js';
import { log as words } from '../../strings/job.js';
import { EmptyState, ErrorState, LoadingNote, Skeleton } from '../feedback.js';
import { Icon } from '../icon.js';
import { useShortcuts } from '../shortcuts.js';
import { useToast } from '../toasts.js';
import { FindBar } from './find-bar.js';
import type { StreamChoice } from './log-source.js';
import { createLogTerminal } from './log-terminal.js';
import styles from './log-view.module.css';
import { useLogFeed, type LogFeedView, type TerminalFactory } from './use-log-feed.js';
import { WholeLogMatches, type LogMatch } from './whole-log-matches.js';

export interface LogViewProps {
  readonly attemptUid: string;
  /** Name proposed when the log is saved. */
  readonly fileName: string;
  /** Where the log may be cut; the view is made anew when that becomes known. */
  readonly cut?: LogCut | null;
  /** The attempt still runs. */
  readonly running: boolean;
  /** How it ended, or what it does now; at the foot. */
  readonly status: ReactNode;
  /** Pickers of task and attempt, at the head. */
  readonly pickers?: ReactNode;
  readonly makeTerminal?: TerminalFactory;
}

const skeletonWidths = ['38%', '62%', '54%', '70%', '46%', '58%', '33%', '66%'];

export function LogView(props: LogViewProps) {
  const { attemptUid, fileName, running, status, pickers, cut = null } = props;
  const { makeTerminal = createLogTerminal } = props;
  const { bridge } = useDesktop();
  const toast = useToast();
  const scheme = useComputedColorScheme('light');
  const [choice, setChoice] = useState<StreamChoice>('both');
  const [finding, setFinding] = useState(false);
  const [findRequest, setFindRequest] = useState(0);
  const [text, setText] = useState('');
  const [matchCase, setMatchCase] = useState(false);
  const [wholeText, setWholeText] = useState<string | null>(null);
  const [screenReader, setScreenReader] = useState(false);
  const goTo = useRef<LogMatch | null>(null);
  const body = useRef<HTMLDivElement>(null);
  const view = useLogFeed({ attemptUid, choice, scheme, cut, makeTerminal });
  const { parts, state } = view;

  // Each choice of stream makes a terminal anew, without it.
  useEffect(() => {
    if (screenReader) parts?.terminal.setScreenReader(true);
  }, [parts, screenReader]);

  const toggleFollow = () => {
    parts?.feed.setFollowing(!state.following);
  };
  const openFind = () => {
    setFinding(true);
    setFindRequest((count) => count + 1);
  };
  const closeFind = () => {
    setFinding(false);
    setWholeText(null);
    parts?.terminal.endFind();
    view.clearMatches();
    body.current?.focus();
  };
  useShortcuts(words.keysTitle, [
    { keys: 'f', label: words.keyFollow, run: toggleFollow },
    { keys: ['/', 'mod+f'], label: words.keyFind, run: openFind },
  ]);

  const find = useCallback(
    (wanted: string, direction: 'next' | 'previous' | 'same', exact: boolean) => {
      if (parts === null) return;
      if (wanted !== '') parts.feed.setFollowing(false);
      parts.terminal.find(wanted, direction, exact);
    },
    [parts],
  );

  const showMatch = useCallback(() => {
    const match = goTo.current;
    if (match === null || parts === null || parts.choice !== choice) return;
    if (choice !== 'both' && choice !== match.stream) return;
    goTo.current = null;
    const place = { out: 0, err: 0, [match.stream]: match.offset };
    void parts.feed.showAround(place).then((row) => {
      parts.terminal.selectRow(row);
    });
  }, [parts, choice]);
  // A match of the whole log is shown once its stream is the one on the screen.
  useEffect(showMatch, [showMatch]);
  const choose = (match: LogMatch) => {
    goTo.current = match;
    // Both streams have one order only from mark to mark; one stream has a row for every byte.
    const alone = choice === match.stream || state.size[match.stream === 'out' ? 'err' : 'out'] === 0;
    if (alone) showMatch();
    else setChoice(match.stream);
  };

  const copy = async () => {
    if (parts === null) return;
    try {
      await navigator.clipboard.writeText(parts.terminal.text());
      toast({ tone: 'info', text: words.copied });
    } catch {
      toast({ tone: 'error', text: words.copyFailed });
    }
  };
  const save = async () => {
    try {
      const saved = await bridge.saveText(fileName, attemptUid, choice === 'both' ? 'merged' : choice);
      if (saved !== null) toast({ tone: 'info', text: words.saved(saved.path) });
    } catch (error) {
      toast({ tone: 'error', text: words.saveFailed(asRefusal(error).message) });
    }
  };

  const onKeys = (event: KeyboardEvent) => {
    if (parts === null) return;
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'c') {
      if (!parts.terminal.hasSelection()) return;
      event.preventDefault();
      void copy();
      return;
    }
    const move = event.ctrlKey || event.metaKey || event.altKey ? undefined : moves[event.key];
    if (move === undefined) return;
    event.preventDefault();
    parts.terminal.scroll(move);
  };

  return (
    <section className={styles['view']} aria-label={words.region}>
      <div className={styles['toolbar']}>
        {pickers}
        <SegmentedControl
          aria-label={words.streams}
          value={choice}
          onChange={(value) => {
            setWholeText(null);
            setChoice(value);
          }}
          data={(['both', 'out', 'err'] as const).map((value) => ({ value, label: words[value] }))}
        />
        <span className={styles['space']} />
        <Tooltip label={words.keyFollow}>
          <Button
            variant={state.following ? 'light' : 'default'}
            aria-pressed={state.following}
            leftSection={<Icon name="follow" size={14} />}
            onClick={toggleFollow}
          >
            {words.follow}
          </Button>
        </Tooltip>
        <Tooltip label={words.keyFind}>
          <ActionIcon aria-label={words.find} onClick={openFind}>
            <Icon name="search" />
          </ActionIcon>
        </Tooltip>
        <Tooltip label={words.copy}>
          <ActionIcon aria-label={words.copy} onClick={() => void copy()}>
            <Icon name="copy" />
          </ActionIcon>
        </Tooltip>
        <Tooltip label={words.saveHint}>
          <ActionIcon aria-label={words.save} onClick={() => void save()}>
            <Icon name="download" />
          </ActionIcon>
        </Tooltip>
        <Menu position="bottom-end">
          <Menu.Target>
            <ActionIcon aria-label={words.more}>
              <Icon name="more" />
            </ActionIcon>
          </Menu.Target>
          <Menu.Dropdown>
            <Menu.CheckboxItem
              checked={screenReader}
              onChange={(on) => {
                if (!on) parts?.terminal.setScreenReader(false);
                setScreenReader(on);
              }}
            >
              {words.screenReader}
            </Menu.CheckboxItem>
          </Menu.Dropdown>
        </Menu>
      </div>
      {finding ? (
        <FindBar
          text={text}
          matchCase={matchCase}
          matches={view.matches}
          focusRequest={findRequest}
          onText={(value) => {
            setText(value);
            find(value, 'same', matchCase);
          }}
          onMatchCase={(on) => {
            setMatchCase(on);
            find(text, 'same', on);
          }}
          onStep={(direction) => {
            find(text, direction, matchCase);
          }}
          onWholeLog={() => {
            setWholeText(text);
          }}
          onClose={closeFind}
        />
      ) : null}
      {wholeText === null ? null : (
        <WholeLogMatches
          key={`${wholeText} ${String(matchCase)}`}
          attemptUid={attemptUid}
          choice={choice}
          text={wholeText}
          matchCase={matchCase}
          onChoose={choose}
          onClose={() => {
            setWholeText(null);
          }}
        />
      )}
      {state.error === null ? null : (
        <div className={styles['error']}>
          <ErrorState what={words.what} refusal={state.error} inline onRetry={() => parts?.feed.retry()} />
        </div>
      )}
      <LogBody
        body={body}
        view={view}
        running={running}
        choice={choice}
        onChoice={setChoice}
        onKeys={onKeys}
      />
      <footer className={styles['footer']}>
        {status}
        <span className={styles['space']} />
        {choice === 'both' && state.size.err > 0 ? (
          <span className={`${styles['legend'] ?? ''} iris-muted`}>{words.errLegend}</span>
        ) : null}
        <span className="iris-muted">{words.sizes(state.size.out, state.size.err)}</span>
      </footer>
    </section>
  );
}

const moves: Readonly<Record<string, 'up' | 'down' | 'pageUp' | 'pageDown' | 'top' | 'bottom'>> = {
  ArrowUp: 'up',
  ArrowDown: 'down',
  PageUp: 'pageUp',
  PageDown: 'pageDown',
  Home: 'top',
  End: 'bottom',
};

interface LogBodyProps {
  readonly body: RefObject<HTMLDivElement | null>;
  readonly view: LogFeedView;
  readonly running: boolean;
  readonly choice: StreamChoice;
  readonly onChoice: (choice: StreamChoice) => void;
  readonly onKeys: (event: KeyboardEvent) => void;
}

function LogBody({ body, view, running, choice, onChoice, onKeys }: LogBodyProps) {
  const { attach, parts, state, place, other } = view;
  const empty = !state.loading && state.size.out + state.size.err === 0 && state.error === null;
  const first = state.loading && state.size.out + state.size.err === 0;
  return (
    <div
      className={styles['body']}
      ref={body}
      tabIndex={0}
      role="group"
      aria-label={words.region}
      data-complete={state.complete && !state.loading}
      onKeyDown={onKeys}
    >
      <div className={styles['frame']} ref={attach} />
      {first ? (
        <div className={styles['cover']}>
          <LoadingNote />
          <div className={styles['skeleton']}>
            {skeletonWidths.map((width) => (
              <Skeleton key={width} width={width} />
            ))}
          </div>
        </div>
      ) : null}
      {empty ? (
        <div className={styles['cover']}>
          <Nothing choice={choice} other={other} running={running} onChoice={onChoice} />
        </div>
      ) : null}
      {state.earlier > 0 && place.atTop && !state.loading ? (
        <div className={styles['earlier']}>
          <span className="iris-muted">{words.earlier(state.earlier)}</span>
          <Button variant="subtle" onClick={() => parts?.feed.loadEarlier()}>
            {words.loadEarlier}
          </Button>
        </div>
      ) : null}
      {!state.following && !empty && (!place.atBottom || state.behind > 0) ? (
        <div className={styles['newer']}>
          <span className="iris-muted">{state.behind > 0 ? words.newer(state.behind) : words.paused}</span>
          <Button
            variant="subtle"
            leftSection={<Icon name="follow" size={14} />}
            onClick={() => parts?.feed.setFollowing(true)}
          >
            {words.jumpToEnd}
          </Button>
        </div>
      ) : null}
    </div>
  );
}

interface NothingProps {
  readonly choice: StreamChoice;
  /** Bytes on the stream that is not shown. */
  readonly other: number;
  readonly running: boolean;
  readonly onChoice: (choice: StreamChoice) => void;
}

function Nothing({ choice, other, running, onChoice }: NothingProps) {
  if (choice !== 'both' && other > 0) {
    const elsewhere = choice === 'out' ? 'err' : 'out';
    return (
      <EmptyState
        title={words.emptyStream(words[choice], words[elsewhere])}
        action={
          <Button
            variant="default"
            onClick={() => {
              onChoice(elsewhere);
            }}
          >
            {words.showOther(words[elsewhere])}
          </Button>
        }
      >
        {''}
      </EmptyState>
    );
  }
  return running ? (
    <EmptyState title={words.emptyRunning}>{words.emptyRunningBody}</EmptyState>
  ) : (
    <EmptyState title={words.emptyEnded}>{words.emptyEndedBody}</EmptyState>
  );
}
