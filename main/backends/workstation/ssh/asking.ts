/**
 * What lets one run of an SSH client ask: a folder of its own (0700) with the program it asks through, a socket, and tokens of which each
 * is good for one question and gone with it. Neither an argument nor the environment holds more than that folder's name.
 */
import { randomBytes } from 'node:crypto';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { askedBy, tellsWhoAsks, type Asked } from './ask-words.js';
import type { Answers, AskDesk, AskSubject, Unanswered } from './ask-desk.js';
import type { SshFailure } from './ssh-failure.js';
import { askClientMs, runProgram, sshProgram, type SshClient } from './ssh-command.js';

/** More than any login asks. */
const mostQuestions = 16;
const mostRequestBytes = 8192;

export class Asking {
  /** Ends the client, which would try nothing in place of what it was not told. */
  stop: () => void = () => undefined;
  private readonly tokens = new Set<string>();
  private readonly sockets = new Set<net.Socket>();
  /** What was told; what is to be known in logins that follow at once. */
  private readonly given: Answers = new Map();
  private readonly kept = new Map<string, string>();
  private readonly tried = new Set<string>();
  private readonly server: net.Server;
  private readonly over = new AbortController();
  private asks = 0;
  private last: Asked | null = null;
  private why: { readonly kind: Unanswered | 'wrong'; readonly asked: Asked } | null = null;

  private constructor(
    private readonly desk: AskDesk,
    private readonly subject: AskSubject,
    private readonly folder: string,
    /** Told in logins before this one; what this one was told is added when it went well. */
    private readonly before: Answers,
    private readonly mayKeep: boolean,
  ) {
    for (let count = 0; count < mostQuestions; count += 1) {
      const token = randomBytes(16).toString('hex');
      this.tokens.add(token);
      writeFileSync(path.join(folder, `t${count}`), token, { mode: 0o600 });
    }
    const quoted = [process.execPath, desk.helperFile, folder].map(
      (word) => `'${word.replaceAll("'", `'\\''`)}'`,
    );
    writeFileSync(
      path.join(folder, 'ask'),
      `#!/bin/sh\nunset NODE_OPTIONS\nELECTRON_RUN_AS_NODE=1 exec ${quoted.join(' ')} "$@"\n`,
      { mode: 0o700 },
    );
    this.server = net.createServer((socket) => this.accept(socket));
  }

  /** Null: nobody listens. */
  static async begin(options: {
    readonly desk: AskDesk;
    readonly client: SshClient;
    readonly subject: AskSubject;
    /** Of the sockets. */
    readonly folder: string;
    readonly before: Answers;
  }): Promise<Asking | null> {
    const { desk, client, subject, before } = options;
    if (!desk.isHeard(subject) && before.size === 0) return null;
    const version = await runProgram(sshProgram(client), ['-V'], { timeoutMs: askClientMs }).catch(
      () => null,
    );
    const folder = mkdtempSync(path.join(options.folder, 'q-'));
    chmodSync(folder, 0o700);
    const asking = new Asking(desk, subject, folder, before, tellsWhoAsks(version?.err ?? ''));
    await new Promise<void>((resolve, reject) => {
      asking.server.once('error', reject);
      asking.server.listen(path.join(folder, 's'), resolve);
    });
    return asking;
  }

  get program(): string {
    return path.join(this.folder, 'ask');
  }

  /** Somebody is asked, or is to be: silence is no fault of the machine. */
  get isOpen(): boolean {
    return this.asks > 0;
  }

  /** What all answers may take together. */
  get longestMs(): number {
    return 3 * this.desk.limitMs;
  }

  get advice(): string {
    return askAgain(this.subject);
  }

  /** The login went well: what is to be kept is kept. */
  succeeded(): void {
    for (const [key, text] of this.kept) this.desk.keep(key, text);
    for (const [key, text] of this.given) this.before.set(key, text);
    this.close();
  }

