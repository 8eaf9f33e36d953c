/**
 * Feeds a log to a terminal: from the tail, as it grows, with back-pressure. What is on the screen stays bounded: when far behind while
 * following it skips to the end with a marked gap; when the reader has scrolled up it fetches nothing more. Knows no terminal and no
 * React; timers come from outside.
 */
import { asRefusal } from '../../state/hooks.js';
import type { Refusal } from '../../../core/contract/errors.js';
import type { ReadableStore } from '../../state/store.js';
import { createStore } from '../../state/store.js';
import { createComposer, type Composer, type ComposerOptions, type StreamName } from './composer.js';
import { largest, placeBefore, portions, startOf, total } from './log-pages.js';
import { rowsOf } from './log-rows.js';
import {
  bytesBetween,
  logStart,
  type LogPage,
  type LogPlace,
  type LogSource,
  type StreamChoice,
} from './log-source.js';

/** The terminal as the feed needs it. */
export interface LogScreen {
  /** `done` is called when the text has been drawn. */
  readonly write: (text: string, done: () => void) => void;
  /** Empties screen, scrollback and style. */
  readonly clear: () => void;
  readonly columns: number;
  /** Index of the row the cursor is on, from the top of the scrollback. */
  readonly cursorRow: () => number;
  readonly scrollToRow: (row: number) => void;
  readonly scrollToEnd: () => void;
}

export interface FeedState {
  /** Nothing was answered yet. */
  readonly loading: boolean;
  readonly error: Refusal | null;
  /** At the end and staying there; false while the reader looks at what was before. */
  readonly following: boolean;
  /** Bytes that exist after what is shown. */
  readonly behind: number;
  /** Bytes before what is shown; 0 when the start is on the screen. */
  readonly earlier: number;
  readonly size: LogPlace;
  /** Nothing more will come. */
  readonly complete: boolean;
}

export interface FeedOptions {
  readonly source: LogSource;
  /** What the source reads; sizes of the other stream do not count then. */
  readonly choice: StreamChoice;
  readonly screen: LogScreen;
  readonly gapText: (bytes: number) => string;
  /** Where the log itself may lack something. */
  readonly cut?: ComposerOptions['cut'];
  readonly setTimer: (run: () => void, ms: number) => () => void;
}

/** The unfinished lines as they were printed last, where the log does not have that. */
export type LogHeard = Readonly<Record<StreamName, string>>;

export interface LogFeed {
  readonly state: ReadableStore<FeedState>;
  /** The `log` topic begins, or begins anew: what failed while it was away is tried again. */
  readonly began: LogFeed['grown'];
  /** What the `log` topic tells. */
  readonly grown: (size: LogPlace, complete: boolean, heard?: LogHeard) => void;
  /** The `log` topic was ended by the controller: nothing will tell of growth any more. */
  readonly failed: (reason: Refusal) => void;
  readonly setFollowing: (following: boolean) => void;
  /** Shows about one page before what is shown; the reader stays where they were. */
  readonly loadEarlier: () => void;
  /** Shows what is around a byte of the log. Resolves to the row of that byte once it is drawn. */
  readonly showAround: (place: LogPlace) => Promise<number>;
  /** The reader is at the last row while not following: the next page comes. */
  readonly readOn: () => void;
  readonly retry: () => void;
  /** The terminal has another width. */
  readonly resized: () => void;
  readonly close: () => void;
}

/** Read at once; also the most that is in flight to the terminal. */
export const pageBytes = 256 * 1024;
/** Shown at the start, and by each 'Load earlier'. */
export const windowBytes = 1024 * 1024;
/** Further behind than this while following, the rest is skipped. */
export const skipBytes = 4 * 1024 * 1024;
/** Shown below the place somebody asked for. */
const beyondBytes = 16 * 1024;
/** Rows the terminal keeps; the feed forgets the starts of what has left it. */
export const scrollbackLines = 20_000;
const settleMs = 250;

interface FedPage {
  readonly from: LogPlace;
  readonly rows: number;
}

const nothingHeard: LogHeard = { out: '', err: '' };

