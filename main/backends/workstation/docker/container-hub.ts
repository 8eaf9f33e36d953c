/**
 * Tells when containers of ours end: by the Engine's events, and, as events may be missed while the connection breaks, by the list
 * of containers after each new connection and now and then.
 */
import { readEvent } from '../../../../core/formats/docker/events.js';
import { managedLabel } from './container-plan.js';
import type { Engine } from './engine.js';
import { startsRemembered } from './engine-restart.js';

export interface ContainerHubOptions {
  readonly engine: Engine;
  /** Value of the label that says whose containers they are. */
  readonly owner: string;
  readonly onFault: (error: unknown) => void;
  readonly nowMs: () => number;
  /** How far the Engine's clock is ahead; not at all unless told. */
  readonly clockSkewMs?: (() => number) | undefined;
  /** It is on another machine: silence may be that of the way to it. */
  readonly isFar: boolean;
}

/** What was noticed of a container while it was waited for. */
export interface Watched {
  readonly id: string;
  outOfMemory: boolean;
  /** Signals that the Engine was asked to send, by number, with when. */
  readonly signals: { readonly signal: number; readonly atMs: number }[];
  /** The Engine said that it ended, with when; the code where it told it. */
  died: { readonly exitCode: number | null; readonly atMs: number } | null;
  /** The Engine that answers now was started after its end, and knows nothing of how that came. */
  forgotten: boolean;
  /** The Engine did not answer for a time while it ran: since when. */
  lostAtMs: number | null;
  /** Not answering says little of the Engine itself. */
  readonly isFar: boolean;
}

/** Told of what happens to the Engine under a container. */
export interface EngineLoss {
  /** It does not answer any more, or cannot be reached. */
  readonly lost: () => void;
  /** It was started anew, and the container went on meanwhile. */
  readonly restarted: () => void;
}

interface Waiter extends Watched {
  /** Whether the Engine was started anew under it is still to be asked. */
  unasked: boolean;
  /** It has ended; that is told once this was asked. */
  hasEnded: boolean;
  /** So often that was asked since then, without an answer. */
  inVain: number;
  readonly done: () => void;
  readonly loss: EngineLoss | null;
}

const listEveryMs = 5000;
const reconnectMs = 200;
const recentMs = 10_000;
/** An end is not kept back any longer for an Engine that does not say whether it was started anew. */
const mostInVain = 2;

const endActions: ReadonlySet<string> = new Set(['die', 'destroy', 'remove']);

export class ContainerHub {
  private readonly waiters = new Map<string, Waiter>();
  /** Ended a moment ago: the word of who ended one may come just after the word of its end. */
  private readonly recent = new Map<string, Waiter>();
  /** Events from then on are wanted, in seconds by the Engine's clock once one came. */
  private since: number | null = null;
  private connecting: Promise<void> | null = null;
  private disconnect: (() => void) | null = null;
  private timer: NodeJS.Timeout | null = null;
  private asking = false;
  private closed = false;

  constructor(private readonly options: ContainerHubOptions) {}

  /** Resolves when the container does not run any more, or is gone. To be called once it runs, or before. */
  ended(
    id: string,
    loss: EngineLoss | null = null,
  ): { readonly seen: Watched; readonly over: Promise<void> } {
    let done: () => void = () => undefined;
    const over = new Promise<void>((resolve) => {
      done = resolve;
    });
    // Waited for anew, as where the answer to its start was lost: the loss is still one.
    const before = this.waiters.get(id);
    if (before !== undefined && (before.unasked || before.lostAtMs !== null)) loss?.lost();
    const seen: Waiter = {
      id,
      outOfMemory: before?.outOfMemory ?? false,
      signals: before?.signals ?? [],
      died: null,
      forgotten: false,
      lostAtMs: before?.lostAtMs ?? null,
      // Also one that DOCKER_HOST or a context names elsewhere.
      isFar: this.options.isFar || (this.options.engine.known()?.reach ?? 'here') !== 'here',
      unasked: before?.unasked ?? false,
      hasEnded: false,
      inVain: 0,
      done,
      loss,
    };
    this.waiters.set(id, seen);
    this.connecting ??= this.keepConnected();
    this.timer ??= setInterval(() => this.list(), listEveryMs).unref();
    return { seen, over };
  }

  /** Looks at the list soon: a container may have ended before it was waited for. */
  list(): void {
    if (this.waiters.size > 0) this.look().catch((error: unknown) => this.lost(error));
  }

  close(): void {
    this.closed = true;
    if (this.timer !== null) clearInterval(this.timer);
    this.disconnect?.();
  }

  private async keepConnected(): Promise<void> {
    while (!this.closed) {
      try {
        await this.connect();
      } catch (error) {
        this.lost(error);
      }
      await new Promise((resolve) => setTimeout(resolve, reconnectMs).unref());
    }
  }

