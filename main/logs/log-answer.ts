/**
 * Answers that hold bytes of a log. Their text, a third longer, is made piece by piece where they leave: made at once, each would be a
 * string of more than a megabyte, of which the engine keeps as many between two collections as its space for young objects allows.
 */

/** The answer with an empty `dataBase64` for each of `data`, in their order; it has no texts but names of streams. */
export class LogAnswer<T> {
  private released = false;

  constructor(
    readonly value: T,
    readonly data: readonly Uint8Array[],
    /** Their bytes may be used again. */
    private readonly onRelease: () => void = () => undefined,
  ) {}

  /** To be called when the bytes have been sent; without it they are only not used again. */
  release(): void {
    if (this.released) return;
    this.released = true;
    this.onRelease();
  }
}

/** The frame of such an answer: on its way out, where others are sent as they are. */
export interface LogFrame {
  readonly kind: 'log';
  readonly id: number;
  readonly answer: LogAnswer<unknown>;
}

const hole = '"dataBase64":"';
/** Of three bytes four letters; a text of this length is a small object for the engine. */
const mostEncodedAtOnce = 48 * 1024;

/** Such a frame as the JSON text of a result, a line of it, in pieces. */
export class LogFrameText {
  /** Texts, and after each but the last the bytes that stand behind it. */
  private readonly texts: readonly string[];
  private part = 0;
  /** Of its text, then of its bytes. */
  private at = 0;
  private inBytes = false;
  /** What has not been written yet, the whole at first. */
  left: number;

  constructor(private readonly frame: LogFrame) {
    const { id, answer } = frame;
    const cut = `${JSON.stringify({ kind: 'result', id, value: answer.value })}\n`.split(hole);
    this.texts = cut.map((text, index) => (index < cut.length - 1 ? text + hole : text));
    this.left =
      this.texts.reduce((sum, text) => sum + text.length, 0) +
      answer.data.reduce((sum, bytes) => sum + 4 * Math.ceil(bytes.length / 3), 0);
  }

  /** Writes what comes next, at least 4 bytes have to fit; returns how many were written, 0 at the end. */
  fill(target: Buffer): number {
    let filled = 0;
    while (filled < target.length) {
      const room = target.length - filled;
      const bytes = this.inBytes ? this.frame.answer.data[this.part] : undefined;
      if (bytes === undefined) {
        const text = this.texts[this.part];
        if (text === undefined) break;
        const written = target.write(text.slice(this.at, this.at + room), filled, 'latin1');
        filled += written;
        this.at += written;
        if (this.at < text.length) break;
        this.at = 0;
        if (this.frame.answer.data[this.part] === undefined) this.part += 1;
        else this.inBytes = true;
        continue;
      }
      const take = Math.min(bytes.length - this.at, Math.floor(room / 4) * 3, mostEncodedAtOnce);
      if (take === 0 && this.at < bytes.length) break;
      const letters = Buffer.from(bytes.buffer, bytes.byteOffset + this.at, take).toString('base64');
      filled += target.write(letters, filled, 'latin1');
      this.at += take;
      if (this.at < bytes.length) continue;
      this.at = 0;
      this.inBytes = false;
      this.part += 1;
    }
    this.left -= filled;
    if (this.left === 0) this.frame.answer.release();
    return filled;
  }

  /** All of it that has not been written yet. */
  rest(): Uint8Array<ArrayBuffer> {
    const buffer = new ArrayBuffer(this.left);
    this.fill(Buffer.from(buffer));
    return new Uint8Array(buffer);
  }
}

/** Room for the bytes of answers, used again and again. */
export class LogRooms {
  private readonly free: Uint8Array[] = [];

  constructor(
    private readonly size: number,
    private readonly mostFree: number,
  ) {}

  take(): Uint8Array {
    return this.free.pop() ?? new Uint8Array(this.size);
  }

  /** Only when nobody reads or writes in it any more. */
  give(room: Uint8Array): void {
    if (this.free.length < this.mostFree) this.free.push(room);
  }
}
