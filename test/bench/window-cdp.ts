/**
 * An Electron process of either kind, the application or the bare window beside it, started and looked into the same way: DevTools
 * over a pipe, which needs no port and waits for nothing while the process starts.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';

export interface WindowProcess {
  readonly pid: number;
  /** `Date.now()` before the process was made. */
  readonly startedAtMs: number;
  /** Runs a function that needs nothing from outside in the page; waits for its promise. Asked again when the page was replaced. */
  evaluate<Args extends readonly unknown[], T>(
    run: (...args: Args) => T | Promise<T>,
    ...args: Args
  ): Promise<T>;
  /** A command of the DevTools protocol to the page. */
  send(method: string, params?: object): Promise<unknown>;
  /** The same without waiting for an answer: a wheel that turns on is answered late, or together with later turns, or not. */
  post(method: string, params: object): void;
  end(): Promise<void>;
}

export interface WindowCommand {
  readonly executable: string;
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
}

interface Answer {
  readonly id?: number;
  readonly method?: string;
  readonly params?: {
    readonly sessionId?: string;
    readonly targetInfo?: { readonly type: string };
  };
  readonly result?: unknown;
  readonly error?: { readonly message: string };
}

interface Evaluated {
  readonly result: { readonly value?: unknown };
  readonly exceptionDetails?: {
    readonly text: string;
    readonly exception?: { readonly description?: string };
  };
}

/** Longest wait for one answer of the page. */
const patienceMs = 60_000;
const endPatienceMs = 10_000;
/** The page is being loaded or was replaced: it can be asked again. */
const replaced = /execution context|inspected target navigated|cannot find context|promise was collected/i;

export async function startWindow(command: WindowCommand): Promise<WindowProcess> {
  const startedAtMs = Date.now();
  const child = spawn(command.executable, ['--remote-debugging-pipe', ...command.args], {
    // A group of its own: Chromium's helpers end with it. Its own lines are many and say nothing of the measured.
    detached: true,
    stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'],
    env: command.env,
  });
  const pipe = openPipe(child);
  try {
    const session = await pipe.firstPage();
    return {
      pid: child.pid ?? 0,
      startedAtMs,
      send: (method, params = {}) => pipe.send(method, params, session),
      post: (method, params) => pipe.post(method, params, session),
      evaluate: (run, ...args) => evaluate(pipe, session, run, args),
      end: () => end(child),
    };
  } catch (error) {
    await end(child);
    throw error;
  }
}

interface Pipe {
  send(method: string, params: object, session?: string): Promise<unknown>;
  post(method: string, params: object, session: string): void;
  /** The session of the first page there is. */
  firstPage(): Promise<string>;
}

function openPipe(child: ChildProcess): Pipe {
  const input = child.stdio[3] as Writable;
  const output = child.stdio[4] as Readable;
  const pending = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>();
  let nextId = 1;
  let text = '';
  let pageFound: (session: string) => void = () => undefined;
  const page = new Promise<string>((resolve) => (pageFound = resolve));
  let failed: (error: Error) => void = () => undefined;
  const failure = new Promise<never>((_resolve, reject) => (failed = reject));
  failure.catch(() => undefined);

  function receive(message: Answer): void {
    if (message.method === 'Target.attachedToTarget' && message.params?.targetInfo?.type === 'page')
      pageFound(message.params.sessionId ?? '');
    const waiting = message.id === undefined ? undefined : pending.get(message.id);
    if (message.id === undefined || waiting === undefined) return;
    pending.delete(message.id);
    if (message.error === undefined) waiting.resolve(message.result);
    else waiting.reject(new Error(message.error.message));
  }
  output.setEncoding('utf8');
  output.on('data', (chunk: string) => {
    text += chunk;
    for (let at = text.indexOf('\0'); at >= 0; at = text.indexOf('\0')) {
      const line = text.slice(0, at);
      text = text.slice(at + 1);
      receive(JSON.parse(line) as Answer);
    }
  });
  const over = (error: Error) => {
    failed(error);
    for (const { reject } of pending.values()) reject(error);
    pending.clear();
  };
  child.once('error', over);
  child.once('exit', (code, signal) =>
    over(new Error(`The window ended with ${signal ?? code ?? 'nothing'}.`)),
  );
  // The process may end between a check and a write; its exit says so.
  input.on('error', () => undefined);
  output.on('error', () => undefined);

  function write(method: string, params: object, session?: string): number {
    const id = nextId++;
    input.write(`${JSON.stringify({ id, method, params, sessionId: session })}\0`);
    return id;
  }

  function send(method: string, params: object, session?: string): Promise<unknown> {
    const id = write(method, params, session);
    const answer = new Promise<unknown>((resolve, reject) => pending.set(id, { resolve, reject }));
    return withPatience(Promise.race([answer, failure]), method);
  }

  return {
    send,
    post: (method, params, session) => void write(method, params, session),
    async firstPage() {
      await send('Target.setAutoAttach', { autoAttach: true, waitForDebuggerOnStart: false, flatten: true });
      return withPatience(Promise.race([page, failure]), 'the first page');
    },
  };
}

async function evaluate<Args extends readonly unknown[], T>(
  pipe: Pipe,
  session: string,
  run: (...args: Args) => T | Promise<T>,
  args: Args,
): Promise<T> {
  const expression = `(${run.toString()})(${args.map((argument) => JSON.stringify(argument)).join(',')})`;
  const deadline = performance.now() + patienceMs;
  for (;;) {
    try {
      const answer = (await pipe.send(
        'Runtime.evaluate',
        { expression, awaitPromise: true, returnByValue: true },
        session,
      )) as Evaluated;
      const { exceptionDetails } = answer;
      if (exceptionDetails !== undefined)
        throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
      return answer.result.value as T;
    } catch (error) {
      const again = error instanceof Error && replaced.test(error.message) && performance.now() < deadline;
      if (!again) throw error;
    }
  }
}

async function withPatience<T>(promise: Promise<T>, what: string): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(
      () => reject(new Error(`${what}: no answer within ${patienceMs / 1000} s.`)),
      patienceMs,
    );
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** SIGTERM is the polite way out of Electron; what is left of its group is killed. */
async function end(child: ChildProcess): Promise<void> {
  const over = () => child.exitCode !== null || child.signalCode !== null || child.pid === undefined;
  if (!over()) {
    const exit = once(child, 'exit');
    child.kill('SIGTERM');
    const timer = setTimeout(() => child.kill('SIGKILL'), endPatienceMs);
    await exit;
    clearTimeout(timer);
  }
  try {
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
  } catch {
    // The group has ended.
  }
}
