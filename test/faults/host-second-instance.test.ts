/** Folders a host must not take: owned, newer, not writable; and what a dead owner leaves is no obstacle. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { networkFileSystem } from '../../main/machine/file-system.js';
import { over, running, shell, stop, submit } from '../harness/host-jobs.js';
import { makeHomeRoot, startHostProcess, type HostProcess } from '../harness/host-process.js';

let home: Awaited<ReturnType<typeof makeHomeRoot>>;
let host: HostProcess | null = null;

beforeEach(async () => {
  home = await makeHomeRoot();
});
afterEach(async () => {
  await host?.shutdown();
  host = null;
  await home.remove();
});

/** A start that must fail: exit code and the sentence it ended with. */
async function refusedStart(root: string, wrap: readonly string[] = []) {
  const entry = path.resolve(import.meta.dirname, '../../out/main/headless.js');
  const words = [...wrap, process.execPath, entry, '--home', root];
  const child = spawn(words[0] ?? '', words.slice(1), { stdio: ['ignore', 'ignore', 'pipe'] });
  let text = '';
  child.stderr.on('data', (chunk: Buffer) => (text += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, text };
}

test('a second host is refused with the owner named, and harms neither the first nor its jobs', async () => {
  host = await startHostProcess(home.root);
  const client = await host.connect();
  const jobId = await submit(client, shell('exec sleep 600', { grace: 1 }));
  await running(client, jobId);
  const { code, text } = await refusedStart(home.root);
  expect(code).toBe(125);
  expect(text).toContain(`in use by the headless host with process id ${host.process.pid}`);
  expect(text).toContain(host.home.folder);
  expect((await client.call('job.get', { jobId })).summary.state).toBe('RUNNING');
  const other = await host.connect();
  expect((await over(other, await submit(other, shell('exit 0')))).state).toBe('SUCCEEDED');
  await stop(client, jobId);
});

test('after a kill of the owner the next start succeeds at once, its socket file is no obstacle', async () => {
  host = await startHostProcess(home.root);
  const first = host.process.pid;
  await host.kill();
  expect(existsSync(host.home.socket)).toBe(true);
  host = await startHostProcess(home.root);
  const client = await host.connect();
  expect((await client.call('status', {})).pid).toBe(host.process.pid);
  expect(host.process.pid).not.toBe(first);
});

test('a database of a newer version is refused with advice and left as it is', async () => {
  host = await startHostProcess(home.root);
  const { database } = host.home;
  await host.shutdown();
  host = null;
  const opened = new Database(database);
  opened.exec(
    "INSERT INTO schema_migrations(version, name, applied_at_ms, app_version) VALUES (9999, 'later', 1, '99.0')",
  );
  opened.close();
  const before = readFileSync(database);
  const { code, text } = await refusedStart(home.root);
  expect(code).toBe(125);
  expect(text).toContain('has schema version 9999');
  expect(text).toContain('start that version, or choose another data folder');
  expect(readFileSync(database).equals(before)).toBe(true);
});

test('a damaged database is refused', async () => {
  host = await startHostProcess(home.root);
  const { database } = host.home;
  await host.shutdown();
  host = null;
  writeFileSync(database, 'this is no database at all, only text'.repeat(200));
  const { code, text } = await refusedStart(home.root);
  expect(code).toBe(125);
  expect(text).toMatch(/damaged|is a database of another program|not a database/);
  expect(text).toContain(database);
});

test.skipIf(process.getuid?.() !== 0)(
  'a folder that cannot be written is refused with its path (left out unless root: it gives up its rights)',
  async () => {
    const folder = path.join(home.root, 'locked');
    mkdirSync(folder);
    chmodSync(home.root, 0o755);
    chmodSync(folder, 0o555);
    const { code, text } = await refusedStart(folder, [
      'setpriv',
      '--bounding-set=-all',
      '--inh-caps=-all',
      '--reuid=65534',
      '--regid=65534',
      '--clear-groups',
    ]);
    expect(code).toBe(125);
    expect(text).toMatch(/The data folder .*locked.* cannot be used: EACCES/);
    expect(text).toContain('--home');
  },
);

test('network file systems are told by the mount, local ones are not', () => {
  expect(networkFileSystem(home.root)).toBeNull();
  // Not there yet: the folder it would be made in counts.
  expect(networkFileSystem(path.join(home.root, 'a', 'b'))).toBeNull();
});
