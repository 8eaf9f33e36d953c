/**
 * The system's ssh to an Engine of another machine, with the user's own aliases, keys and known hosts; it never asks, as nobody could
 * answer here. All streams share one login: a server turns away many that come at once, and each takes longer than what is asked by it.
 */
import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { Duplex } from 'node:stream';
import { DockerExchange, exchangeCommand } from '../ssh/docker-exchange.js';
import { programStream } from './program-stream.js';

/** Longer than between two looks at the Engine. */
const idleMs = 60_000;
const command = 'docker system dial-stdio';
/** One that stands while nothing is said has to notice by itself that it is cut off. */
const options = ['BatchMode=yes', 'ConnectTimeout=10', 'ServerAliveInterval=5', 'ServerAliveCountMax=3'];
/** Of ssh itself, which did not get there. */
const unreached = 255;
/**
 * Who is reached like this ran something else than what was asked of them, seen at what time. Whoever learns that by a failure has another
 * dial the next time: that one asks otherwise, and one after it, or much later, tries again.
 */
const plain = new Map<string, number>();
const plainForMs = 2 * idleMs;

export class SshDial {
  private exchange: DockerExchange | null = null;
  private open_ = 0;
  private idle: NodeJS.Timeout | null = null;
  private closed = false;
  /**
   * Without that each stream is a login of its own, and nothing there would always be read. Perl or a part of it is not there, or a key
   * may only run Docker's own command. Null: nothing was asked yet.
   */
  private shares: boolean | null = null;

  constructor(
    private readonly args: readonly string[],
    private readonly idleAfterMs = idleMs,
  ) {}

  /** `listening`: always read at its far end. */
  open(listening: boolean): Duplex {
    this.shares ??= this.mayShare();
    const stream = this.shares ? this.shared().open(listening) : this.alone(listening);
    this.open_ += 1;
    if (this.idle !== null) clearTimeout(this.idle);
    stream.once('close', () => {
      this.open_ -= 1;
      if (this.open_ > 0) return;
      if (this.closed) this.hangUp();
      else this.idle = setTimeout(() => this.hangUp(), this.idleAfterMs);
    });
    return stream;
  }

  /** What is under way goes on to its end. */
  close(): void {
    this.closed = true;
    if (this.open_ === 0) this.hangUp();
  }

  private place(): string {
    return JSON.stringify(this.args);
  }

  private mayShare(): boolean {
    const seenMs = plain.get(this.place());
    plain.delete(this.place());
    return seenMs === undefined || performance.now() - seenMs > plainForMs;
  }

  private hangUp(): void {
    if (this.idle !== null) clearTimeout(this.idle);
    this.exchange?.close();
    this.exchange = null;
  }

  private shared(): DockerExchange {
    if (this.exchange?.isOpen !== true) {
      const child = this.ssh(exchangeCommand(command));
      const exchange = new DockerExchange(child);
      child.once('close', (code) => {
        if (code === null || code === unreached || exchange.hasSpoken) return;
        this.shares = false;
        plain.set(this.place(), performance.now());
      });
      this.exchange = exchange;
    }
    return this.exchange;
  }

  private alone(listening: boolean): Duplex {
    if (listening) return failing(new Error('Nothing can be listened to where no Perl of ours can be run.'));
    return programStream(
      this.ssh(command),
      (code, said) => new Error(`ssh ended with exit code ${code ?? 'unknown'}: ${said}`),
    );
  }

  /** In a session of its own, so that it can be ended with all that it has started. */
  private ssh(remote: string): ChildProcessWithoutNullStreams {
    const args = [...options.flatMap((option) => ['-o', option]), '-T', ...this.args, remote];
    return spawn('ssh', args, { stdio: 'pipe', detached: true });
  }
}

/** Fails once whoever asked for it can hear that. */
function failing(why: Error): Duplex {
  const stream = new Duplex({ read: () => undefined, write: (_piece, _encoding, done) => done() });
  setImmediate(() => stream.destroy(why));
  return stream;
}
