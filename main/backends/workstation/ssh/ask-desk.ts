/**
 * What SSH clients ask, handed to whoever listens, one question after another. An answer is held in memory and nowhere else, and only
 * as long as it is needed: for the login it was given for, or, where its giver wished so, until this process ends.
 */
import { randomBytes } from 'node:crypto';
import type { Question } from '../../../../core/contract/questions.js';
import { formatSshAddress, parseSshAddress, type SshAddress } from './address.js';
import type { Asked } from './ask-words.js';

export interface AskDeskOptions {
  readonly nowMs: () => number;
  /** The program an SSH client asks through. */
  readonly helperFile: () => string;
  /** What is asked, or whether anything is, changed. */
  readonly onChange: () => void;
  readonly limitMs?: number | undefined;
}

/** On the way to whom. */
export interface AskSubject {
  readonly address: SshAddress;
  /** Null: it is only looked at. */
  readonly machine: string | null;
}

export type Unanswered = 'cancelled' | 'late' | 'withdrawn';

export type Answer =
  { readonly kind: 'given'; readonly text: string; readonly keep: boolean } | { readonly kind: Unanswered };

/** Answers by what they are to, for logins that follow at once. */
export type Answers = Map<string, string>;

interface Waiting {
  readonly question: Omit<Question, 'expiresAtMs'>;
  readonly settle: (answer: Answer) => void;
}

/** sshd gives a login two minutes. */
const usualLimitMs = 100_000;
/** From the look at a machine that is added to the connection to it. */
const handedForMs = 60_000;

export class AskDesk {
  private readonly listeners = new Map<string, number>();
  private readonly heard = new Set<() => void>();
  private readonly queue: Waiting[] = [];
  private shown: { readonly waiting: Waiting; readonly expiresAtMs: number; timer: NodeJS.Timeout } | null =
    null;
  private readonly kept: Answers = new Map();
  private readonly handed = new Map<string, { readonly answers: Answers; readonly untilMs: number }>();

  constructor(private readonly options: AskDeskOptions) {}

  get helperFile(): string {
    return this.options.helperFile();
  }

  get limitMs(): number {
    return this.options.limitMs ?? usualLimitMs;
  }

  /** Somebody listens to what is asked on the way to one machine, or (null) to any, or does so no more. */
  listen(address: string | null, on: boolean): void {
    const key = keyOf(address);
    if (on) this.listeners.set(key, (this.listeners.get(key) ?? 0) + 1);
    else {
      const left = (this.listeners.get(key) ?? 0) - 1;
      if (left > 0) this.listeners.set(key, left);
      else this.listeners.delete(key);
      this.withdrawUnheard();
    }
    if (on) for (const tell of this.heard) tell();
  }

  isHeard({ address }: Pick<AskSubject, 'address'>): boolean {
    return this.listeners.has('') || this.listeners.has(formatSshAddress(address));
  }

  /** Told whenever somebody begins to listen. */
  onListener(tell: () => void): void {
    this.heard.add(tell);
  }

  /** What is asked now of who listens to this machine (null: to all). */
  open(address: string | null): Question | null {
    if (this.shown === null) return null;
    const { waiting, expiresAtMs } = this.shown;
    const key = keyOf(address);
    return key === '' || key === waiting.question.address ? { ...waiting.question, expiresAtMs } : null;
  }

  /** False: it is not asked any more. */
  answer(id: string, text: string | null, keep: boolean): boolean {
    if (this.shown?.waiting.question.id !== id) return false;
    this.settle(this.shown.waiting, text === null ? { kind: 'cancelled' } : { kind: 'given', text, keep });
    return true;
  }

  /** `signal`: who asked is gone. */
  ask(
    { address, machine }: AskSubject,
    asked: Asked & Pick<Question, 'mayKeep' | 'wrongBefore'>,
    signal: AbortSignal,
  ): Promise<Answer> {
    return new Promise((resolve) => {
      const question = {
        id: randomBytes(8).toString('hex'),
        machine,
        address: formatSshAddress(address),
        ...asked,
      };
      const withdraw = (): void => this.settle(waiting, { kind: 'withdrawn' });
      const waiting: Waiting = {
        question,
        settle: (answer) => {
          signal.removeEventListener('abort', withdraw);
          resolve(answer);
        },
      };
      this.queue.push(waiting);
      signal.addEventListener('abort', withdraw);
      if (signal.aborted) withdraw();
      this.showNext();
    });
  }

  recall(key: string): string | null {
    return this.kept.get(key) ?? null;
  }

  keep(key: string, text: string): void {
    this.kept.set(key, text);
  }

  forget(key: string): void {
    this.kept.delete(key);
  }

  /** The next connection to that address needs no second answer. */
  handOver(address: SshAddress, answers: Answers): void {
    if (answers.size === 0) return;
    this.handed.set(formatSshAddress(address), { answers, untilMs: this.options.nowMs() + handedForMs });
    setTimeout(() => this.dropHanded(), handedForMs + 1).unref();
  }

  takeHanded(address: SshAddress): Answers {
    this.dropHanded();
    const key = formatSshAddress(address);
    const found = this.handed.get(key)?.answers ?? new Map<string, string>();
    this.handed.delete(key);
    return found;
  }

  close(): void {
    this.listeners.clear();
    this.withdrawUnheard();
    this.heard.clear();
    this.kept.clear();
    this.handed.clear();
  }

  private dropHanded(): void {
    for (const [key, { untilMs }] of this.handed)
      if (untilMs <= this.options.nowMs()) this.handed.delete(key);
  }

  private withdrawUnheard(): void {
    for (const waiting of [...this.queue])
      if (!this.isHeard({ address: parseSshAddress(waiting.question.address) }))
        this.settle(waiting, { kind: 'withdrawn' });
  }

  /** Its time runs from when it is shown. */
  private showNext(): void {
    const [next] = this.queue;
    if (this.shown !== null || next === undefined) return;
    const timer = setTimeout(() => this.settle(next, { kind: 'late' }), this.limitMs);
    timer.unref();
    this.shown = { waiting: next, expiresAtMs: this.options.nowMs() + this.limitMs, timer };
    this.options.onChange();
  }

  private settle(waiting: Waiting, answer: Answer): void {
    const at = this.queue.indexOf(waiting);
    if (at < 0) return;
    this.queue.splice(at, 1);
    const wasShown = this.shown?.waiting === waiting;
    if (wasShown) {
      clearTimeout(this.shown?.timer);
      this.shown = null;
    }
    waiting.settle(answer);
    this.showNext();
    if (wasShown && this.shown === null) this.options.onChange();
  }
}

function keyOf(address: string | null): string {
  if (address === null || address === '') return '';
  return formatSshAddress(parseSshAddress(address));
}
