/** Running other programs from the scripts. */
import { spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { endFamily, newMark } from './family.mjs';

/** The outcome of a program: its exit code (128 + n for a signal) and the end of what it printed. */
const tailBytes = 16_000;
/** Told to end because we leave, it has this long before it is killed. */
const leaveMs = 3000;

/**
 * Runs a program without standard input and keeps the end of its output. Rejects only when it cannot be started.
 * @param {string} program
 * @param {readonly string[]} args
 * @param {{cwd?: string, env?: NodeJS.ProcessEnv, timeoutMs?: number, onLine?: (line: string) => void, inherit?: boolean}} [options]
 * @returns {Promise<{code: number, output: string, timedOut: boolean}>}
 */
export function run(program, args, options = {}) {
  return new Promise((resolve, reject) => {
    const grouped = options.timeoutMs !== undefined && process.platform !== 'win32';
    const { mark, env } = newMark();
    const child = spawn(program, args, {
      cwd: options.cwd,
      env: { ...(options.env ?? process.env), ...(grouped ? env : {}) },
      stdio: ['ignore', options.inherit ? 'inherit' : 'pipe', options.inherit ? 'inherit' : 'pipe'],
      // A group of its own, so that a time-out ends the children of the program too.
      detached: grouped,
    });
    let output = '';
    let timedOut = false;
    /** Ends of lines that are not whole yet, one a stream. @type {Map<unknown, string>} */
    const pending = new Map();
    const take = (/** @type {unknown} */ stream, /** @type {Buffer} */ chunk) => {
      const text = chunk.toString('utf8');
      output = (output + text).slice(-tailBytes);
      if (!options.onLine) return;
      const lines = ((pending.get(stream) ?? '') + text).split(/\r?\n|\r/);
      pending.set(stream, lines.pop() ?? '');
      for (const line of lines) options.onLine(line);
    };
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => take(stream, chunk));
    const end = (/** @type {NodeJS.Signals} */ signal) => {
      try {
        if (!grouped || child.pid === undefined) child.kill(signal);
        else process.kill(-child.pid, signal);
      } catch {
        // It has ended in the meantime.
      }
    };
    /** @type {NodeJS.Timeout[]} */
    const timers = [];
    const endAllOfIt = () => {
      end('SIGKILL');
      endFamily(mark);
    };
    const leave = () => {
      end('SIGTERM');
      endFamily(mark, leaveMs);
    };
    const release = grouped ? endWithUs(leave) : () => {};
    if (options.timeoutMs !== undefined) {
      timers.push(
        setTimeout(() => {
          timedOut = true;
          end('SIGTERM');
        }, options.timeoutMs),
        // What it has started may hold its output open, and would go on for ever.
        setTimeout(endAllOfIt, options.timeoutMs + 10_000),
      );
    }
    child.on('error', (error) => {
      timers.forEach((timer) => clearTimeout(timer));
      release();
      reject(error);
    });
    child.on('exit', () => {
      if (timedOut) endAllOfIt();
    });
    child.on('close', (code, signal) => {
      timers.forEach((timer) => clearTimeout(timer));
      release();
      for (const line of pending.values()) if (line !== '') options.onLine?.(line);
      resolve({ code: code ?? 128 + signalNumber(signal), output, timedOut });
    });
  });
}

/** Ends of programs that have a group of their own and so do not get the terminal's Ctrl-C. @type {Set<() => void>} */
const running = new Set();
const endAll = () => running.forEach((end) => end());
const leave = (/** @type {NodeJS.Signals} */ signal) => process.exit(128 + signalNumber(signal));
const leaving = /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP']);

/** Calls `end` should this process leave before the returned function is called. @param {() => void} end */
function endWithUs(end) {
  if (running.size === 0) {
    process.on('exit', endAll);
    for (const signal of leaving) process.on(signal, leave);
  }
  running.add(end);
  return () => {
    running.delete(end);
    if (running.size > 0) return;
    process.off('exit', endAll);
    for (const signal of leaving) process.off(signal, leave);
  };
}

/** @param {NodeJS.Signals | null} signal */
export function signalNumber(signal) {
  const numbers = {
    SIGHUP: 1,
    SIGINT: 2,
    SIGQUIT: 3,
    SIGABRT: 6,
    SIGKILL: 9,
    SIGSEGV: 11,
    SIGPIPE: 13,
    SIGTERM: 15,
  };
  return numbers[/** @type {keyof typeof numbers} */ (signal)] ?? 0;
}

/** True when a program is found on PATH. @param {string} program */
export function hasProgram(program) {
  const finder = process.platform === 'win32' ? 'where' : 'which';
  return spawnSync(finder, [program], { stdio: 'ignore' }).status === 0;
}

/** True when this process runs on musl, where binaries built for glibc do not run: told by the loader mapped into it. */
export function isMusl() {
  return (
    process.platform === 'linux' && /\/ld-musl-[^/\s]*\.so/.test(readFileSync('/proc/self/maps', 'latin1'))
  );
}
