/** How many rows text takes in a terminal. */
import { columnsOf } from '../../../core/formats/terminal-text.js';

/**
 * Rows a text takes at most, lines that are wider than the terminal on several; one without an end takes those it has filled. Too many are
 * better than too few: what has left the terminal and is thought to be there can be reached no more.
 */
export function rowsOf(text: string, columns: number): number {
  let rows = 0;
  let from = 0;
  while (from < text.length) {
    const end = text.indexOf('\n', from);
    const line = text.slice(from, end < 0 ? text.length : end);
    const wraps = line.length * 8 <= columns ? 0 : longest(line) / columns;
    rows += end < 0 ? Math.floor(wraps) : Math.max(1, Math.ceil(wraps));
    from = end < 0 ? text.length : end + 1;
  }
  return rows;
}

/** A line that carriage returns wrote again and again is as long as the longest of its states. */
function longest(line: string): number {
  if (!line.includes('\r')) return columnsOf(line);
  return line.split('\r').reduce((most, part) => Math.max(most, columnsOf(part)), 0);
}
