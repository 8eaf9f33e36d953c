/** One terminal and one feed for an attempt's log, alive as long as the element they are drawn in. */
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import type { TopicSnapshot } from '../../../core/contract/api.js';
import { useDesktop } from '../../state/desktop-context.js';
import { createStore } from '../../state/store.js';
import type { LogCut } from '../../../core/formats/log-cut.js';
import { useStore } from '../../state/use-store.js';
import { log as words } from '../../strings/job.js';
import { createLogFeed, type FeedState, type LogFeed } from './log-feed.js';
import { createLogSource, logStart, type StreamChoice } from './log-source.js';
import type { createLogTerminal, LogTerminal, MatchCount, ScrollPlace } from './log-terminal.js';
import styles from './log-view.module.css';

/** Makes a terminal in an element; tests put another in its place. */
export type TerminalFactory = typeof createLogTerminal;

export interface LogFeedOptions {
  readonly attemptUid: string;
  readonly choice: StreamChoice;
  readonly scheme: 'light' | 'dark';
  /** The same for as long as the view is there. */
  readonly cut: LogCut | null;
  readonly makeTerminal: TerminalFactory;
}

export interface LogParts {
  readonly terminal: LogTerminal;
  readonly feed: LogFeed;
  /** What this feed shows: for one render after another choice it is still the former. */
  readonly choice: StreamChoice;
}

export interface LogFeedView {
  /** Given to the element the log is drawn in; what is in it is made and removed here. */
  readonly attach: (frame: HTMLElement | null) => (() => void) | undefined;
  /** Null until the element is there. */
  readonly parts: LogParts | null;
  readonly state: FeedState;
  readonly place: ScrollPlace;
  readonly matches: MatchCount | null;
  /** Bytes of the stream that is not shown. */
  readonly other: number;
  readonly clearMatches: () => void;
}

const loadingState: FeedState = {
  loading: true,
  error: null,
  following: true,
  behind: 0,
  earlier: 0,
  size: logStart,
  complete: false,
};
const noFeed = createStore(loadingState);

function timer(run: () => void, ms: number): () => void {
  const handle = setTimeout(run, ms);
  return () => {
    clearTimeout(handle);
  };
}

export function useLogFeed({ attemptUid, choice, scheme, cut, makeTerminal }: LogFeedOptions): LogFeedView {
  const { host: controller } = useDesktop();
  const [other, setOther] = useState(0);
  const [parts, setParts] = useState<LogParts | null>(null);
  const [place, setPlace] = useState<ScrollPlace>({ atTop: true, atBottom: true });
  const [matches, setMatches] = useState<MatchCount | null>(null);
  const startScheme = useRef(scheme);
  const [startCut] = useState(cut);

  useEffect(() => {
    startScheme.current = scheme;
    parts?.terminal.setScheme(scheme);
  }, [parts, scheme]);

  const attach = useCallback(
    (frame: HTMLElement | null) => {
      if (frame === null) return undefined;
      const margin = frame.ownerDocument.createElement('div');
      const host = frame.ownerDocument.createElement('div');
      margin.className = styles['margin'] ?? '';
      host.className = styles['terminal'] ?? '';
      frame.append(margin, host);
      let feed: LogFeed | null = null;
      const terminal = makeTerminal(host, margin, {
        scheme: startScheme.current,
        onReaderScrolled(where) {
          if (feed === null) return;
          const { following, behind } = feed.state.get();
          if (following && !where.atBottom) feed.setFollowing(false);
          else if (!following && where.atBottom) {
            if (behind === 0) feed.setFollowing(true);
            else feed.readOn();
          }
        },
        onMoved(where) {
          setPlace((before) =>
            before.atTop === where.atTop && before.atBottom === where.atBottom ? before : where,
          );
        },
        onResized() {
          feed?.resized();
        },
        onMatches: setMatches,
      });
      const made = createLogFeed({
        source: createLogSource(controller, attemptUid, choice),
        choice,
        screen: terminal.screen,
        gapText: words.gap,
        cut: startCut === null ? null : { place: startCut, text: words.cutBy[startCut.by ?? 'disk'] },
        setTimer: timer,
      });
      feed = made;
      const told = (how: 'began' | 'grown') => (value: TopicSnapshot<'log'>) => {
        made[how]({ out: value.outSize, err: value.errSize }, value.complete, value.heard);
        setOther(choice === 'both' ? 0 : choice === 'out' ? value.errSize : value.outSize);
      };
      const leave = controller.subscribe(
        'log',
        { attemptUid },
        {
          snapshot: told('began'),
          delta: told('grown'),
          ended(reason) {
            made.failed(reason);
          },
        },
      );
      setParts({ terminal, feed: made, choice });
      setMatches(null);
      return () => {
        leave();
        made.close();
        terminal.dispose();
        frame.replaceChildren();
        setParts(null);
      };
    },
    [attemptUid, choice, controller, makeTerminal, startCut],
  );

  const state = useStore(parts?.feed.state ?? noFeed);
  return useMemo(
    () => ({
      attach,
      parts,
      state,
      place,
      matches,
      other,
      clearMatches: () => {
        setMatches(null);
      },
    }),
    [attach, parts, state, place, matches, other],
  );
}
