/** The terminal a log is drawn in: xterm.js without input, with search, and a margin that marks the rows of stderr. */
import '@xterm/xterm/css/xterm.css';
import { FitAddon } from '@xterm/addon-fit';
import { SearchAddon } from '@xterm/addon-search';
import { Terminal } from '@xterm/xterm';
import type { LogScreen } from './log-feed.js';
import { scrollbackLines } from './log-feed.js';
import { logTheme, matchColors } from './log-colors.js';
import { errorMarkColor } from './sgr.js';

export interface ScrollPlace {
  readonly atTop: boolean;
  readonly atBottom: boolean;
}

export interface MatchCount {
  /** Position of the match that is shown, from 1; 0 when there is none. */
  readonly index: number;
  readonly total: number;
  /** There are more than are counted. */
  readonly more: boolean;
}

export interface LogTerminal {
  readonly screen: LogScreen;
  readonly setScheme: (scheme: 'light' | 'dark') => void;
  readonly setScreenReader: (on: boolean) => void;
  /** Scrolls by rows or pages, or to an end; the reader did it. */
  readonly scroll: (what: 'up' | 'down' | 'pageUp' | 'pageDown' | 'top' | 'bottom') => void;
  /** What is selected, or everything that is shown. */
  readonly text: () => string;
  readonly hasSelection: () => boolean;
  readonly selectRow: (row: number) => void;
  readonly find: (text: string, direction: 'next' | 'previous' | 'same', matchCase: boolean) => void;
  readonly endFind: () => void;
  readonly dispose: () => void;
}

export interface LogTerminalOptions {
  readonly scheme: 'light' | 'dark';
  /** The reader scrolled, by whatever means. */
  readonly onReaderScrolled: (place: ScrollPlace) => void;
  /** The view moved, by the reader or by new text. */
  readonly onMoved: (place: ScrollPlace) => void;
  readonly onResized: () => void;
  readonly onMatches: (count: MatchCount) => void;
}

const highlightLimit = 5000;
/** A scroll within this time after a wheel, key or pointer is the reader's. */
const readerMs = 400;

