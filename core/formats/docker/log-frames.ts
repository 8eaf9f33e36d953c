/** The Engine's log stream of a container without a terminal: frames of eight header bytes and a payload, one frame a message. */

export type LogStream = 'out' | 'err';

export interface LogFrame {
  readonly stream: LogStream;
  readonly data: Uint8Array;
}

/** The stream is not what it should be: whoever reads a terminal's stream as frames sees this instead of missing letters. */
export class FrameError extends Error {}

const headerBytes = 8;
/** The Engine cuts messages at 16 KiB; more than this is no frame. */
const mostBytes = 64 * 1024 * 1024;

/**
 * Takes the stream in pieces of any size and gives whole frames. What is kept between two pieces is at most one frame. Whether a
 * stream has frames is told by the container's own Tty setting, never by looking at it.
 */
export class LogFrameReader {
  private pieces: Uint8Array[] = [];
  private held = 0;
  private payload: { stream: LogStream; size: number; fault: boolean } | null = null;

  push(piece: Uint8Array): LogFrame[] {
    return [...this.read(piece)];
  }

  /** The same one by one: those in front of a fault are given before it is thrown. */
  *read(piece: Uint8Array): Generator<LogFrame, void> {
    this.pieces.push(piece);
    this.held += piece.length;
    for (;;) {
      if (this.payload === null) {
        if (this.held < headerBytes) return;
        this.payload = readHeader(this.take(headerBytes));
      }
      const { stream, size, fault } = this.payload;
      if (this.held < size) return;
      const data = this.take(size);
      this.payload = null;
      if (fault) throw new FrameError(`The Engine ended the log: ${latin(data)}`);
      if (size > 0) yield { stream, data };
    }
  }

  /** Bytes of a frame that has not come whole: at the end of a stream they say that it was cut. */
  get pending(): number {
    return this.held + (this.payload === null ? 0 : headerBytes);
  }

  private take(count: number): Uint8Array {
    const first = this.pieces[0];
    this.held -= count;
    if (first !== undefined && first.length >= count) {
      if (first.length === count) this.pieces.shift();
      else this.pieces[0] = first.subarray(count);
      return first.subarray(0, count);
    }
    const taken = new Uint8Array(count);
    let filled = 0;
    let used = 0;
    for (const piece of this.pieces) {
      const part = piece.subarray(0, count - filled);
      taken.set(part, filled);
      filled += part.length;
      if (part.length < piece.length) {
        this.pieces[used] = piece.subarray(part.length);
        break;
      }
      used += 1;
      if (filled === count) break;
    }
    this.pieces.splice(0, used);
    return taken;
  }
}

function readHeader(header: Uint8Array): { stream: LogStream; size: number; fault: boolean } {
  const [kind = 0, one = 0, two = 0, three = 0] = header;
  const size = new DataView(header.buffer, header.byteOffset, headerBytes).getUint32(4);
  if (kind > 3 || one !== 0 || two !== 0 || three !== 0 || size > mostBytes) {
    throw new FrameError('The log stream has no frames where a container without a terminal has them.');
  }
  return { stream: kind === 2 ? 'err' : 'out', size, fault: kind === 3 };
}

function latin(data: Uint8Array): string {
  return String.fromCharCode(...data.subarray(0, 1000)).trim();
}