  private async connect(): Promise<void> {
    const { engine, owner } = this.options;
    const abort = new AbortController();
    const ends = { label: [`${managedLabel}=${owner}`], event: ['die', 'oom', 'kill', 'destroy'] };
    // Podman's own events have other names and no labels, and are filtered by those. One that was not looked at yet may be it.
    if (engine.known() === null) await engine.ready(0);
    const isPodman = engine.known()?.podman === true;
    const filters = JSON.stringify({ type: ['container'], ...(isPodman ? {} : ends) });
    // Also those of the time without a connection, as far as the Engine has kept them.
    this.since ??= Math.floor((this.options.nowMs() + this.skewMs()) / 1000) - 1;
    const query = { filters, since: this.since, abortSignal: abort.signal };
    const stream = await engine.ask((docker) => docker.getEvents(query));
    const over = new Promise<void>((resolve, reject) => {
      this.disconnect = () => {
        abort.abort();
        resolve();
      };
      let text = '';
      stream.on('data', (piece: Buffer) => {
        text += piece.toString();
        const rows = text.split('\n');
        text = rows.pop() ?? '';
        for (const row of rows) this.event(row);
      });
      stream.on('end', resolve);
      stream.on('close', resolve);
      stream.on('error', reject);
    });
    // It may break while the list is asked for, and that fails first.
    over.catch(() => undefined);
    if (this.closed) this.disconnect?.();
    else {
      try {
        // What ended before the events came.
        await this.look();
      } catch (error) {
        // An Engine that answers to this alone would be left with one more of them each time.
        this.disconnect?.();
        throw error;
      }
    }
    await over;
    if (!this.closed) this.lost(new Error("the Engine's events ended"));
  }

  private event(row: string): void {
    let value: unknown;
    try {
      value = JSON.parse(row);
    } catch {
      return; // an empty row that keeps the connection alive
    }
    const event = readEvent(value);
    if (event === null) return;
    if (event.atMs !== null) this.since = Math.floor(event.atMs / 1000);
    const waiter = this.waiters.get(event.id) ?? this.recent.get(event.id);
    if (waiter === undefined) return;
    const atMs = event.atMs === null ? this.options.nowMs() : event.atMs - this.skewMs();
    if (event.action === 'die') waiter.died ??= { exitCode: event.exitCode, atMs };
    if (event.action === 'oom') waiter.outOfMemory = true;
    else if (event.action === 'kill') {
      if (event.signal !== null) waiter.signals.push({ signal: event.signal, atMs });
    } else if (endActions.has(event.action) && this.waiters.has(waiter.id)) {
      // Under one that was away it may have gone on, and what it then said may be lost.
      if (waiter.lostAtMs === null && !waiter.unasked) this.over(waiter);
      else this.list();
    }
  }

  /** It is the one waited for now: not over, and not waited for anew since. */
  private waits(waiter: Waiter): boolean {
    return this.waiters.get(waiter.id) === waiter;
  }

  private skewMs(): number {
    return this.options.clockSkewMs?.() ?? 0;
  }

  private over(waiter: Waiter): void {
    this.waiters.delete(waiter.id);
    this.recent.set(waiter.id, waiter);
    setTimeout(() => this.recent.delete(waiter.id), recentMs).unref();
    waiter.done();
  }

  private async look(): Promise<void> {
    const { engine, owner } = this.options;
    // One that begins to be waited for meanwhile may not be in the answer yet.
    const asked = [...this.waiters.values()];
    const lost = asked.filter(({ lostAtMs }) => lostAtMs !== null);
    const filters = { label: [`${managedLabel}=${owner}`] };
    const list = await engine.ask((docker) => docker.listContainers({ all: true, filters }));
    const live = new Set(
      list.flatMap(({ Id, State }) => (['exited', 'dead', 'removing'].includes(State) ? [] : [Id])),
    );
    const running = new Set(list.flatMap(({ Id, State }) => (State === 'running' ? [Id] : [])));
    // Another look, begun before, may have seen its end and told of it while this one had no answer yet.
    const waiting = asked.filter((waiter) => this.waits(waiter));
    for (const waiter of waiting) {
      if (live.has(waiter.id)) continue;
      // One that outlived the Engine may have said something more while nobody listened.
      waiter.unasked ||= waiter.lostAtMs !== null && waiter.loss !== null;
      waiter.hasEnded = true;
      if (!waiter.unasked) this.over(waiter);
    }
    // Another look may have seen it first.
    const outlived = lost.filter(({ id, lostAtMs }) => lostAtMs !== null && live.has(id));
    // Whatever became of the Engine did not end these.
    for (const waiter of outlived) waiter.lostAtMs = null;
    for (const waiter of outlived) waiter.unasked ||= waiter.loss !== null && running.has(waiter.id);
    await this.askOf(waiting.filter(({ id, unasked, hasEnded }) => unasked && (hasEnded || running.has(id))));
  }

  /** With no answer they are asked of again at the next look. */
  private async askOf(waiters: readonly Waiter[]): Promise<void> {
    if (waiters.length === 0 || this.asking) return;
    this.asking = true;
    const startedBy = await startsRemembered(this.options.engine);
    this.asking = false;
    for (const waiter of waiters) {
      if (startedBy === null) waiter.inVain += waiter.hasEnded ? 1 : 0;
      else {
        waiter.unasked = false;
        if (startedBy !== 'unknowable' && !startedBy.has(waiter.id)) waiter.loss?.restarted();
      }
      const isTold = !waiter.unasked || waiter.inVain >= mostInVain;
      if (waiter.hasEnded && isTold && this.waits(waiter)) this.over(waiter);
    }
  }

  private lost(error: unknown): void {
    if (this.closed) return;
    for (const waiter of this.waiters.values()) {
      // Of one not yet asked of, the place of the first loss stands: the log may be cut from there on.
      if (waiter.lostAtMs === null && !waiter.unasked) waiter.loss?.lost();
      waiter.lostAtMs ??= this.options.nowMs();
    }
    this.options.onFault(error);
  }
}
