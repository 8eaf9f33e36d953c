/** What goes to the far hand and what it says; the head of far-hand.pl has the whole. Pure. */

/** Comes before its first frame; what is before it was printed by somebody else. */
export const farMark = Buffer.from('\0iris-far-hand\0', 'latin1');
/** A login shell that prints more than this is no place to work. */
const mostNoiseBytes = 64 * 1024;
const mostFrameBytes = 64 * 1024 * 1024;

export type FarText = string | Uint8Array;

export function farFrame(texts: readonly FarText[]): Buffer {
  const pieces = texts.map((text) => (typeof text === 'string' ? Buffer.from(text) : Buffer.from(text)));
  const size = pieces.reduce((sum, piece) => sum + 4 + piece.length, 0);
  const frame = Buffer.allocUnsafe(4 + size);
  let at = frame.writeUInt32BE(size, 0);
  for (const piece of pieces) {
    at = frame.writeUInt32BE(piece.length, at);
    at += piece.copy(frame, at);
  }
  return frame;
}

/** One frame of the hand: its kind and what follows it. */
export class FarWord {
  constructor(
    readonly kind: string,
    private readonly rest: readonly Buffer[],
  ) {}

  get count(): number {
    return this.rest.length;
  }

  text(index: number): string {
    return this.rest[index]?.toString('utf8') ?? '';
  }

  bytes(index: number): Uint8Array {
    return this.rest[index] ?? new Uint8Array(0);
  }

  /** Null: empty, or none. */
  number(index: number): number | null {
    const text = this.text(index);
    return /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : null;
  }

  /** Names and values in turn. */
  pairs(): ReadonlyMap<string, string> {
    const found = new Map<string, string>();
    for (let index = 0; index + 1 < this.rest.length; index += 2)
      found.set(this.text(index), this.text(index + 1));
    return found;
  }
}

/** Takes the hand's output in pieces of any size. */
export class FarWords {
  private pieces: Buffer[] = [];
  private length = 0;
  private marked = false;

  /** The words that are complete by now; throws on what can be none. */
  push(piece: Buffer): readonly FarWord[] {
    this.pieces.push(piece);
    this.length += piece.length;
    if (!this.marked && !this.findMark()) return [];
    const words: FarWord[] = [];
    while (this.length >= 4) {
      const size = this.head(4).readUInt32BE(0);
      if (size > mostFrameBytes) throw new Error(`a frame of ${size} bytes is none of the far hand`);
      if (this.length < 4 + size) break;
      words.push(wordOf(this.head(4 + size).subarray(4, 4 + size)));
      this.drop(4 + size);
    }
    return words;
  }

  /** The mark has come. */
  get isMarked(): boolean {
    return this.marked;
  }

  /** What came instead of the mark: usually the words of a shell. */
  noise(): string {
    return this.marked ? '' : Buffer.concat(this.pieces).toString('utf8').trim();
  }

  private findMark(): boolean {
    const at = this.head(this.length).indexOf(farMark);
    if (at >= 0) {
      this.marked = true;
      this.drop(at + farMark.length);
    } else if (this.length > mostNoiseBytes) {
      throw new Error('the login shell there prints too much before anything of ours can speak');
    }
    return this.marked;
  }

  /** The first piece, made to hold at least so much. */
  private head(bytes: number): Buffer {
    const [first] = this.pieces;
    if (first !== undefined && first.length >= bytes) return first;
    const whole = Buffer.concat(this.pieces);
    this.pieces = [whole];
    return whole;
  }

  private drop(bytes: number): void {
    const rest = this.head(bytes).subarray(bytes);
    this.pieces = rest.length === 0 ? this.pieces.slice(1) : [rest, ...this.pieces.slice(1)];
    this.length -= bytes;
  }
}

function wordOf(frame: Buffer): FarWord {
  const texts: Buffer[] = [];
  for (let at = 0; at < frame.length;) {
    const size = at + 4 <= frame.length ? frame.readUInt32BE(at) : frame.length;
    if (at + 4 + size > frame.length) throw new Error('a frame of the far hand is cut');
    texts.push(frame.subarray(at + 4, at + 4 + size));
    at += 4 + size;
  }
  const [kind, ...rest] = texts;
  return new FarWord(kind?.toString('latin1') ?? '', rest);
}