  /** What the client said in the end, in the light of what it was told. */
  judge(failure: SshFailure): SshFailure {
    const { why, last } = this;
    if (failure.kind === 'login') for (const key of this.tried) this.desk.forget(key);
    const reason =
      why ?? (failure.kind === 'login' && last !== null ? ({ kind: 'wrong', asked: last } as const) : null);
    if (reason === null || reason.kind === 'withdrawn') return failure;
    const what = nameOf(reason.asked);
    const seconds = Math.round(this.desk.limitMs / 1000);
    const said = {
      cancelled: `The question for ${what} was cancelled`,
      late: `The question for ${what} was not answered within ${seconds} s`,
      wrong: `It did not open with what was answered for ${what}`,
    }[reason.kind];
    return { kind: 'login', unanswered: 'refused', message: `${said}.`, advice: askAgain(this.subject) };
  }

  close(): void {
    this.over.abort();
    this.server.close();
    for (const socket of this.sockets) socket.destroy();
    this.given.clear();
    this.kept.clear();
    rmSync(this.folder, { recursive: true, force: true });
  }

  private giveUp(why: NonNullable<typeof this.why>): null {
    this.why ??= why;
    this.stop();
    return null;
  }

  private accept(socket: net.Socket): void {
    this.sockets.add(socket);
    let text = '';
    const gone = new AbortController();
    socket.on('error', () => undefined);
    socket.on('close', () => {
      this.sockets.delete(socket);
      gone.abort();
    });
    socket.setEncoding('utf8').on('data', (piece: string) => {
      text += piece;
      if (text.length > mostRequestBytes) socket.destroy();
      const end = text.indexOf('\n');
      if (end < 0) return;
      const request = requestOf(text.slice(0, end));
      text = '';
      if (request === null || !this.tokens.delete(request.token)) {
        socket.destroy();
        return;
      }
      void this.reply(request, gone.signal).then((answer) => {
        socket.end(answer === null ? '' : `${JSON.stringify({ answer })}\n`);
      });
    });
  }

  /** Null: none. */
  private async reply(request: Request, gone: AbortSignal): Promise<string | null> {
    const asked = askedBy(request.prompt, request.hint);
    if (asked === null || this.why !== null) return null;
    const key = `${asked.kind} ${asked.subject}`;
    const mayKeep = this.mayKeep && (asked.kind === 'passphrase' || asked.kind === 'password');
    const wrongBefore = this.tried.has(key) && asked.kind !== 'notice';
    if (wrongBefore) {
      this.desk.forget(key);
      this.kept.delete(key);
      this.given.delete(key);
    }
    this.tried.add(key);
    if (asked.kind !== 'notice') this.last = asked;
    const known = mayKeep && !wrongBefore ? (this.before.get(key) ?? this.desk.recall(key)) : null;
    if (known !== null) {
      this.given.set(key, known);
      return known;
    }
    if (!this.desk.isHeard(this.subject)) return this.giveUp({ kind: 'withdrawn', asked });
    this.asks += 1;
    const signal = AbortSignal.any([gone, this.over.signal]);
    const answer = await this.desk.ask(this.subject, { ...asked, mayKeep, wrongBefore }, signal);
    this.asks -= 1;
    if (answer.kind !== 'given') {
      // The client asks no more, as when a key was touched.
      if (signal.aborted) return null;
      return this.giveUp({ kind: answer.kind, asked });
    }
    if (mayKeep) this.given.set(key, answer.text);
    if (mayKeep && answer.keep) this.kept.set(key, answer.text);
    return answer.text;
  }
}

interface Request {
  readonly token: string;
  readonly prompt: string;
  readonly hint: string;
}

function requestOf(line: string): Request | null {
  try {
    const said: unknown = JSON.parse(line);
    if (typeof said !== 'object' || said === null) return null;
    const { token, prompt, hint } = said as Record<string, unknown>;
    if (typeof token !== 'string' || typeof prompt !== 'string' || typeof hint !== 'string') return null;
    return { token, prompt, hint };
  } catch {
    return null; // none of ours
  }
}

function nameOf({ kind, subject, text }: Asked): string {
  if (kind === 'passphrase') return `the passphrase of ${subject}`;
  if (kind === 'password') return `the password of ${subject}`;
  return kind === 'notice' ? `a touch of the key (${text})` : JSON.stringify(text);
}

/** What to do when nobody answered. */
export function askAgain({ machine }: Pick<AskSubject, 'machine'>): string {
  const how =
    machine === null
      ? 'Check it once more'
      : `Connect again (the window, or irisctl machine connect ${machine})`;
  return `${how} to be asked anew; or put the key into the agent (ssh-add), or use one without a passphrase.`;
}
