/**
 * Calls of nvidia-smi, none of which can hold this program: each has a time limit, and while one hangs no other is made. Where no driver
 * stays loaded between calls each one has to wake all cards, which takes longer than that where there are many: such a call goes on, and
 * what it says in the end is what the same question is answered with next.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';

export type ToolAnswer =
  | { readonly kind: 'text'; readonly text: string }
  /** `vendors`: of other devices there; those of this machine can be looked at. */
  | { readonly kind: 'absent'; readonly vendors?: readonly string[] }
  | { readonly kind: 'failed'; readonly reason: string };

/** A call that goes on until it is ended. */
export interface CardsCall {
  /** It does not answer: nothing waits for it any more. */
  giveUp(): void;
  end(): void;
}

/** How nvidia-smi is asked, here or on another machine. */
export interface CardsTool {
  readonly timeoutMs: number;
  /** For so long a call that may be late is let go on. */
  readonly longestMs: number;
  /** Null, or one sentence about the call that hangs. */
  hangs(): string | null;
  /** Answers within the time limit whatever the tool does; never rejects. `mayBeLate`: what it says after that is kept for a while. */
  run(args: readonly string[], mayBeLate?: boolean): Promise<ToolAnswer>;
  follow(
    args: readonly string[],
    told: { readonly text: (piece: string) => void; readonly ended: () => void },
  ): CardsCall;
}

export interface NvidiaToolOptions {
  readonly nowMs: () => number;
  readonly command?: string | undefined;
  readonly timeoutMs?: number | undefined;
  /** A call has answered after its time: to ask once more is worth it now. */
  readonly onLate?: (() => void) | undefined;
}

export const usualTimeoutMs = 10_000;
/** So many times as long as others a call that may be late goes on. */
const lateTimes = 6;
const maxOutputBytes = 16 * 1024 * 1024;

/** What calls that may be late took, and what one said that was. */
export class LateAnswers {
  readonly longestMs: number;
  private tookMs = 0;
  private late: { readonly asked: string; readonly text: string; readonly atMs: number } | null = null;

  constructor(private readonly timeoutMs: number) {
    this.longestMs = lateTimes * timeoutMs;
  }

  /** One that took long once may take as long again: that is no silence. */
  patienceMs(): number {
    return Math.min(this.longestMs, Math.max(this.timeoutMs, 2 * this.tookMs));
  }

  took(ms: number): void {
    this.tookMs = ms;
  }

  /** True: it says something. */
  keep(args: readonly string[], text: string): boolean {
    if (text.trim() === '') return false;
    this.late = { asked: args.join(' '), text, atMs: performance.now() };
    return true;
  }

  /** Once, and while it is new. */
  take(args: readonly string[]): ToolAnswer | null {
    const { late } = this;
    if (late === null || late.asked !== args.join(' ')) return null;
    this.late = null;
    return performance.now() - late.atMs > this.timeoutMs ? null : { kind: 'text', text: late.text };
  }
}

export const silentFor = (ms: number): string =>
  `nvidia-smi did not answer within ${Math.round(ms / 100) / 10} s`;

export class NvidiaTool implements CardsTool {
  readonly timeoutMs: number;
  readonly longestMs: number;
  /** A call that was given up, or is late, but still lives; a driver in trouble is not asked a second time. */
  private hanging: { readonly child: ChildProcess; readonly sinceMs: number } | null = null;
  private readonly lateAnswers: LateAnswers;

  constructor(private readonly options: NvidiaToolOptions) {
    this.timeoutMs = options.timeoutMs ?? usualTimeoutMs;
    this.lateAnswers = new LateAnswers(this.timeoutMs);
    this.longestMs = this.lateAnswers.longestMs;
  }

  hangs(): string | null {
    if (this.hanging === null) return null;
    const seconds = Math.max(0, Math.round((this.options.nowMs() - this.hanging.sinceMs) / 1000));
    return `nvidia-smi has not answered for ${seconds} s; it is not asked again before it ends`;
  }

