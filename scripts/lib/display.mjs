/** A virtual display where there is none: Xvfb on a free number, with a cookie so that other users of the machine cannot look on. */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { UserError } from './step.mjs';

/**
 * @param {{size?: string, readableBy?: number}} [options] `readableBy`: a user id that may use the display as well.
 * @returns {Promise<{env: Record<string, string>, stop: () => void}>}
 */
export async function startDisplay(options = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'iris-display-'));
  const cookies = join(folder, 'Xauthority');
  writeFileSync(cookies, cookieFile(randomBytes(16)), {
    mode: options.readableBy === undefined ? 0o600 : 0o644,
  });
  if (options.readableBy !== undefined) chmodSync(folder, 0o755);
  const server = spawn(
    'Xvfb',
    [
      '-displayfd',
      '3',
      '-screen',
      '0',
      options.size ?? '1280x800x24',
      '-auth',
      cookies,
      '-nolisten',
      'tcp',
      '-noreset',
    ],
    // A group of its own: Ctrl-C must end the window first, and the display after it.
    { stdio: ['ignore', 'ignore', 'pipe', 'pipe'], detached: true },
  );
  const stop = () => {
    process.off('exit', stop);
    server.kill('SIGTERM');
    rmSync(folder, { recursive: true, force: true });
  };
  process.once('exit', stop);
  let errors = '';
  server.stderr?.on('data', (chunk) => {
    errors = (errors + String(chunk)).slice(-4000);
  });
  const number = await new Promise((resolve, reject) => {
    const deadline = setTimeout(
      () => reject(new UserError(`Xvfb did not start within 60 s. ${errors}`)),
      60_000,
    );
    const settle = (/** @type {() => void} */ act) => {
      clearTimeout(deadline);
      act();
    };
    server.on('error', (error) =>
      settle(() =>
        reject(
          new UserError(
            `There is no display, and Xvfb cannot be started (${error.message}). Debian: apt-get install xvfb`,
          ),
        ),
      ),
    );
    server.on('exit', (code) => settle(() => reject(new UserError(`Xvfb ended (exit ${code}). ${errors}`))));
    let text = '';
    server.stdio[3]?.on('data', (chunk) => {
      text += String(chunk);
      if (text.includes('\n')) settle(() => resolve(text.trim()));
    });
  }).catch((error) => {
    stop();
    throw error;
  });
  server.unref();
  for (const stream of [server.stderr, server.stdio[3]])
    /** @type {import('node:net').Socket} */ (stream).unref();
  return { env: { DISPLAY: `:${number}`, XAUTHORITY: cookies }, stop };
}

/** One entry of an Xauthority file that holds for any address and display number. @param {Buffer} cookie */
function cookieFile(cookie) {
  const wild = Buffer.from([0xff, 0xff, 0, 0, 0, 0]);
  const name = Buffer.from('MIT-MAGIC-COOKIE-1');
  return Buffer.concat([wild, lengthOf(name), name, lengthOf(cookie), cookie]);
}

/** @param {Buffer} part */
function lengthOf(part) {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(part.length);
  return length;
}
