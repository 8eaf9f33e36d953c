import { createEscapeFilter } from './escape-filter.js';

/** A line as plain text: without colours and without what a progress bar overwrote. What it is indented by stays. */
export function plainLine(line: string): string {
  const safe = createEscapeFilter()
    .push(line)
    .replace(/\x1b\[[0-9;:]*[A-Za-z]/g, '');
  const rewritten = safe.replace(/\r+$/, '');
  return rewritten.slice(rewritten.lastIndexOf('\r') + 1).trimEnd();
}