  follow(
    args: readonly string[],
    { text, ended }: { readonly text: (piece: string) => void; readonly ended: () => void },
  ): CardsCall {
    const child = this.start(args, ended);
    child.stdout?.on('data', (piece: Buffer) => text(piece.toString('latin1')));
    // Nothing waits for it, so it must not fill.
    child.stderr?.resume();
    child.once('close', ended);
    return {
      giveUp: () => this.giveUp(child, this.timeoutMs),
      end: () => {
        child.kill('SIGKILL');
        child.unref();
        child.stdout?.destroy();
        child.stderr?.destroy();
      },
    };
  }

  /** Where it cannot be started, `onError` is told. */
  private start(args: readonly string[], onError: (absent: boolean, message: string) => void): ChildProcess {
    const child = spawn(this.options.command ?? 'nvidia-smi', args, {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, LC_ALL: 'C' },
    });
    child.once('error', (error) => onError('code' in error && error.code === 'ENOENT', error.message));
    return child;
  }

  /** Ends a call that does not answer. In the kernel's hands it may not even die: nothing of it may hold this program. */
  private giveUp(child: ChildProcess, silentMs: number): void {
    if (!this.hang(child, silentMs)) return;
    child.kill('SIGKILL');
    child.stdout?.destroy();
    child.stderr?.destroy();
  }

  /** False: it has ended. */
  private hang(child: ChildProcess, silentMs: number): boolean {
    if (child.exitCode !== null || child.signalCode !== null) return false;
    if (this.hanging?.child === child) return true;
    this.hanging = { child, sinceMs: this.options.nowMs() - silentMs };
    child.once('exit', () => {
      if (this.hanging?.child === child) this.hanging = null;
    });
    child.unref();
    return true;
  }

  /** Answers within the time limit whatever the tool does; never rejects. */
  run(args: readonly string[], mayBeLate = false): Promise<ToolAnswer> {
    const late = mayBeLate ? this.lateAnswers.take(args) : null;
    if (late !== null) return Promise.resolve(late);
    const hangs = this.hangs();
    if (hangs !== null) return Promise.resolve({ kind: 'failed', reason: hangs });
    if (!mayBeThere(this.options.command ?? 'nvidia-smi')) return Promise.resolve({ kind: 'absent' });
    const patienceMs = this.lateAnswers.patienceMs();
    const beganMs = performance.now();
    let isLate = false;
    return new Promise((resolve) => {
      const child = this.start(args, (absent, message) => {
        clearTimeout(timer);
        resolve(
          absent ? { kind: 'absent' } : { kind: 'failed', reason: `nvidia-smi could not be run: ${message}` },
        );
      });
      const pieces: Buffer[] = [];
      let length = 0;
      const take = (piece: Buffer): void => {
        length += piece.length;
        if (length <= maxOutputBytes) pieces.push(piece);
      };
      child.stdout?.on('data', take);
      child.stderr?.on('data', take);
      let timer = setTimeout(() => {
        isLate = mayBeLate && patienceMs < this.longestMs && this.hang(child, patienceMs);
        if (isLate)
          timer = setTimeout(() => this.giveUp(child, patienceMs), this.longestMs - patienceMs).unref();
        else this.giveUp(child, patienceMs);
        resolve({ kind: 'failed', reason: silentFor(patienceMs) });
      }, patienceMs);
      child.once('close', () => {
        clearTimeout(timer);
        const text = Buffer.concat(pieces).toString('utf8');
        if (mayBeLate && !child.killed) this.lateAnswers.took(performance.now() - beganMs);
        if (isLate && !child.killed && this.lateAnswers.keep(args, text)) this.options.onLate?.();
        resolve({ kind: 'text', text });
      });
    });
  }
}

/**
 * False: none of the folders that are searched has it. To learn it by a failed start means a copy of this whole process, at a start of
 * the desktop and each minute on a machine without cards.
 */
function mayBeThere(command: string): boolean {
  const folders = process.env['PATH'];
  if (process.platform === 'win32' || folders === undefined || command.includes('/')) return true;
  return folders.split(':').some((folder) => existsSync(path.join(folder, command)));
}
