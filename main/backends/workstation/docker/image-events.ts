/** While somebody looks at an Engine's images: its word that some came or went, or that a container of ours began or ceased to use one. */
import { managedLabel } from './container-plan.js';
import { EngineRefusal, type Engine } from './engine.js';

export interface ImageEventsOptions {
  readonly engine: Engine;
  /** Value of the label that says whose containers they are. */
  readonly owner: string;
  readonly changed: () => void;
}

const reconnectMs = 2000;
const absentMs = 5000;
/** One that refuses such a question will hardly answer it soon. */
const refusedMs = 60_000;
/** Many events a moment, as of a thousand containers, are told of once. */
const gatherMs = 250;

export class ImageEvents {
  private abort: AbortController | null = null;
  private timer: NodeJS.Timeout | null = null;

  constructor(private readonly options: ImageEventsOptions) {}

  listen(on: boolean): void {
    if (on === (this.abort !== null)) return;
    this.abort?.abort();
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = null;
    this.abort = on ? new AbortController() : null;
    if (this.abort !== null) void this.follow(this.abort.signal);
  }

  /** For as long as it is listened to, also over the Engine's restarts. */
  private async follow(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const waitMs = (await this.options.engine.ready(0)) ? await this.listenOnce(signal) : absentMs;
      await new Promise((resolve) => setTimeout(resolve, waitMs).unref());
    }
  }

  /** To the end of either stream, and then of both. Returns how long to wait before the next. */
  private async listenOnce(signal: AbortSignal): Promise<number> {
    const both = new AbortController();
    const end = (): void => both.abort();
    signal.addEventListener('abort', end, { once: true });
    const ours = { label: [`${managedLabel}=${this.options.owner}`], event: ['create', 'destroy'] };
    try {
      await Promise.race([
        this.stream(both.signal, { type: ['image'] }),
        this.stream(both.signal, { type: ['container'], ...ours }),
      ]);
      return reconnectMs;
    } catch (error) {
      return error instanceof EngineRefusal ? refusedMs : reconnectMs;
    } finally {
      signal.removeEventListener('abort', end);
      both.abort();
    }
  }

  /** Ends with the Engine's answer. */
  private async stream(signal: AbortSignal, filters: Readonly<Record<string, string[]>>): Promise<void> {
    const query = { filters: JSON.stringify(filters), abortSignal: signal };
    const stream = await this.options.engine.ask((docker) => docker.getEvents(query));
    // What came or went before the stream did.
    this.soon();
    await new Promise<void>((resolve) => {
      stream.on('data', () => this.soon());
      stream.on('end', resolve);
      stream.on('close', resolve);
      stream.on('error', () => resolve());
    });
  }

  private soon(): void {
    if (this.abort === null) return;
    this.timer ??= setTimeout(() => {
      this.timer = null;
      this.options.changed();
    }, gatherMs).unref();
  }
}
