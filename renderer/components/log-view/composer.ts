/**
 * Turns chunks of stdout and stderr into text for one terminal. Bytes are decoded a stream at a time (a character may be cut
 * anywhere), lines of different streams are never glued together, and a progress bar of one stream stays on the last row while the
 * other prints above it. Pure: the same chunks give the same text.
 */
import { bytesBeforeCut, type LogCut } from '../../../core/formats/log-cut.js';
import { columnsOf, firstColumns } from '../../../core/formats/terminal-text.js';
import { plainLine } from './plain-line.js';
import { createEscapeFilter, type EscapeFilter } from './escape-filter.js';
import { createStyleTracker, type StyleTracker } from './sgr.js';

export type StreamName = 'out' | 'err';

export interface LogChunk {
  readonly stream: StreamName;
  /** Byte offset in that stream. */
  readonly offset: number;
  readonly bytes: Uint8Array;
}

export interface ComposerOptions {
  /** Mark the text of stderr (only of use when both streams are shown). */
  readonly markErrors: boolean;
  /** Words of the line that stands for bytes not shown. */
  readonly gapText: (bytes: number) => string;
  /** Where the log itself may lack something, and the words of the line that says so there. */
  readonly cut?: { readonly place: LogCut; readonly text: string } | null;
}

export interface Composer {
  /** Terminal text for these chunks, which follow what came before. */
  readonly push: (chunks: readonly LogChunk[]) => string;
  /** Nothing came for a moment, or the log ended: shows what was held back until its line would end. */
  readonly settle: () => string;
  /**
   * Draws over the unfinished line what its program printed since, which is not in the log yet (see the topic `log`): until the next text,
   * or until there is nothing more of it. Empty where it is drawn already.
   */
  readonly cover: (heard: Readonly<Record<StreamName, string>>) => string;
  /** A marked line that stands for bytes not shown; what follows starts anew. */
  readonly gap: (bytes: number) => string;
  /** Columns of the terminal: a longer unfinished line takes several rows and cannot be redrawn. */
  readonly setColumns: (columns: number) => void;
}

interface StreamState {
  decoder: TextDecoder;
  readonly filter: EscapeFilter;
  readonly style: StyleTracker;
  /** Style at the start of the unfinished line. */
  lineStyle: string;
  /** The unfinished line, as it would be drawn again. */
  line: string;
  /** Offset expected next; null before the first chunk. */
  next: number | null;
}

/** An unfinished line longer than this is shown even while the other stream's is on the last row. */
const longestHeldLine = 64 * 1024;
const clearRow = '\x1b[0m\r\x1b[2K';
const styleSequence = new RegExp(`${String.fromCharCode(27)}\\[[0-9;:]*m`, 'g');
const movesVertically = new RegExp(`${String.fromCharCode(27)}\\[[0-9;:]*[ABEF]`);

