/** Calls of nvidia-smi, none of which can hold this program: each has a time limit, and while one hangs no other is made. */
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
  /** Null, or one sentence about the call that hangs. */
  hangs(): string | null;
  /** Answers within the time limit whatever the tool does; never rejects. */
  run(args: readonly string[]): Promise<ToolAnswer>;
  follow(
    args: readonly string[],
    told: { readonly text: (piece: string) => void; readonly ended: () => void },
  ): CardsCall;
}

export interface NvidiaToolOptions {
  readonly nowMs: () => number;
  readonly command?: string | undefined;
  readonly timeoutMs?: number | undefined;
}

const defaultTimeoutMs = 10_000;
const maxOutputBytes = 16 * 1024 * 1024;

export class NvidiaTool implements CardsTool {
  readonly timeoutMs: number;
  /** A call that was given up but still lives; a driver in trouble is not asked a second time. */
  private hanging: { readonly child: ChildProcess; readonly sinceMs: number } | null = null;

  constructor(private readonly options: NvidiaToolOptions) {
    this.timeoutMs = options.timeoutMs ?? defaultTimeoutMs;
  }

  /** Null, or one sentence about the call that hangs. */
  hangs(): string | null {
    if (this.hanging === null) return null;
    const seconds = Math.max(0, Math.round((this.options.nowMs() - this.hanging.sinceMs) / 1000));
    return `nvidia-smi has not answered for ${seconds + Math.round(this.timeoutMs / 1000)} s; it is not asked again before it ends`;
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
      giveUp: () => this.giveUp(child),
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
  private giveUp(child: ChildProcess): void {
    if (child.exitCode !== null || child.signalCode !== null) return;
    this.hanging = { child, sinceMs: this.options.nowMs() };
    child.once('exit', () => {
      if (this.hanging?.child === child) this.hanging = null;
    });
    child.kill('SIGKILL');
    child.unref();
    child.stdout?.destroy();
    child.stderr?.destroy();
  }

  /** Answers within the time limit whatever the tool does; never rejects. */
  run(args: readonly string[]): Promise<ToolAnswer> {
    const hangs = this.hangs();
    if (hangs !== null) return Promise.resolve({ kind: 'failed', reason: hangs });
    if (!mayBeThere(this.options.command ?? 'nvidia-smi')) return Promise.resolve({ kind: 'absent' });
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
      const timer = setTimeout(() => {
        this.giveUp(child);
        resolve({ kind: 'failed', reason: `nvidia-smi did not answer within ${this.timeoutMs / 1000} s` });
      }, this.timeoutMs);
      child.once('close', () => {
        clearTimeout(timer);
        resolve({ kind: 'text', text: Buffer.concat(pieces).toString('utf8') });
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
