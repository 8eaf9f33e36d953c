/**
 * Streams to the Docker Engine of another machine, all over one session of the connection there is (docker-exchange.pl): a server lets
 * through ten on one, as a rule, and each more would be a login of its own.
 */
import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { Duplex } from 'node:stream';
import { perlFromInput } from '../perl-from-input.js';
import { messageOf } from '../process/error-code.js';
import exchangeText from './docker-exchange.pl?raw';
import { farFrame, FarWords, type FarText, type FarWord } from './far-words.js';
import { endWhole, sshArgs, sshEnvironment, sshProgram, type SshCommandOptions } from './ssh-command.js';

/** Bytes of a stream that may be under way in a direction, not yet taken in at its other end. */
const windowBytes = 256 * 1024;
/** Bytes that may wait there of what is listened to, for a connection that is slow, or cut off. */
const mostWaiting = 256 * 1024;

/** `socket`: of the master. */
export function dockerExchangeOver(ssh: SshCommandOptions, socket: string): DockerExchange {
  const args = sshArgs(ssh, { socket, master: false }, exchangeCommand('docker system dial-stdio'));
  return new DockerExchange(
    spawn(sshProgram(ssh.client), args, { stdio: 'pipe', detached: true, env: sshEnvironment(ssh) }),
  );
}

/** For a shell there; `command` is of words without anything that a shell of any kind would read otherwise. */
export function exchangeCommand(command: string): string {
  return `${perlFromInput(Buffer.byteLength(exchangeText))} ${windowBytes} ${mostWaiting} ${command}`;
}

interface Stream {
  readonly duplex: Duplex;
  /** Bytes sent that were not taken in there. */
  underWay: number;
  /** What did not fit any more, and what waits for it to have been sent. */
  unsent: { readonly piece: Uint8Array; readonly done: () => void } | null;
  /** Bytes that came and that nobody here has read. */
  unread: number;
}

export class DockerExchange {
  private readonly streams = new Map<number, Stream>();
  private readonly words = new FarWords();
  private said = '';
  private next = 0;
  private over = false;

  /** `child` runs what `exchangeCommand` says, there. */
  constructor(private readonly child: ChildProcessWithoutNullStreams) {
    // Followed by its end, which says why.
    child.stdin.on('error', () => undefined);
    child.stdin.write(exchangeText);
    child.stdout.on('data', (piece: Buffer) => this.take(piece));
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.said = (this.said + text).slice(-2000);
    });
    child.on('error', (error) => this.end(messageOf(error)));
    child.on('close', (code) => this.end(this.said.trim() || `exit code ${code ?? 'unknown'}`));
  }

  /** It can be asked for streams. */
  get isOpen(): boolean {
    return !this.over;
  }

  /** What it is there was started. */
  get hasSpoken(): boolean {
    return this.words.isMarked;
  }

  /** `listening`: always read at its far end. Ends with an error when the client there cannot be run. */
  open(listening: boolean): Duplex {
    const id = (this.next += 1);
    const duplex = new Duplex({
      read: () => this.read(id),
      write: (piece: Uint8Array, _, done) => this.write(id, piece, done),
      final: (done) => {
        this.send('end', String(id));
        done();
      },
      destroy: (error, done) => {
        if (this.streams.delete(id)) this.send('cancel', String(id));
        done(error);
      },
    });
    this.streams.set(id, { duplex, underWay: 0, unsent: null, unread: 0 });
    if (this.over) setImmediate(() => this.end('the connection was closed'));
    else this.send('open', String(id), listening ? '1' : '0');
    return duplex;
  }

  close(): void {
    if (this.over) return;
    this.end('the connection was closed');
    endWhole(this.child);
  }

  private send(...texts: readonly FarText[]): void {
    if (!this.over) this.child.stdin.write(farFrame(texts));
  }

  private write(id: number, piece: Uint8Array, done: () => void): void {
    const stream = this.streams.get(id);
    if (stream === undefined) {
      done();
      return;
    }
    stream.unsent = { piece, done };
    this.sendOn(id, stream);
  }

  private sendOn(id: number, stream: Stream): void {
    const { unsent } = stream;
    if (unsent === null) return;
    const now = unsent.piece.subarray(0, windowBytes - stream.underWay);
    if (now.length > 0) {
      this.send('data', String(id), now);
      stream.underWay += now.length;
    }
    const rest = unsent.piece.subarray(now.length);
    stream.unsent = rest.length === 0 ? null : { ...unsent, piece: rest };
    if (rest.length === 0) unsent.done();
  }

  private read(id: number): void {
    const stream = this.streams.get(id);
    if (stream === undefined || stream.unread === 0) return;
    this.send('taken', String(id), String(stream.unread));
    stream.unread = 0;
  }

  private take(piece: Buffer): void {
    if (this.over) return;
    let said: readonly FarWord[];
    try {
      said = this.words.push(piece);
    } catch (error) {
      this.end(messageOf(error));
      endWhole(this.child);
      return;
    }
    for (const word of said) this.hear(word);
  }

  private hear(word: FarWord): void {
    const id = word.number(0) ?? -1;
    const stream = this.streams.get(id);
    // One that was given up meanwhile.
    if (stream === undefined) return;
    switch (word.kind) {
      case 'data': {
        const bytes = word.bytes(1);
        stream.unread += bytes.length;
        if (stream.duplex.push(bytes)) this.read(id);
        return;
      }
      case 'taken':
        stream.underWay -= word.number(1) ?? 0;
        this.sendOn(id, stream);
        return;
      case 'over':
        this.streams.delete(id);
        stream.unsent?.done();
        if (word.text(1) === '0') stream.duplex.push(null);
        else stream.duplex.destroy(notReached(word.text(2).trim() || `exit code ${word.text(1)}`));
        return;
      default:
    }
  }

  /** Every stream ends with why. */
  private end(why: string): void {
    this.over = true;
    const error = notReached(this.words.noise() || why);
    for (const [id, { duplex }] of [...this.streams]) {
      this.streams.delete(id);
      duplex.destroy(error);
    }
  }
}

function notReached(why: string): Error {
  return new Error(`Docker there could not be reached (${why}).`);
}
