/**
 * The last line of a container's stream while it is not whole. The Engine logs a line when its newline comes, or in pieces of 16 KiB:
 * a bar that is drawn over and over with carriage returns would be seen only then. What is attached to the container hears it at once.
 * Told both, this knows which heard bytes the log does not have yet, and is silent where it cannot be certain.
 */
const newline = 0x0a;
/** A piece the log takes without a newline. */
const pieceBytes = 16 * 1024;
const mostBytes = 4 * pieceBytes;
const carriageReturn = 0x0d;
/** More of a line is not shown before it is known where it stands. */
const mostUnplaced = 4 * 1024;
/** So many bytes of a log are not by chance the same as others of it. */
const placedBy = 64;

function joined(first: Uint8Array, second: Uint8Array): Uint8Array {
  const both = new Uint8Array(first.length + second.length);
  both.set(first);
  both.set(second, first.length);
  return both;
}

function indexOf(data: Uint8Array, part: Uint8Array, from: number): number {
  for (let at = data.indexOf(part[0] ?? 0, from); at >= 0; at = data.indexOf(part[0] ?? 0, at + 1))
    if (part.every((byte, index) => data[at + index] === byte)) return at;
  return -1;
}

export class LiveTail {
  /** Lines ended so far, heard and logged. */
  private heardLines = 0;
  private loggedLines = 0;
  /** Of the line that is heard now: its bytes from `from` on; null: they do not fit, or are not as the log will have them. */
  private heard: Uint8Array | null = new Uint8Array();
  private from = 0;
  /** Bytes logged of the line that is logged now. */
  private logged = 0;
  /** Of one that was attached to while it ran: what was heard since, until it is known where in the log that stands. */
  private unplaced: Uint8Array | null;
  /** And the last bytes that were logged since. */
  private recent: Uint8Array = new Uint8Array();

  /** `fromStart`: nothing was missed. */
  constructor(fromStart: boolean) {
    this.unplaced = fromStart ? null : new Uint8Array();
  }

  hear(data: Uint8Array): void {
    if (this.unplaced !== null) {
      this.unplaced = joined(this.unplaced, data).slice(-mostBytes);
      this.place(this.unplaced);
      return;
    }
    const last = data.lastIndexOf(newline);
    if (last < 0) {
      this.append(data);
      return;
    }
    for (const byte of data) if (byte === newline) this.heardLines += 1;
    this.heard = new Uint8Array();
    this.from = 0;
    this.append(data.subarray(last + 1));
  }

  log(data: Uint8Array): void {
    const last = data.lastIndexOf(newline);
    for (const byte of data) if (byte === newline) this.loggedLines += 1;
    this.logged = last < 0 ? this.logged + data.length : data.length - last - 1;
    if (this.unplaced !== null) {
      this.recent = joined(this.recent, data).slice(-placedBy);
      this.place(this.unplaced);
    }
    this.drop();
  }

  private drop(): void {
    if (this.heardLines !== this.loggedLines || this.heard === null) return;
    const drop = Math.min(this.heard.length, Math.max(0, this.logged - this.from));
    this.heard = this.heard.slice(drop);
    this.from += drop;
  }

  /** What comes next in the log, as far as it was heard. Whole letters only: halves are changed by the Engine. */
  tail(): Uint8Array {
    const none = new Uint8Array();
    if (
      this.unplaced !== null ||
      this.heard === null ||
      this.heardLines !== this.loggedLines ||
      this.from !== this.logged
    )
      return none;
    const whole = wholeLetters(this.heard);
    if (whole !== null) return whole;
    // Bytes that are no letters reach the log as others.
    this.heard = null;
    return none;
  }

  /**
   * The end of the last line as it was heard, while it is not known where in the log that stands: what was printed before it was listened to
   * is missing in front of it. From a carriage return on it is the whole state of the line, else only its end. Empty: there is none.
   */
  unplacedEnd(): Uint8Array {
    const heard = this.unplaced ?? new Uint8Array();
    const line = heard.lastIndexOf(newline) + 1;
    let end = heard.length;
    while (end > line && heard[end - 1] === carriageReturn) end -= 1;
    const state = heard.subarray(line, end).lastIndexOf(carriageReturn);
    if (end - line - Math.max(0, state) > mostUnplaced) return heard.slice(end - mostUnplaced, end);
    if (state >= 0) return heard.slice(line + state, end);
    // Behind a newline all of the line was heard.
    const isWhole = line > 0 && end > line;
    return isWhole
      ? joined(Uint8Array.of(carriageReturn), heard.subarray(line, end))
      : heard.slice(line, end);
  }

  /** The last bytes of the log tell where what was heard stands: behind them, where they are heard once. */
  private place(heard: Uint8Array): void {
    const end = this.recent;
    if (end.length < placedBy) return;
    const at = indexOf(heard, end, 0);
    if (at < 0 || indexOf(heard, end, at + 1) >= 0) return;
    this.unplaced = null;
    this.heardLines = this.loggedLines;
    this.from = this.logged;
    this.heard = new Uint8Array();
    this.hear(heard.subarray(at + end.length));
  }

  private append(data: Uint8Array): void {
    if (this.heard === null || data.length === 0) return;
    if (this.heard.length + data.length > mostBytes) {
      this.heard = null;
      return;
    }
    this.heard = joined(this.heard, data);
    this.drop();
  }
}

/** Without a letter that is cut at the end; null: there are bytes that are no letters. A zero byte is a letter as well. */
function wholeLetters(data: Uint8Array): Uint8Array | null {
  let at = 0;
  while (at < data.length) {
    const first = data[at] ?? 0;
    const size =
      first < 0x80
        ? 1
        : first >= 0xc2 && first < 0xe0
          ? 2
          : first >= 0xe0 && first < 0xf0
            ? 3
            : first >= 0xf0 && first < 0xf5
              ? 4
              : 0;
    if (size === 0) return null;
    for (let more = 1; more < size && at + more < data.length; more += 1)
      if (((data[at + more] ?? 0) & 0xc0) !== 0x80) return null;
    if (at + size > data.length) break;
    at += size;
  }
  return data.subarray(0, at);
}
