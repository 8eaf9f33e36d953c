/** Ranges of files of attempts, read through the far hand on demand. */
import { RefusalError, refusal } from '../../../../core/contract/errors.js';
import { parseMarks } from '../../../logs/growth.js';
import type { LogMark, LogRange } from '../../backend.js';
import type { FarText, FarWord } from './far-words.js';

interface Asked {
  readonly resolve: (range: LogRange) => void;
  readonly reject: (error: Error) => void;
}

/** The hand answers with no more at once, so that a large log holds up nobody's stop. */
const pieceBytes = 256 * 1024;
const mostMarksBytes = 4 * 1024 * 1024;
/** Logs that are read again and again at once, as somebody follows them. */
const mostKnown = 8;

/** The marks of a log as far as they were read, in whole lines, by the clock there. */
interface KnownMarks {
  readonly bytes: number;
  readonly lastLine: string;
  readonly marks: readonly LogMark[];
}

export class FarReads {
  private readonly asked = new Map<number, Asked>();
  private readonly known = new Map<string, KnownMarks>();
  private next = 0;
  private send: ((...texts: readonly FarText[]) => void) | null = null;

  constructor(private readonly name: string) {}

  connected(send: (...texts: readonly FarText[]) => void): void {
    this.send = send;
  }

  disconnected(): void {
    this.send = null;
    const waiting = [...this.asked.values()];
    this.asked.clear();
    for (const { reject } of waiting) reject(this.unavailable());
  }

  word(word: FarWord): void {
    const id = word.number(0) ?? -1;
    const asked = this.asked.get(id);
    this.asked.delete(id);
    asked?.resolve({ size: word.number(1) ?? 0, data: word.bytes(2) });
  }

  /** At most `maxBytes` from `offset`. Less only at the end. */
  async read(
    uid: string,
    file: 'out' | 'err' | 'marks',
    offset: number,
    maxBytes: number,
  ): Promise<LogRange> {
    // It becomes part of a path: nothing but what a controller mints passes.
    if (!/^[0-9a-z-]{1,64}$/i.test(uid)) throw new Error(`${JSON.stringify(uid)} is no attempt's uid`);
    const pieces: Uint8Array[] = [];
    let got = 0;
    for (;;) {
      const { data, size } = await this.piece(uid, file, offset + got, Math.min(pieceBytes, maxBytes - got));
      pieces.push(data);
      got += data.length;
      if (data.length === 0 || got >= maxBytes || offset + got >= size)
        return { data: Buffer.concat(pieces), size };
    }
  }

  /** By the clock here; theirs is so far ahead. */
  async marks(uid: string, skewMs: number): Promise<readonly LogMark[]> {
    const known = this.known.get(uid);
    const { marks } =
      (known === undefined ? null : await this.readOn(uid, known)) ?? (await this.readAll(uid));
    return marks.map((mark) => ({ ...mark, atMs: mark.atMs - skewMs }));
  }

  /** What came since, which of a log that is followed is a line: all of them are some hundred kilobytes after weeks. Null: it was written anew. */
  private async readOn(uid: string, known: KnownMarks): Promise<KnownMarks | null> {
    const from = known.bytes - known.lastLine.length;
    const { data } = await this.read(uid, 'marks', from, mostMarksBytes);
    const text = Buffer.from(data).toString('latin1');
    if (!text.startsWith(known.lastLine)) return null;
    return this.keep(uid, text.slice(known.lastLine.length), known);
  }

  private async readAll(uid: string): Promise<KnownMarks> {
    const { data } = await this.read(uid, 'marks', 0, mostMarksBytes);
    return this.keep(uid, Buffer.from(data).toString('latin1'), { bytes: 0, lastLine: '', marks: [] });
  }

  private keep(uid: string, text: string, before: KnownMarks): KnownMarks {
    const whole = text.slice(0, text.lastIndexOf('\n') + 1);
    const lastLine = /[^\n]*\n$/.exec(whole)?.[0] ?? before.lastLine;
    const marks = [...before.marks, ...parseMarks(whole, before.marks.at(-1))];
    const known = { bytes: before.bytes + whole.length, lastLine, marks };
    this.known.delete(uid);
    this.known.set(uid, known);
    const oldest = this.known.keys().next();
    if (this.known.size > mostKnown && oldest.done !== true) this.known.delete(oldest.value);
    return known;
  }

  private piece(uid: string, file: string, offset: number, bytes: number): Promise<LogRange> {
    const { send } = this;
    if (send === null) return Promise.reject(this.unavailable());
    const id = this.next;
    this.next += 1;
    return new Promise((resolve, reject) => {
      this.asked.set(id, { resolve, reject });
      send('read', String(id), uid, file, String(offset), String(bytes));
    });
  }

  private unavailable(): RefusalError {
    const text = `The machine ${this.name} is not connected; its logs can be read as soon as it is again.`;
    return new RefusalError(refusal('UNREACHABLE', text));
  }
}
