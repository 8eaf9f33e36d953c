/** Runs one typed line and keeps its two streams apart. */
import { spawn } from 'node:child_process';
import { performance } from 'node:perf_hooks';
import { signalNumber } from '../lib/run.mjs';

/** @typedef {{code: number, out: string, err: string, timedOut: boolean, ms: number}} Ran */
/**
 * @typedef {{
 *   cwd?: string,
 *   env?: NodeJS.ProcessEnv,
 *   timeoutMs?: number,
 *   quiet?: boolean,
 *   shownAs?: string,
 *   onStart?: (interrupt: (signal: NodeJS.Signals) => void, output: () => {out: string, err: string}) => void,
 * }} CommandOptions
 */

/** Ends of what still runs, for an early end of ours. @type {Set<() => void>} */
const running = new Set();

export function endAllCommands() {
  for (const end of running) end();
}

/** @param {string} line typed into `sh` @param {CommandOptions} [options] @returns {Promise<Ran>} */
export function runCommand(line, options = {}) {
  const started = performance.now();
  if (!options.quiet) console.log(`$ ${options.shownAs ?? line}`);
  return new Promise((resolve, reject) => {
    const child = spawn('/bin/sh', ['-c', line], {
      cwd: options.cwd,
      env: options.env,
      stdio: ['ignore', 'pipe', 'pipe'],
      // A group of its own: a signal reaches what `sh` and npm started, as a terminal's Ctrl-C does.
      detached: true,
    });
    const parts = { out: /** @type {Buffer[]} */ ([]), err: /** @type {Buffer[]} */ ([]) };
    child.stdout.on('data', (data) => parts.out.push(data));
    child.stderr.on('data', (data) => parts.err.push(data));
    const text = () => ({
      out: Buffer.concat(parts.out).toString(),
      err: Buffer.concat(parts.err).toString(),
    });
    const signal = (/** @type {NodeJS.Signals} */ name) => {
      try {
        if (child.pid !== undefined) process.kill(-child.pid, name);
      } catch {
        // It has ended in the meantime.
      }
    };
    let timedOut = false;
    const limit = setTimeout(() => {
      timedOut = true;
      signal('SIGKILL');
    }, options.timeoutMs ?? 120_000);
    const endNow = () => signal('SIGKILL');
    running.add(endNow);
    options.onStart?.(signal, text);
    child.on('error', reject);
    child.on('close', (code, name) => {
      clearTimeout(limit);
      running.delete(endNow);
      const ran = {
        code: code ?? 128 + signalNumber(name),
        ...text(),
        timedOut,
        ms: Math.round(performance.now() - started),
      };
      if (!options.quiet) show(ran);
      resolve(ran);
    });
  });
}

/** @param {Ran} ran */
function show(ran) {
  const lines = (/** @type {string} */ text, /** @type {string} */ mark) => {
    if (text === '') return;
    const all = text.replace(/\n$/, '').split('\n');
    const shown =
      all.length > 60 ? [...all.slice(0, 40), `(${all.length - 55} lines more)`, ...all.slice(-15)] : all;
    for (const line of shown) console.log(`${mark} ${line.length > 400 ? `${line.slice(0, 400)}...` : line}`);
  };
  lines(ran.out, '  out|');
  lines(ran.err, '  err|');
  console.log(`  exit ${ran.code}${ran.timedOut ? ' (took too long)' : ''}, ${(ran.ms / 1000).toFixed(1)} s`);
}