const startState: FeedState = {
  loading: true,
  error: null,
  following: true,
  behind: 0,
  earlier: 0,
  size: logStart,
  complete: false,
};

export function createLogFeed(options: FeedOptions): LogFeed {
  const { source, screen } = options;
  const state = createStore(startState);
  let composer = makeComposer();
  /** Everything before it is on the screen or was skipped; null before the first page. */
  let cursor: LogPlace | null = null;
  let fed: FedPage[] = [];
  /** Not following: read until so many bytes of both streams together are before the cursor. */
  let readTo = 0;
  /** Raised by whatever makes what is being read useless. */
  let generation = 0;
  let reading = false;
  let closed = false;
  /** Read through a function: it changes while something is awaited. */
  const isClosed = () => closed;
  let cancelSettle: (() => void) | null = null;
  /** Set by loadEarlier and showAround: called once the cursor has reached that place. */
  let landmark: { readonly place: LogPlace; readonly reached: (row: number) => void } | null = null;

  let arrival: (() => void) | null = null;
  let heard: LogHeard = nothingHeard;

  function makeComposer(): Composer {
    const made = createComposer({
      markErrors: options.choice === 'both',
      gapText: options.gapText,
      cut: options.cut ?? null,
    });
    made.setColumns(screen.columns);
    return made;
  }

  function set(change: Partial<FeedState>): void {
    const next = { ...state.get(), ...change };
    const at = cursor ?? logStart;
    const first = fed[0]?.from ?? at;
    state.set({
      ...next,
      behind: cursor === null ? 0 : bytesBetween(at, next.size),
      earlier: bytesBetween(logStart, first),
    });
  }

  /** Empties the screen; what is read next starts anew. */
  function restart(): void {
    generation += 1;
    arrival = null;
    composer = makeComposer();
    fed = [];
    cancelSettle?.();
    cancelSettle = null;
    screen.clear();
  }

  function draw(text: string): Promise<void> {
    return text === ''
      ? Promise.resolve()
      : new Promise((done) => {
          screen.write(text, done);
        });
  }

  function remember(from: LogPlace, text: string): void {
    fed.push({ from, rows: rowsOf(text, screen.columns) });
    let kept = 0;
    for (let index = fed.length - 1; index > 0; index -= 1) {
      kept += fed[index]?.rows ?? 0;
      if (kept < scrollbackLines) continue;
      fed = fed.slice(index);
      return;
    }
  }

  /** What to read next, or null when nothing is wanted now. */
  function nextRead(): { from: LogPlace | 'tail'; maxBytes: number; skips: boolean } | null {
    const { following, size } = state.get();
    if (cursor === null) return { from: 'tail', maxBytes: windowBytes, skips: false };
    const behind = bytesBetween(cursor, size);
    if (!following) {
      if (behind === 0 || (landmark === null && total(cursor) >= readTo)) return null;
      // A page that ends at the landmark makes its row exact.
      const toLandmark = landmark === null ? 0 : bytesBetween(cursor, landmark.place);
      return {
        from: cursor,
        maxBytes: Math.min(pageBytes, toLandmark > 0 ? toLandmark : Math.max(1, readTo - total(cursor))),
        skips: false,
      };
    }
    if (behind > skipBytes) return { from: 'tail', maxBytes: windowBytes, skips: true };
    return behind > 0 ? { from: cursor, maxBytes: pageBytes, skips: false } : null;
  }

  async function pump(): Promise<void> {
    if (reading || isClosed()) return;
    reading = true;
    try {
      for (;;) {
        const wanted = nextRead();
        if (wanted === null || state.get().error !== null) {
          if (cursor !== null && state.get().loading) set({ loading: false });
          arrival?.();
          arrival = null;
          return;
        }
        const mine = generation;
        const page = await source.read(wanted.from, wanted.maxBytes);
        if (isClosed()) return;
        if (mine !== generation) continue;
        await take(page, wanted.skips);
        if (isClosed()) return;
      }
    } catch (error) {
      if (!isClosed()) set({ loading: false, error: asRefusal(error) });
    } finally {
      reading = false;
    }
  }

  async function take(page: LogPage, skips: boolean): Promise<void> {
    const before = cursor;
    const first = startOf(page);
    // What was held back is in the composer's next text, and must not be drawn between two parts of it.
    cancelSettle?.();
    cancelSettle = null;
    const parts: string[] = [];
    if (skips && before !== null) {
      const missed = bytesBetween(before, first);
      if (missed > 0) parts.push(composer.gap(missed));
    }
    for (const portion of portions(page, before === null || skips ? first : before)) {
      const text = composer.push(portion.chunks);
      remember(portion.from, text);
      parts.push(text);
    }
    // An answer without progress would be asked for again at once, for ever.
    const stuck = before !== null && bytesBetween(before, page.next) === 0;
    cursor = page.next;
    const size = stuck ? page.next : largest(page.size, state.get().size);
    set({ loading: false, size, complete: page.complete || state.get().complete });
    const mine = generation;
    for (const text of parts) {
      await draw(text);
      if (isClosed() || mine !== generation) return;
    }
    if (isClosed() || mine !== generation) return;
    const { behind } = state.get();
    if (landmark !== null && (behind === 0 || bytesBetween(page.next, landmark.place) === 0)) {
      // Told once what comes below it is drawn too: only then can the view be put there.
      const { reached } = landmark;
      const row = screen.cursorRow();
      landmark = null;
      arrival = () => {
        reached(row);
      };
    }
    if (state.get().following) screen.scrollToEnd();
    settleSoon();
    cover();
  }

  /** Only behind the end of the log, which is what it goes on from. */
  function cover(): void {
    const { behind, following } = state.get();
    if (cursor !== null) void draw(composer.cover(behind === 0 && following ? heard : nothingHeard));
  }

  function settleSoon(): void {
    cancelSettle?.();
    const settle = () => {
      cancelSettle = null;
      void draw(composer.settle());
    };
    cancelSettle = options.setTimer(settle, settleMs);
  }

  /** Reads forward from a place that is not the end, up to `to`, which becomes the landmark. */
  function readFrom(from: LogPlace, to: LogPlace): Promise<number> {
    restart();
    cursor = from;
    readTo = total(to) + beyondBytes;
    set({ following: false, loading: true, error: null });
    return new Promise((resolve) => {
      landmark = { place: to, reached: resolve };
      void pump();
    });
  }

  function grown(size: LogPlace, complete: boolean, last: LogHeard = nothingHeard): void {
    heard = {
      out: options.choice === 'err' ? '' : last.out,
      err: options.choice === 'out' ? '' : last.err,
    };
    const counted: LogPlace = {
      out: options.choice === 'err' ? 0 : size.out,
      err: options.choice === 'out' ? 0 : size.err,
    };
    set({ size: largest(counted, state.get().size), complete });
    if (!reading) cover();
    void pump();
  }

  return {
    state,
    began(size, complete, last) {
      if (state.get().error !== null) set({ error: null, loading: cursor === null });
      grown(size, complete, last);
    },
    grown,
    failed(reason) {
      // Nobody would take it off again.
      heard = nothingHeard;
      if (!reading) cover();
      set({ loading: false, error: reason });
    },
    setFollowing(following) {
      if (state.get().following === following) return;
      readTo = 0;
      landmark = null;
      set({ following });
      if (!following) return;
      screen.scrollToEnd();
      if (!reading) cover();
      void pump();
    },
    loadEarlier() {
      const first = fed[0]?.from ?? cursor;
      if (first === null || bytesBetween(logStart, first) === 0) return;
      void readFrom(placeBefore(first, windowBytes), first).then((row) => {
        screen.scrollToRow(row);
      });
    },
    showAround(place) {
      return readFrom(placeBefore(place, pageBytes), place);
    },
    readOn() {
      const { following, behind } = state.get();
      if (following || cursor === null || reading) return;
      if (behind === 0) return;
      readTo = total(cursor) + pageBytes;
      void pump();
    },
    retry() {
      set({ error: null, loading: cursor === null });
      void pump();
    },
    resized() {
      composer.setColumns(screen.columns);
    },
    close() {
      closed = true;
      cancelSettle?.();
    },
  };
}
