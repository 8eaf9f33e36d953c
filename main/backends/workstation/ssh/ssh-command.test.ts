import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { sshArgs } from './ssh-command.js';

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
