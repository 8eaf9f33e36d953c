/**
 * What leaves through one client's socket, in order. Frames of one turn of the event loop leave in one write. An answer with bytes of
 * a log leaves in pieces of one buffer, the next when the socket has taken the one before.
 */
import type { Socket } from 'node:net';
import type { HostFrame } from '../../core/contract/host-frames.js';
import { LogFrameText, type LogFrame } from '../logs/log-answer.js';

/** More than this waiting: the client reads too slowly and is cut off rather than let the host grow. */
const maxBacklogBytes = 64 * 1024 * 1024;
const pieceBytes = 128 * 1024;

export class Outgoing {
  private queue: (string | LogFrameText)[] = [];
  private queuedBytes = 0;
  private scheduled = false;
  /** A piece is on its way, and the buffer in use. */
  private sending = false;
  private piece: Buffer | null = null;
  private over = false;

  constructor(private readonly socket: Socket) {}

  send(frame: HostFrame | LogFrame): void {
    if (this.over) return;
    const text = frame.kind === 'log' ? new LogFrameText(frame) : `${JSON.stringify(frame)}\n`;
    if (this.socket.writableLength + this.queuedBytes > maxBacklogBytes) {
      this.socket.destroy();
      return;
    }
    this.queue.push(text);
    this.queuedBytes += typeof text === 'string' ? text.length : text.left;
    if (this.scheduled || this.sending) return;
    this.scheduled = true;
    setImmediate(() => {
      this.scheduled = false;
      this.pump();
    });
  }

  /** Hands all that waits to the socket: nothing more comes. */
  flush(): void {
    for (const text of this.queue.splice(0)) {
      if (!this.over) this.socket.write(typeof text === 'string' ? text : text.rest());
    }
    this.queuedBytes = 0;
  }

  /** The socket is closed. */
  end(): void {
    this.over = true;
    this.queue = [];
    this.queuedBytes = 0;
  }

  private pump(): void {
    if (this.over || this.sending) return;
    let texts = '';
    let [next] = this.queue;
    for (; typeof next === 'string'; [next] = this.queue) {
      texts += next;
      this.queue.shift();
    }
    if (texts !== '') this.socket.write(texts);
    this.queuedBytes -= texts.length;
    if (next !== undefined) this.sendPiece(next);
  }

  private sendPiece(answer: LogFrameText): void {
    this.piece ??= Buffer.allocUnsafeSlow(pieceBytes);
    const filled = answer.fill(this.piece);
    this.queuedBytes -= filled;
    if (answer.left === 0) this.queue.shift();
    this.sending = true;
    this.socket.write(this.piece.subarray(0, filled), (error) => {
      this.sending = false;
      if (error === undefined || error === null) this.pump();
    });
  }
}
