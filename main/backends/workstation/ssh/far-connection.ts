/** The connection of one machine: opened when it is time, at most one at once, and opened anew when it is asked for. */
import type { Duplex } from 'node:stream';
import { messageOf } from '../process/error-code.js';
import type { SshAddress } from './address.js';
import type { AskDesk } from './ask-desk.js';
import { Asking } from './asking.js';
import { dockerExchangeOver, type DockerExchange } from './docker-exchange.js';
import { openFarLink, type FarLink, type FarLinkOptions } from './far-link.js';
import type { FarText } from './far-words.js';
import { ownKnownHosts } from './machine-memory.js';
import { socketFolder, userKnownHosts, type SshClient, type SshCommandOptions } from './ssh-command.js';

export interface FarConnectionOptions extends Pick<
  FarLinkOptions,
  'nowMs' | 'monotonicMs' | 'onWord' | 'onContact' | 'onLost'
> {
  readonly address: SshAddress;
  readonly home: string;
  readonly client?: SshClient | undefined;
  /** Where what the client asks is answered; absent: nowhere. */
  readonly desk?: AskDesk | undefined;
  /** Name of the machine. */
  readonly name?: string | undefined;
  /** False: nobody is to be asked this time. */
  readonly mayAsk?: (() => boolean) | undefined;
  readonly connectTimeoutMs?: number | undefined;
  readonly pingEveryMs?: number | undefined;
  readonly silentAfterMs?: number | undefined;
}

const usualConnectMs = 10_000;
const usualPingMs = 5000;
const usualSilenceMs = 15_000;
/** After the connection is made, the hand's first word: login shells there may read much, from a disk that is cold or far. */
export const helloMs = 50_000;
/** One that is known to be quicker is given up sooner, as whether it is lost depends on it; not for good, as it may be slower by now. */
const quickHelloMs = 10_000;
const quickTries = 3;

export class FarConnection {
  private link: FarLink | null = null;
  /** Of this link, once Docker there was asked for. */
  private exchange: DockerExchange | null = null;
  private timer: NodeJS.Timeout | null = null;
  private opening = false;
  private closed = false;
  private knownHosts: readonly string[] = [];
  /** How long its first word took last; null: it has said none. */
  private helloTookMs: number | null = null;
  private triesSinceHello = 0;

  constructor(private readonly options: FarConnectionOptions) {}

  get isOpen(): boolean {
    return this.link !== null;
  }

  /** A try is under way, or it stands. */
  get isBusy(): boolean {
    return this.opening || this.link !== null;
  }

  send(...texts: readonly FarText[]): void {
    this.link?.send(...texts);
  }

  now(): void {
    this.cancel();
    if (this.closed || this.opening || this.link !== null) return;
    this.opening = true;
    void this.open().finally(() => {
      this.opening = false;
    });
  }

  later(ms: number): void {
    this.cancel();
    if (this.closed) return;
    this.timer = setTimeout(() => this.now(), ms);
    this.timer.unref();
  }

  /** Leaves; nobody is told. */
  drop(): void {
    this.closeExchange();
    void this.link?.close();
    this.link = null;
  }

  dockerStream(listening: boolean): Duplex {
    if (this.link === null) throw new Error('There is no connection, so Docker there cannot be asked.');
    if (this.exchange?.isOpen !== true) this.exchange = dockerExchangeOver(this.ssh(), this.link.socket);
    return this.exchange.open(listening);
  }

  async close(): Promise<void> {
    this.closed = true;
    this.cancel();
    const { link } = this;
    this.link = null;
    this.closeExchange();
    await link?.close();
  }

  private closeExchange(): void {
    this.exchange?.close();
    this.exchange = null;
  }

  private ssh(): SshCommandOptions {
    return {
      client: this.options.client ?? {},
      address: this.options.address,
      knownHosts: this.knownHosts,
      connectTimeoutMs: this.options.connectTimeoutMs ?? usualConnectMs,
      aliveEveryMs: this.options.pingEveryMs ?? usualPingMs,
    };
  }

  private async open(): Promise<void> {
    const { client = {}, address, home } = this.options;
    const { connectTimeoutMs = usualConnectMs, pingEveryMs = usualPingMs } = this.options;
    try {
      this.knownHosts = [...(await userKnownHosts(client, address)), ownKnownHosts(home)];
      const folder = socketFolder(home);
      const asking = await this.asking(folder);
      if (this.isClosed()) {
        asking?.close();
        return;
      }
      const beganMs = this.options.monotonicMs();
      this.link = openFarLink({
        ...this.options,
        onWord: (word) => {
          if (word.kind === 'hello') {
            this.helloTookMs = this.options.monotonicMs() - beganMs;
            this.triesSinceHello = 0;
          }
          this.options.onWord(word);
        },
        ssh: this.ssh(),
        machine: this.options.name,
        asking,
        socketFolder: folder,
        helloWithinMs: connectTimeoutMs + this.helloMs(),
        pingEveryMs,
        silentAfterMs: this.options.silentAfterMs ?? usualSilenceMs,
        onLost: (failure) => {
          this.link = null;
          this.triesSinceHello += 1;
          this.closeExchange();
          this.options.onLost(failure);
        },
      });
    } catch (error) {
      const message = `No connection could be made: ${messageOf(error)}.`;
      this.options.onLost({ kind: 'client', message, advice: 'It is tried again.' });
    }
  }

  private helloMs(): number {
    if (this.helloTookMs === null || this.triesSinceHello > quickTries) return helloMs;
    return Math.min(helloMs, Math.max(quickHelloMs, 2 * this.helloTookMs));
  }

  private async asking(folder: string): Promise<Asking | null> {
    const { desk, address, client = {}, name = null, mayAsk } = this.options;
    if (desk === undefined || mayAsk?.() === false) return null;
    return Asking.begin({
      desk,
      client,
      subject: { address, machine: name },
      folder,
      before: desk.takeHanded(address),
    });
  }

  /** Asked anew after each wait. */
  private isClosed(): boolean {
    return this.closed;
  }

  private cancel(): void {
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = null;
  }
}
