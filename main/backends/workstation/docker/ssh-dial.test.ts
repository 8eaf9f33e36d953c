import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { eventually } from '../../../../test/harness/eventually.js';
import { readProcess } from '../../../machine/processes.js';
import { Engine } from './engine.js';
import { SshDial } from './ssh-dial.js';

let folder: string;
let dial: SshDial;

const script = (name: string, lines: string): void =>
  writeFileSync(path.join(folder, name), `#!/bin/sh\n${lines}\n`, { mode: 0o755 });

beforeEach(() => {
  dial = new SshDial(['nowhere']);
  folder = mkdtempSync(path.join(os.tmpdir(), 'iris-dial-'));
  // A login is a shell here, and what is said to the Engine comes back.
  script('ssh', `echo $$ >>${folder}/logins; for last; do :; done; exec sh -c "$last"`);
  script('docker', 'exec cat');
  vi.stubEnv('PATH', `${folder}:${process.env['PATH'] ?? ''}`);
});
afterEach(() => {
  dial.close();
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true });
});

const logins = (): readonly number[] =>
  readFileSync(path.join(folder, 'logins'), 'utf8').trim().split('\n').map(Number);

async function ask(words: string): Promise<string> {
  const stream = dial.open(false);
  stream.end(words);
  return text(stream);
}

test('streams share one login while there are any, and for a while after', async () => {
  dial = new SshDial(['somewhere']);
  expect(await Promise.all(['a', 'b', 'c'].map(ask))).toEqual(['a', 'b', 'c']);
  expect(await ask('d')).toBe('d');
  expect(logins()).toHaveLength(1);
  expect(readProcess(logins()[0] ?? 0)).not.toBeNull();
  dial.close();
  await eventually(() => readProcess(logins()[0] ?? 0)).toBeNull();
});

test('one that nobody uses is ended, and the next stream has another', async () => {
  dial = new SshDial(['somewhere'], 20);
  expect(await ask('a')).toBe('a');
  await eventually(() => readProcess(logins()[0] ?? 0)).toBeNull();
  expect(await ask('b')).toBe('b');
  expect(logins()).toHaveLength(2);
});

test('what is under way when it is closed goes on to its end', async () => {
  dial = new SshDial(['somewhere']);
  const stream = dial.open(false);
  const whole = text(stream);
  stream.write('before ');
  dial.close();
  stream.end('after');
  expect(await whole).toBe('before after');
  await eventually(() => readProcess(logins()[0] ?? 0)).toBeNull();
});

test('one that was cut off is followed by another', async () => {
  dial = new SshDial(['somewhere']);
  const stream = dial.open(false);
  await eventually(() => stream.write('x') && logins().length).toBe(1);
  const failed = text(stream).catch(String);
  process.kill(-(logins()[0] ?? 0), 'SIGKILL');
  expect(await failed).toContain('could not be reached');
  expect(await ask('b')).toBe('b');
  expect(logins()).toHaveLength(2);
});

test('where there is no Perl each stream has a login, and what would be listened to fails', async () => {
  dial = new SshDial(['without-perl']);
  script('perl', 'exit 127');
  await expect(ask('a')).rejects.toThrow('could not be reached');
  expect(await ask('b')).toBe('b');
  expect(await ask('c')).toBe('c');
  expect(logins()).toHaveLength(3);
  await expect(text(dial.open(true))).rejects.toThrow('no Perl');
  expect(logins()).toHaveLength(3);
});

// A part of Perl is missing, or the key there runs this alone, whatever it is asked.
test.each(['exit 127', 'exit 2', 'exec docker'])(
  'an Engine where Perl does %s is reached from the second look on, although each that fails lets go of its way',
  async (perl) => {
    const info = JSON.stringify({ ServerVersion: '27.5.1', Name: 'far' });
    const answer = `HTTP/1.1 200 OK\\r\\nContent-Length: ${info.length}\\r\\n\\r\\n${info}`;
    script(
      'docker',
      `read -r asked; case $asked in GET*) printf '${answer}'; cat >/dev/null;; *) echo 'HTTP/1.1 400'; esac`,
    );
    script('perl', perl);
    const endpoint = { kind: 'ssh', args: [`where-perl-does-${perl}`], said: 'ssh://far' } as const;
    const found = { ok: true, endpoint, from: 'DOCKER_HOST' } as const;
    const engine = new Engine({ find: () => found, onState: () => undefined });
    try {
      expect((await engine.probe()).state).toBe('FAILED');
      expect(await engine.probe()).toMatchObject({ state: 'READY', version: '27.5.1' });
      expect(logins()).toHaveLength(2);
    } finally {
      engine.close();
    }
    // Once it can be run there, by whoever is next.
    rmSync(path.join(folder, 'perl'));
    script('docker', 'exec cat');
    dial = new SshDial(endpoint.args);
    expect(await Promise.all(['a', 'b', 'c'].map(ask))).toEqual(['a', 'b', 'c']);
    expect(logins()).toHaveLength(3);
  },
);
