import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { eventually } from '../../../../test/harness/eventually.js';
import { readProcess } from '../../../machine/processes.js';
import { openFarLink } from './far-link.js';
import { fingerprintOf, showHostKey } from './host-keys.js';
import { runProgram, sshArgs, userKnownHosts } from './ssh-command.js';
import type { SshFailure } from './ssh-failure.js';

let folder: string;
let program: string;

beforeEach(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'iris-ssh-'));
  program = path.join(folder, 'ssh');
  // As a configuration may have it: what it runs on the way hangs, and has its output open.
  writeFileSync(program, `#!/bin/sh\nsleep 300 &\necho $! >${folder}/pid\nwait\n`);
  chmodSync(program, 0o755);
});
afterEach(() => {
  vi.useRealTimers();
  rmSync(folder, { recursive: true });
});

/** Time passes when a test says so: a program that starts slowly would be ended before it hangs. */
function holdTimers(): void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] });
}

/** Of what hangs. */
async function hanging(): Promise<number> {
  const file = path.join(folder, 'pid');
  await eventually(() => existsSync(file) && readFileSync(file, 'utf8') !== '').toBe(true);
  return Number(readFileSync(file, 'utf8'));
}

test('a client that does not end in time is ended with all that it has started', async () => {
  holdTimers();
  const end = runProgram(program, [], { timeoutMs: 500 });
  const pid = await hanging();
  expect(readProcess(pid)).not.toBeNull();
  vi.advanceTimersByTime(500);
  expect((await end).code).toBeNull();
  await eventually(() => readProcess(pid)).toBeNull();
});

test('so is one that gives no answer', async () => {
  holdTimers();
  const lost = new Promise<SshFailure>((resolve) => {
    openFarLink({
      ssh: {
        client: { program },
        address,
        knownHosts: [],
        connectTimeoutMs: 1000,
        aliveEveryMs: 1000,
      },
      socketFolder: folder,
      monotonicMs: () => performance.now(),
      nowMs: () => Date.now(),
      helloWithinMs: 500,
      pingEveryMs: 50,
      silentAfterMs: 1000,
      onWord: () => undefined,
      onContact: () => undefined,
      onLost: resolve,
    });
  });
  const pid = await hanging();
  vi.advanceTimersByTime(500);
  expect((await lost).kind).toBe('silent');
  await eventually(() => readProcess(pid)).toBeNull();
});

const address = { user: null, host: 'ws-2', port: null };

test('one that has not told in time where known machines are written leaves no machine unknown', async () => {
  holdTimers();
  const refused = expect(userKnownHosts({ program }, address)).rejects.toThrow(
    `${program} -G ws-2 has not told within 30 s what its configuration has for it`,
  );
  await hanging();
  vi.advanceTimersByTime(30_000);
  await refused;
});

test('a machine that takes the connection and does not show its key is silent, not one whose shell runs nothing', async () => {
  holdTimers();
  const ssh = { client: { program }, address, knownHosts: [], connectTimeoutMs: 10_000, aliveEveryMs: 5000 };
  const shown = showHostKey(ssh);
  await hanging();
  vi.advanceTimersByTime(30_000);
  expect(await shown).toMatchObject({ kind: 'silent', message: 'ws-2 gave no answer within 30 s.' });
});

test('the fingerprint of a key is as ssh-keygen has it', () => {
  const key = 'AAAAC3NzaC1lZDI1NTE5AAAAILFztWzd2pznl/r71wXFz/E/mwmaz1xzeLSeXHdsplbx';
  expect(fingerprintOf(`ws-2 ssh-ed25519 ${key}`)).toBe('SHA256:Y+PDRtb9JZgqnO9OXAoY8PjZmqTEmfj7pXMKP63BsZ0');
});

test('of one that is over nothing is ended any more: its number may be that of others by then', async () => {
  writeFileSync(program, '#!/bin/sh\nexit 0\n');
  let end = (): void => undefined;
  await runProgram(program, [], { timeoutMs: 5000, onStart: (kill) => (end = kill) });
  const kill = vi.spyOn(process, 'kill').mockReturnValue(true);
  end();
  expect(kill).not.toHaveBeenCalled();
  kill.mockRestore();
});

const isThere = spawnSync('ssh', ['-V']).error === undefined;

test.runIf(isThere)(
  'a data folder with blanks and per cent signs in its name is one the client takes',
  () => {
    const folder = '/home/ann/Application Support/100 %h';
    const args = sshArgs(
      {
        client: { configFile: '/dev/null' },
        address: { user: 'ann', host: 'ws-2', port: 2222 },
        knownHosts: ['/home/ann/.ssh/known_hosts', `${folder}/known_hosts`],
        connectTimeoutMs: 10_000,
        aliveEveryMs: 5000,
      },
      { socket: `${folder}/ssh/0a`, master: true },
      'true',
    );
    // Says what it would do, and asks nobody.
    const { status, stdout, stderr } = spawnSync('ssh', ['-G', ...args], { encoding: 'utf8' });
    expect(stderr).toBe('');
    expect(status).toBe(0);
    const lines = stdout.split('\n');
    expect(lines).toContain('user ann');
    expect(lines).toContain('controlmaster true');
    expect(lines.find((line) => line.startsWith('controlpath'))).toMatch(
      /^controlpath \/home\/ann\/Application Support\/100 %%?h\/ssh\/0a$/,
    );
    const files = lines.find((line) => line.startsWith('userknownhostsfile'));
    expect(files).toMatch(/ \/home\/ann\/Application Support\/100 %%?h\/known_hosts$/);
  },
);
