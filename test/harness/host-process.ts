/** A real headless host in its own process, in a data folder of the test's. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { resolveHome, type Home } from '../../main/home.js';
import { connectClient, type TestClient } from './client.js';

const entry = path.resolve(import.meta.dirname, '../../out/main/headless.js');

export interface HostProcess {
  readonly home: Home;
  readonly process: ChildProcess;
  connect(): Promise<TestClient>;
  /** SIGKILL, and waits until the system has reaped it. */
  kill(): Promise<void>;
  /** Orderly, by the `shutdown` method. */
  shutdown(): Promise<void>;
}

export async function makeHomeRoot(): Promise<{ readonly root: string; remove(): Promise<void> }> {
  const root = await mkdtemp(path.join(os.tmpdir(), 'iris-home-'));
  return { root, remove: () => rm(root, { recursive: true, force: true }) };
}

/** Starts a host on `root` and resolves when it answers. `wrap` puts commands before it (nice, setpriv ...). */
export async function startHostProcess(
  root: string,
  options: { readonly env?: NodeJS.ProcessEnv; readonly wrap?: readonly string[] } = {},
): Promise<HostProcess> {
  if (!existsSync(entry)) throw new Error(`${entry} is missing: run npm run build first`);
  const home = resolveHome({ flag: root });
  const words = [...(options.wrap ?? []), process.execPath, entry, '--home', root];
  const child = spawn(words[0] ?? process.execPath, words.slice(1), {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: options.env ?? process.env,
  });
  let errors = '';
  child.stderr.on('data', (chunk: Buffer) => {
    errors = `${errors}${chunk.toString()}`.slice(-4000);
  });
  // As it says itself: what comes before it may lead to another machine, where a folder has another name.
  const socket = await new Promise<string>((resolve, reject) => {
    child.stdout.on('data', (chunk: Buffer) => {
      const ready = /^ready (.+)$/m.exec(chunk.toString())?.[1];
      if (ready !== undefined) resolve(ready);
    });
    child.once('error', reject);
    child.once('exit', (code, signal) =>
      reject(new Error(`the host ended with ${code ?? signal}: ${errors}`)),
    );
  });
  const ended = (): Promise<unknown> =>
    child.exitCode !== null || child.signalCode !== null ? Promise.resolve() : once(child, 'exit');
  return {
    home,
    process: child,
    connect: () => connectClient(socket),
    async kill() {
      child.kill('SIGKILL');
      await ended();
    },
    async shutdown() {
      const client = await connectClient(socket);
      await client.call('shutdown', { reason: 'the test is over' }).catch(() => undefined);
      await ended();
    },
  };
}
