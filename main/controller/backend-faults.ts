/** What is wrong with a backend at the moment, by the call it showed in; told when it comes and when it goes. */
import { describeError, type Logger } from './logger.js';

/** Calls without which nothing can be started there. */
const vital: ReadonlySet<string> = new Set(['start', 'reconcile']);

export class BackendFaults {
  private readonly byCall = new Map<string, string>();

  constructor(
    private readonly id: string,
    private readonly logger: Logger,
    private readonly changed: () => void,
  ) {}

  /** One sentence or several; null when all is well. */
  text(): string | null {
    return this.byCall.size === 0 ? null : [...this.byCall.values()].join(' ');
  }

  /** Nothing can be started there as long as it lasts. */
  isVital(): boolean {
    return [...this.byCall.keys()].some((call) => vital.has(call));
  }

  has(call: string): boolean {
    return this.byCall.has(call);
  }

  threw(call: string, error: unknown): void {
    const why = error instanceof Error ? error.message : String(error);
    this.note(call, `The backend ${this.id} failed in ${call}: ${why}.`, describeError(error));
  }

  hangs(call: string, message: string): void {
    this.note(call, message, {});
  }

  isWell(call: string): void {
    if (!this.byCall.delete(call)) return;
    this.logger.info('A backend answers again', { backend: this.id, call });
    this.changed();
  }

  private note(call: string, message: string, detail: Readonly<Record<string, unknown>>): void {
    const before = this.byCall.get(call);
    if (before === message) return;
    this.byCall.set(call, message);
    this.logger.error(message, { backend: this.id, call, ...detail });
    this.changed();
  }
}