export function createLogTerminal(
  host: HTMLElement,
  margin: HTMLElement,
  options: LogTerminalOptions,
): LogTerminal {
  let scheme = options.scheme;
  const terminal = new Terminal({
    allowProposedApi: true,
    disableStdin: true,
    cursorStyle: 'bar',
    cursorInactiveStyle: 'none',
    fontFamily: getComputedStyle(host).getPropertyValue('--iris-mono').trim() || 'monospace',
    fontSize: 12,
    lineHeight: 1.3,
    scrollback: scrollbackLines,
    minimumContrastRatio: 4.5,
    theme: logTheme(scheme, host),
    overviewRuler: { width: 10 },
    // Nothing in a log is a link to follow.
    linkHandler: { activate: () => undefined },
  });
  const fit = new FitAddon();
  const search = new SearchAddon({ highlightLimit });
  terminal.loadAddon(fit);
  terminal.loadAddon(search);
  terminal.open(host);
  terminal.write(hideCursor);
  // Keys belong to the window; text is selected with the pointer, and the log's own element takes the focus.
  if (terminal.textarea !== undefined) {
    terminal.textarea.tabIndex = -1;
    terminal.textarea.disabled = true;
  }

  let readerAtMs = 0;
  const readerActs = () => {
    readerAtMs = performance.now();
  };
  const place = (): ScrollPlace => {
    const { viewportY, baseY } = terminal.buffer.active;
    return { atTop: viewportY === 0, atBottom: viewportY >= baseY };
  };
  let lastViewport = 0;
  const moved = () => {
    const { viewportY } = terminal.buffer.active;
    if (viewportY !== lastViewport && performance.now() - readerAtMs < readerMs)
      options.onReaderScrolled(place());
    lastViewport = viewportY;
    options.onMoved(place());
  };
  const pointerMoves = (event: PointerEvent) => {
    if (event.buttons !== 0) readerActs();
  };
  const wheel = (event: WheelEvent) => {
    readerActs();
    // Down at the end moves nothing, but the reader has said where they want to be.
    if (event.deltaY > 0 && place().atBottom) options.onReaderScrolled(place());
  };
  // In the capture phase: the terminal keeps what it handles to itself.
  host.addEventListener('wheel', wheel, { passive: true, capture: true });
  host.addEventListener('pointerdown', readerActs, true);
  host.addEventListener('pointermove', pointerMoves, true);

  const disposables = [
    terminal.onRender(() => {
      moved();
      drawMargin(terminal, margin);
    }),
    terminal.onResize(() => {
      options.onResized();
    }),
    search.onDidChangeResults(({ resultIndex, resultCount }) => {
      options.onMatches({ index: resultIndex + 1, total: resultCount, more: resultCount >= highlightLimit });
    }),
  ];
  const refit = () => {
    if (host.clientWidth > 0 && host.clientHeight > 0) fit.fit();
  };
  refit();
  const observer = new ResizeObserver(refit);
  observer.observe(host);

  return {
    screen: {
      write(text, done) {
        terminal.write(text, done);
      },
      clear() {
        terminal.write(`\x1bc${hideCursor}`);
      },
      get columns() {
        return terminal.cols;
      },
      cursorRow: () => terminal.buffer.active.baseY + terminal.buffer.active.cursorY,
      scrollToRow(row) {
        terminal.scrollToLine(row);
      },
      scrollToEnd() {
        terminal.scrollToBottom();
      },
    },
    setScheme(next) {
      scheme = next;
      terminal.options.theme = logTheme(scheme, host);
    },
    setScreenReader(on) {
      terminal.options.screenReaderMode = on;
    },
    scroll(what) {
      readerActs();
      if (what === 'top') terminal.scrollToTop();
      else if (what === 'bottom') terminal.scrollToBottom();
      else if (what === 'pageUp' || what === 'pageDown') terminal.scrollPages(what === 'pageUp' ? -1 : 1);
      else terminal.scrollLines(what === 'up' ? -1 : 1);
      if (place().atBottom) options.onReaderScrolled(place());
    },
    text() {
      if (terminal.hasSelection()) return terminal.getSelection();
      terminal.selectAll();
      const all = terminal.getSelection();
      terminal.clearSelection();
      return all.trimEnd();
    },
    hasSelection: () => terminal.hasSelection(),
    selectRow(row) {
      terminal.scrollToLine(Math.max(0, row - Math.floor(terminal.rows / 3)));
      terminal.selectLines(row, row);
    },
    find(text, direction, matchCase) {
      const how = { caseSensitive: matchCase, decorations: matchColors(scheme) };
      if (text === '') search.clearDecorations();
      else if (direction === 'previous') search.findPrevious(text, how);
      else search.findNext(text, { ...how, incremental: direction === 'same' });
    },
    endFind() {
      search.clearDecorations();
      terminal.clearSelection();
    },
    dispose() {
      observer.disconnect();
      host.removeEventListener('wheel', wheel, true);
      host.removeEventListener('pointerdown', readerActs, true);
      host.removeEventListener('pointermove', pointerMoves, true);
      for (const disposable of disposables) disposable.dispose();
      terminal.dispose();
      margin.replaceChildren();
    },
  };
}

const hideCursor = '\x1b[?25l';

/** One bar beside each run of rows whose text is stderr's. */
function drawMargin(terminal: Terminal, margin: HTMLElement): void {
  const buffer = terminal.buffer.active;
  const rowHeight = (terminal.element?.querySelector('.xterm-screen')?.clientHeight ?? 0) / terminal.rows;
  const bars: HTMLElement[] = [];
  let start = -1;
  for (let row = 0; row <= terminal.rows; row += 1) {
    const marked = row < terminal.rows && isErrorRow(terminal, buffer.viewportY + row);
    if (marked && start < 0) start = row;
    if (marked || start < 0) continue;
    const bar = margin.ownerDocument.createElement('span');
    bar.style.top = `${start * rowHeight}px`;
    bar.style.height = `${(row - start) * rowHeight}px`;
    bars.push(bar);
    start = -1;
  }
  const key = bars.map((bar) => `${bar.style.top} ${bar.style.height}`).join();
  if (margin.dataset['bars'] === key) return;
  margin.dataset['bars'] = key;
  margin.replaceChildren(...bars);
}

function isErrorRow(terminal: Terminal, row: number): boolean {
  const line = terminal.buffer.active.getLine(row);
  if (line === undefined) return false;
  for (let column = 0; column < line.length; column += 1) {
    const cell = line.getCell(column);
    if (cell === undefined) return false;
    // Erased cells keep the colour in force; only a cell with text says whose row it is.
    if (cell.getChars().trim() !== '') return cell.isBgPalette() && cell.getBgColor() === errorMarkColor;
  }
  return false;
}