export function createComposer(options: ComposerOptions): Composer {
  const streams: Record<StreamName, StreamState> = {
    out: startState(false),
    err: startState(options.markErrors),
  };
  let columns = 80;
  /** Whose unfinished line is on the cursor's row; null when the cursor is at the start of an empty row. */
  let shown: StreamName | null = null;
  let last: StreamName = 'out';
  /** Drawn over the unfinished line on the cursor's row, of whichever stream; empty: nothing is. */
  let covered = '';

  function canBeRedrawn(line: string): boolean {
    return columnsOf(line.slice(line.lastIndexOf('\r') + 1)) < columns && !movesVertically.test(line);
  }

  /** What the row holds under what covers it. */
  function uncover(): string {
    return covered === '' ? '' : clearRow + (shown === null ? '' : draw(shown));
  }

  /** Texts are for a row that is not covered. */
  function bare(act: () => string): string {
    const before = uncover();
    const text = act();
    if (text === '') return '';
    covered = '';
    return before + text;
  }

  function cover(heard: Readonly<Record<StreamName, string>>): string {
    const other = last === 'out' ? 'err' : 'out';
    const name = shown ?? (heard[last] === '' ? other : last);
    const state = streams[name];
    const now = heard[name];
    const isShown = now !== '' && canBeRedrawn(state.line);
    const line = now.startsWith('\r') ? plainLine(now) : `${plainLine(state.line)}…${plainLine(now)}`;
    const next = isShown ? state.lineStyle + firstColumns(line, columns - 1) : '';
    if (next === covered) return '';
    const output = next === '' ? uncover() : `${clearRow}${next}\x1b[0m`;
    covered = next;
    return output;
  }

  /** Takes the other stream's unfinished line off the last row, to be drawn again later, or leaves it where it is. */
  function leaveRow(): string {
    if (shown === null) return '';
    const state = streams[shown];
    const redraw = canBeRedrawn(state.line);
    shown = null;
    if (redraw) return clearRow;
    startLine(state);
    return '\r\n';
  }

  function draw(name: StreamName): string {
    const state = streams[name];
    shown = name;
    return state.lineStyle + state.line;
  }

  function pushText(name: StreamName, text: string): string {
    const state = streams[name];
    last = name;
    const end = text.lastIndexOf('\n') + 1;
    let output = '';
    if (end > 0) {
      const whole = state.style.apply(text.slice(0, end)).replace(/\r?\n/g, '\r\n');
      output += shown === name ? whole : leaveRow() + draw(name) + whole;
      shown = null;
      startLine(state);
    }
    if (end < text.length) {
      const rest = state.style.apply(text.slice(end));
      if (shown === name) output += rest;
      state.line = trimLine(state.line + rest);
      if (shown !== name && state.line.length >= longestHeldLine) output += leaveRow() + draw(name);
    }
    return output;
  }

  function drawLast(): string {
    if (shown !== null) return '';
    const other = last === 'out' ? 'err' : 'out';
    if (streams[last].line !== '') return draw(last);
    return streams[other].line === '' ? '' : draw(other);
  }

  /** A line of our own between those of the log; unfinished ones stay above it. */
  function ownLine(text: string): string {
    let output = settle();
    if (shown !== null) output += '\r\n';
    for (const name of ['out', 'err'] as const) startLine(streams[name]);
    shown = null;
    return `${output}\x1b[0m\x1b[2m${text}\x1b[0m\r\n`;
  }

  function settle(): string {
    if (shown === null) return drawLast();
    const other = shown === 'out' ? 'err' : 'out';
    if (streams[other].line === '') return '';
    const above = shown;
    let output = leaveRow() + draw(other) + '\r\n';
    startLine(streams[other]);
    shown = null;
    if (streams[above].line !== '') output += draw(above);
    return output;
  }

  function push(chunks: readonly LogChunk[]): string {
    let output = '';
    for (const chunk of withCut(chunks, options.cut?.place ?? null)) {
      if (chunk === 'cut') {
        output += ownLine(options.cut?.text ?? '');
        continue;
      }
      const state = streams[chunk.stream];
      if (state.next !== null && chunk.offset > state.next) output += gap(chunk.offset - state.next);
      const bytes = state.next === null ? fromWholeCharacter(chunk) : chunk.bytes;
      state.next = chunk.offset + chunk.bytes.length;
      const text = state.filter.push(state.decoder.decode(bytes, { stream: true }));
      if (text !== '') output += pushText(chunk.stream, text);
    }
    return output + drawLast();
  }

  function gap(bytes: number): string {
    let output = drawLast();
    if (shown !== null) output += '\r\n';
    for (const name of ['out', 'err'] as const) {
      const state = streams[name];
      state.decoder = startDecoder();
      state.filter.reset();
      state.style.reset();
      state.next = null;
      startLine(state);
    }
    shown = null;
    return `${output}\x1b[0m\x1b[2m${options.gapText(bytes)}\x1b[0m\r\n`;
  }

  return {
    push: (chunks) => bare(() => push(chunks)),
    settle: () => bare(settle),
    cover,
    gap: (bytes) => bare(() => gap(bytes)),
    setColumns(value) {
      columns = value;
    },
  };
}

/** The chunks, parted where the log may be cut. */
function withCut(chunks: readonly LogChunk[], cut: LogCut | null): (LogChunk | 'cut')[] {
  return chunks.flatMap((chunk) => {
    const { stream, offset, bytes } = chunk;
    const before = bytesBeforeCut(cut, { stream, offset, length: bytes.length });
    if (before === null) return [chunk];
    const first: LogChunk = { stream, offset, bytes: bytes.subarray(0, before) };
    const second: LogChunk = { stream, offset: offset + before, bytes: bytes.subarray(before) };
    return [first, 'cut' as const, second].filter((part) => part === 'cut' || part.bytes.length > 0);
  });
}

function startDecoder(): TextDecoder {
  // A byte order mark inside a log is text like any other.
  return new TextDecoder('utf-8', { ignoreBOM: true });
}

function startState(mark: boolean): StreamState {
  const style = createStyleTracker(mark);
  return {
    decoder: startDecoder(),
    filter: createEscapeFilter(),
    style,
    lineStyle: style.restore(),
    line: '',
    next: null,
  };
}

function startLine(state: StreamState): void {
  state.line = '';
  state.lineStyle = state.style.restore();
}

/** A log joined in its middle may start inside a character: its rest (at most three bytes) is not an error of the program. */
function fromWholeCharacter(chunk: LogChunk): Uint8Array {
  if (chunk.offset === 0) return chunk.bytes;
  let skip = 0;
  while (skip < 3 && skip < chunk.bytes.length && ((chunk.bytes[skip] ?? 0) & 0xc0) === 0x80) skip += 1;
  return chunk.bytes.subarray(skip);
}

/** Of a line rewritten by carriage returns only the last state is kept, with the styles that led to it. */
function trimLine(line: string): string {
  if (line.length < 512) return line;
  const back = line.lastIndexOf('\r');
  const cut =
    back > 0 && back < line.length - 1
      ? back
      : line.length > longestHeldLine * 2
        ? line.length - longestHeldLine
        : 0;
  if (cut === 0) return line;
  const styles = line.slice(0, cut).match(styleSequence) ?? [];
  return styles.slice(-16).join('') + line.slice(cut);
}
