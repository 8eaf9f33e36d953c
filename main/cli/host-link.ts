/**
 * The way to the host, whichever is live: connects, starts a headless host when wanted, and connects anew when the host is
 * handed over or dies. Commands are repeated only with the request id they had, so none happens twice.
 */
import { RefusalError, refusal, type Refusal } from '../../core/contract/errors.js';
import type { HostStatus } from '../../core/contract/views.js';
import type { Home } from '../home.js';
import { NobodyAnswers, openConnection, type Connection } from './connection.js';
import { startHost, type HostProgram } from './start-host.js';

export interface HostLinkOptions {
  readonly home: Home;
  readonly program: HostProgram;
  readonly environment: NodeJS.ProcessEnv;
  /** Name asked for with `--cluster`; undefined: any. */
  readonly cluster: string | undefined;
  /** Something worth telling a person who waits. */
  readonly note: (sentence: string) => void;
  /** Told of each host that answers. */
  readonly connected?: (host: HostStatus) => void;
  /** A host that says it is not available ends within this. */
  readonly leavesWithinMs?: number | undefined;
  /** Replaced in tests. */
  readonly start?: (home: Home, program: HostProgram, environment: NodeJS.ProcessEnv) => Promise<Connection>;
}

const shortestWaitMs = 50;
const longestWaitMs = 2_000;
/** A host handed over is back within this; later a person is told what is waited for. */
const tellAfterMs = 2_000;
/** A host that died without a word is replaced after this. */
const replaceAfterMs = 1_000;
const usualLeavesWithinMs = 5_000;

/** Refuses a `--cluster` other than `local` and the name of the host that is there; undefined: none was given. */
export function refuseOtherCluster(wanted: string | undefined, there: string): void {
  if (wanted === undefined || wanted === 'local' || wanted === there) return;
  const names = there === 'local' ? ['local'] : ['local', there];
  const flags = names.map((name) => `--cluster ${name}`).join(' or ');
  throw new RefusalError(
    refusal('NOT_FOUND', `There is no cluster named ${wanted} here: use ${flags}, or leave it out.`, [
      { field: '--cluster', value: wanted, expected: names.join(' or ') },
    ]),
  );
}

export class HostLink {
  private current: Connection | null = null;
  private opening: Promise<Connection> | null = null;
  private wasConnected = false;
  /** The host said that it ends: then it is not ours to start another. */
  private dismissed = false;
  private closed = false;

  constructor(private readonly options: HostLinkOptions) {}

  /** A connection to a live host, started when there is none. */
  async open(): Promise<Connection> {
    if (this.current?.isOpen === true) return this.current;
    this.opening ??= (this.wasConnected ? this.reopen() : this.first()).finally(() => (this.opening = null));
    return await this.opening;
  }

  /** A connection to a live host, or null: nothing is started. */
  async openIfLive(): Promise<Connection | null> {
    if (this.current?.isOpen === true) return this.current;
    try {
      return this.adopt(await openConnection(this.options.home.socket));
    } catch (error) {
      if (error instanceof NobodyAnswers) return null;
      throw error;
    }
  }

  /** Does something through a live host, again after each lost connection. It must be harmless to repeat. */
  async persist<T>(act: (connection: Connection) => Promise<T>): Promise<T> {
    let waitMs = shortestWaitMs;
    let refused = { by: '', sinceMs: 0 };
    const { leavesWithinMs = usualLeavesWithinMs } = this.options;
    for (;;) {
      const connection = await this.open();
      const began = performance.now();
      try {
        return await act(connection);
      } catch (error) {
        if (!this.isLoss(error)) throw error;
        const { code } = error.refusal;
        const by = code === 'UNAVAILABLE' ? `${connection.host.pid} ${connection.host.startedAtMs}` : '';
        if (by !== refused.by) refused = { by, sinceMs: performance.now() };
        // It is still there, so it does not leave: that is its answer.
        else if (by !== '' && performance.now() - refused.sinceMs > leavesWithinMs) throw error;
        connection.close();
        await connection.ended;
      }
      // A host that accepts and drops at once must not be asked in a tight loop.
      waitMs =
        performance.now() - began > longestWaitMs ? shortestWaitMs : Math.min(waitMs * 2, longestWaitMs);
      await new Promise((resolve) => setTimeout(resolve, waitMs));
    }
  }

  /** Whether this is the loss of the connection and no answer; notes whether the host took its leave. */
  isLoss(error: unknown): error is RefusalError {
    if (this.closed || !(error instanceof RefusalError)) return false;
    return this.isLossOf(error.refusal);
  }

  isLossOf(reason: Refusal): boolean {
    if (this.closed) return false;
    if (reason.code === 'UNAVAILABLE') this.dismissed = true;
    return reason.code === 'UNAVAILABLE' || reason.code === 'DISCONNECTED';
  }

  close(): void {
    this.closed = true;
    this.current?.close();
  }

  private async first(): Promise<Connection> {
    const live = await this.openIfLive().catch((error: unknown) => {
      // It is just leaving: the next one waits for the folder.
      if (error instanceof RefusalError && error.refusal.code === 'UNAVAILABLE') return null;
      throw error;
    });
    return live ?? this.adopt(await this.startNew());
  }

  private startNew(): Promise<Connection> {
    return (this.options.start ?? startHost)(
      this.options.home,
      this.options.program,
      this.options.environment,
    );
  }

  private async reopen(): Promise<Connection> {
    const lostAt = performance.now();
    let told = false;
    let waitMs = shortestWaitMs;
    for (;;) {
      if (this.closed)
        throw new RefusalError(refusal('DISCONNECTED', 'The connection to the host was closed.'));
      try {
        const connection = await this.openIfLive();
        if (connection !== null) {
          if (told) this.options.note('a host answers again.');
          this.dismissed = false;
          return connection;
        }
        if (!this.dismissed && performance.now() - lostAt > replaceAfterMs) {
          this.options.note('the host ended without a word; starting another.');
          return this.adopt(await this.startNew());
        }
      } catch (error) {
        if (!(error instanceof RefusalError) || !['UNAVAILABLE', 'DISCONNECTED'].includes(error.refusal.code))
          throw error;
      }
      if (!told && performance.now() - lostAt > tellAfterMs) {
        told = true;
        this.options.note(
          'the host was shut down; jobs go on. Waiting for another (the window or any irisctl command starts one).',
        );
      }
      await new Promise((resolve) => setTimeout(resolve, waitMs));
      waitMs = Math.min(waitMs * 1.6, longestWaitMs);
    }
  }

  private adopt(connection: Connection): Connection {
    try {
      refuseOtherCluster(this.options.cluster, connection.host.clusterName);
    } catch (error) {
      connection.close();
      throw error;
    }
    this.current = connection;
    this.wasConnected = true;
    this.options.connected?.(connection.host);
    return connection;
  }
}
