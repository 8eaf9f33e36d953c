import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';
import { resolveHome, type Home } from '../home.js';
import { makeControllerThread } from './controller-thread.js';
import { connectOrStart, type HostLink } from './host-link.js';

/** A thread that tells of the first word it hears instead of doing it. */
const teller = new URL(
  `data:text/javascript,${encodeURIComponent(`
    import { parentPort } from 'node:worker_threads';
    parentPort.once('message', ({ kind }) => {
      const refusal = { code: 'INTERNAL', message: 'heard ' + kind, fields: [] };
      parentPort.postMessage({ kind: 'failed', refusal });
    });`)}`,
);

test('where nobody can listen the controller’s thread is made at once, not after a try to connect', async () => {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'iris-link-'));
  try {
    let made = false;
    process.once('worker', () => (made = true));
    const starting = connectOrStart({
      home: resolveHome({ flag: folder, env: {} }),
      appVersion: '0',
      runtime: 'test',
      workerModule: new URL('data:text/javascript,'),
    }).catch(() => null);
    await new Promise((resolve) => process.nextTick(resolve));
    expect(made).toBe(true);
    // That thread ends without a word.
    expect(await starting).toBeNull();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test('a thread that was made ahead is the one that is started', async () => {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'iris-link-'));
  const home = resolveHome({ flag: folder, env: {} });
  const thread = makeControllerThread(teller, { home, appVersion: '0', runtime: 'test' });
  let others = 0;
  const count = () => (others += 1);
  try {
    // A new thread is told of a tick after it was made.
    await once(process, 'worker');
    process.on('worker', count);
    const workerModule = new URL('data:text/javascript,');
    await expect(
      connectOrStart({ home, appVersion: '0', runtime: 'test', workerModule, thread }),
    ).rejects.toThrow('heard start');
    expect(others).toBe(0);
  } finally {
    process.off('worker', count);
    await thread.worker.terminate();
    rmSync(folder, { recursive: true, force: true });
  }
});

test('and is ended, without a word, where there is a host to attach to', async () => {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'iris-link-'));
  const home = resolveHome({ flag: folder, env: {} });
  const thread = makeControllerThread(teller, { home, appVersion: '0', runtime: 'test' });
  const heard: unknown[] = [];
  thread.worker.on('message', (message) => heard.push(message));
  const ended = once(thread.worker, 'exit');
  const server = net.createServer();
  try {
    mkdirSync(path.dirname(home.socket), { recursive: true });
    server.listen(home.socket);
    await once(server, 'listening');
    const workerModule = new URL('data:text/javascript,');
    const link = await connectOrStart({ home, appVersion: '0', runtime: 'test', workerModule, thread });
    expect(link.kind).toBe('attached');
    await ended;
    expect(heard).toEqual([]);
    await link.shutdown('the test is over');
  } finally {
    server.close();
    await thread.worker.terminate();
    rmSync(folder, { recursive: true, force: true });
  }
});

/** A thread that finds the folder owned by another until there is a file `free` beside it. */
const owned = new URL(
  `data:text/javascript,${encodeURIComponent(`
    import { existsSync } from 'node:fs';
    import { parentPort, workerData } from 'node:worker_threads';
    parentPort.once('message', () => {
      const refusal = { code: 'FOLDER_OWNED', message: 'in use by the headless host', fields: [] };
      parentPort.postMessage(
        existsSync(workerData.home.root + '/free') ? { kind: 'ready' } : { kind: 'failed', refusal },
      );
    });`)}`,
);

/** What becomes of a start while another host has the folder; `meanwhile` is told of the second try. */
async function startedBeside(meanwhile: (home: Home) => void, patienceMs?: number): Promise<HostLink> {
  const home = resolveHome({ flag: mkdtempSync(path.join(os.tmpdir(), 'iris-link-')), env: {} });
  let threads = 0;
  const count = () => {
    if ((threads += 1) === 2) meanwhile(home);
  };
  process.on('worker', count);
  try {
    return await connectOrStart({
      home,
      appVersion: '0',
      runtime: 'test',
      workerModule: owned,
      ...(patienceMs === undefined ? {} : { patienceMs }),
    });
  } finally {
    process.off('worker', count);
    rmSync(home.root, { recursive: true, force: true });
  }
}

test('a host that has the folder and has just closed its socket is waited for until it is gone', async () => {
  const link = await startedBeside((home) => writeFileSync(path.join(home.root, 'free'), ''));
  expect(link.kind).toBe('own');
  // That thread knows no orderly end.
  void link.shutdown('the test is over');
});

test('one that has just taken it is attached to once it listens', async () => {
  const server = net.createServer();
  try {
    const link = await startedBeside((home) => {
      mkdirSync(path.dirname(home.socket), { recursive: true });
      server.listen(home.socket);
    });
    expect(link.kind).toBe('attached');
    await link.shutdown('the test is over');
  } finally {
    server.close();
  }
});

test('and one that does neither is told of, with who it is', async () => {
  await expect(startedBeside(() => undefined, 0)).rejects.toThrow('in use by the headless host');
});

test('a thread made ahead that failed is told of when it is to be started', async () => {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'iris-link-'));
  const home = resolveHome({ flag: folder, env: {} });
  const workerModule = new URL('data:text/javascript,throw new Error("no code to run")');
  const thread = makeControllerThread(workerModule, { home, appVersion: '0', runtime: 'test' });
  try {
    await new Promise((resolve) => thread.worker.on('exit', resolve));
    await expect(
      connectOrStart({ home, appVersion: '0', runtime: 'test', workerModule, thread }),
    ).rejects.toThrow("The controller's thread failed: no code to run");
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
