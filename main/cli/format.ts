/** Text for people: tables, times, and names that came from elsewhere. */
import { showTimes } from '../../core/formats/times.js';
import { formatDuration } from '../../core/formats/durations.js';

/** Makes control characters visible, so that a name or a reason cannot move the cursor or forge a line. */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu, (char) => {
    const code = char.codePointAt(0) ?? 0;
    if (char === '\n') return ' ';
    if (char === '\t') return ' ';
    return `\\u${code.toString(16).padStart(4, '0')}`;
  });
}

/** At most `width` characters; a cut is shown by three dots. */
export function cut(text: string, width: number): string {
  const characters = Array.from(text);
  return characters.length <= width ? text : `${characters.slice(0, width - 3).join('')}...`;
}

export interface Column {
  readonly title: string;
  readonly align?: 'right';
  /** Widest cell; longer ones are cut. */
  readonly max?: number;
}

/** Columns two blanks apart, no blanks at line ends; every line ends in a line break. */
export function table(columns: readonly Column[], rows: readonly (readonly string[])[]): string {
  const cells = rows.map((row) =>
    columns.map((column, index) => {
      const text = printable(row[index] ?? '');
      return column.max === undefined ? text : cut(text, column.max);
    }),
  );
  const widths = columns.map((column, index) =>
    Math.max(column.title.length, ...cells.map((row) => Array.from(row[index] ?? '').length)),
  );
  const line = (row: readonly string[]) =>
    row
      .map((cell, index) => {
        const blanks = ' '.repeat(Math.max(0, (widths[index] ?? 0) - Array.from(cell).length));
        return columns[index]?.align === 'right' ? `${blanks}${cell}` : `${cell}${blanks}`;
      })
      .join('  ')
      .trimEnd();
  return [line(columns.map((column) => column.title)), ...cells.map(line)]
    .map((text) => `${text}\n`)
    .join('');
}

/** `12s ago`, `3m 05s ago`; a time ahead of our clock reads as `now`. */
export function ago(timeMs: number, nowMs: number): string {
  const passed = nowMs - timeMs;
  return passed < 1000 ? 'now' : `${formatDuration(Math.floor(passed / 1000) * 1000)} ago`;
}

/** What the reader's clock is ahead of UTC at that time, in minutes. */
const ownOffset = (timeMs: number): number => -new Date(timeMs).getTimezoneOffset();

/** The reader's date and time with seconds, and what their clock is ahead of UTC; `-` for none. */
export function isoTime(timeMs: number | null, offsetOf = ownOffset): string {
  if (timeMs === null) return '-';
  const offset = offsetOf(timeMs);
  const local = new Date(timeMs + offset * 60_000).toISOString().slice(0, 19);
  if (offset === 0) return `${local}Z`;
  const two = (value: number) => String(value).padStart(2, '0');
  const [hours, minutes] = [Math.floor(Math.abs(offset) / 60), Math.abs(offset) % 60];
  return `${local}${offset < 0 ? '-' : '+'}${two(hours)}:${two(minutes)}`;
}

/** A sentence of the controller's, its times by the reader's clock. */
export function localTimes(text: string, offsetOf = ownOffset): string {
  return showTimes(text, (ms) =>
    isoTime(ms, offsetOf)
      .replace('T', ' ')
      .replace(/Z$/, ' UTC')
      .replace(/([+-]\d\d:\d\d)$/, ' $1'),
  );
}

const stateColours: Readonly<Record<string, string>> = {
  RUNNING: '34',
  SUCCEEDED: '32',
  FAILED: '31',
  WORKER_FAILED: '31',
  UNSCHEDULABLE: '31',
  KILLED: '33',
};

/** Colours whole words of states in a text made by us; only for a terminal. */
export function colourStates(text: string): string {
  return text.replace(
    /(?<![\w/-])(RUNNING|SUCCEEDED|FAILED|WORKER_FAILED|UNSCHEDULABLE|KILLED)(?![\w/-])/g,
    (word) => {
      const colour = stateColours[word];
      return colour === undefined ? word : `\u001b[${colour}m${word}\u001b[0m`;
    },
  );
}
