/** Search in a log of any size: read in pieces, bounded memory, the event loop free in between. */
import type { LogRange } from '../backends/backend.js';

export interface SearchInput {
  readonly read: (offset: number, maxBytes: number) => Promise<LogRange>;
  readonly text: string;
  readonly matchCase: boolean;
  readonly offset: number;
  readonly limit: number;
}

export interface SearchResult {
  matches: { offset: number; line: string }[];
  /** Where to go on; null when the end was reached. */
  nextOffset: number | null;
}

const pieceBytes = 256 * 1024;
/** One call looks through at most this much, so that it answers in time; the caller goes on from `nextOffset`. */
const callBytes = 64 * 1024 * 1024;
/** A longer line is searched in parts that overlap, and shown around the match. */
const longLineBytes = 1024 * 1024;
const shownCharacters = 1000;

export async function searchLog(input: SearchInput): Promise<SearchResult> {
  const search = new LineSearch(input);
  let position = input.offset;
  for (;;) {
    const { data, size } = await input.read(position, pieceBytes);
    position += data.length;
    const atEnd = data.length === 0 || position >= size;
    const next = search.take(data, atEnd);
    if (next !== null) return { matches: search.matches, nextOffset: next >= size ? null : next };
    if (atEnd) return { matches: search.matches, nextOffset: null };
    if (position - input.offset >= callBytes)
      return { matches: search.matches, nextOffset: search.lineStart() };
  }
}

class LineSearch {
  readonly matches: { offset: number; line: string }[] = [];
  private readonly needle: string;
  private readonly overlap: number;
  /** Bytes not yet looked at to the end, and where they begin in the log. */
  private rest: Buffer = Buffer.alloc(0);
  private restOffset: number;
  /** In a long line that has matched already: nothing more of it is shown. */
  private skipping = false;

  constructor(private readonly input: SearchInput) {
    this.needle = input.matchCase ? input.text : input.text.toLowerCase();
    this.overlap = Buffer.byteLength(input.text) * 3;
    this.restOffset = input.offset;
  }

  lineStart(): number {
    return this.restOffset;
  }

  /** Null: go on; else the place after the last line looked at, the limit being reached. */
  take(data: Uint8Array, atEnd: boolean): number | null {
    const bytes = this.rest.length === 0 ? Buffer.from(data) : Buffer.concat([this.rest, data]);
    const end = atEnd ? bytes.length : bytes.lastIndexOf(0x0a) + 1;
    const stopped = this.lines(bytes.subarray(0, end));
    if (stopped !== null) return stopped;
    this.restOffset += end;
    this.rest = bytes.subarray(end);
    if (this.rest.length > longLineBytes) return this.longLine();
    return null;
  }

  /** Whole lines. */
  private lines(bytes: Buffer): number | null {
    let from = 0;
    if (this.skipping && bytes.length > 0) {
      from = bytes.indexOf(0x0a) + 1;
      if (from === 0) return null; // the end of the log within the long line
      this.skipping = false;
    }
    // Most pieces hold no match: one look at the whole, lines only when there is one.
    if (!this.holds(bytes.subarray(from).toString('utf8'))) return null;
    while (from < bytes.length) {
      const newline = bytes.indexOf(0x0a, from);
      const to = newline < 0 ? bytes.length : newline;
      const line = bytes.subarray(from, to).toString('utf8');
      if (this.holds(line)) {
        this.matches.push({ offset: this.restOffset + from, line: this.shown(line) });
        if (this.matches.length >= this.input.limit) return this.restOffset + to + 1;
      }
      from = to + 1;
    }
    return null;
  }

  private longLine(): number | null {
    const kept = this.rest.length - this.overlap;
    const text = this.rest.toString('utf8');
    const lineOffset = this.restOffset;
    const found = !this.skipping && this.holds(text);
    this.restOffset += kept;
    this.rest = Buffer.from(this.rest.subarray(kept));
    if (!found) return null;
    this.matches.push({ offset: lineOffset, line: this.shown(text) });
    this.skipping = true;
    return this.matches.length >= this.input.limit ? this.restOffset : null;
  }

  private holds(text: string): boolean {
    return (this.input.matchCase ? text : text.toLowerCase()).includes(this.needle);
  }

  /** A line cut to what can be shown, around its first match. */
  private shown(line: string): string {
    const text = line.endsWith('\r') ? line.slice(0, -1) : line;
    if (text.length <= shownCharacters) return text;
    const at = (this.input.matchCase ? text : text.toLowerCase()).indexOf(this.needle);
    const from = Math.max(0, Math.min(at - shownCharacters / 2, text.length - shownCharacters));
    return `${from > 0 ? '…' : ''}${text.slice(from, from + shownCharacters)}${from + shownCharacters < text.length ? '…' : ''}`;
  }
}
