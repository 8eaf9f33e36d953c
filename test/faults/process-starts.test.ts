/** What a start hands to its command, and what it says of one that cannot start: the same by either launcher. */
import { chmodSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { findGroupRoots } from '../../main/backends/workstation/process/control-groups.js';
import { forkServerCommand } from '../../main/backends/workstation/process/fork-server.js';
import { currentUmask, readProcess } from '../../main/machine/processes.js';
import { launchOf, type BackendProbe } from '../harness/backend-probe.js';
import {
  eventually,
  launcherKinds,
  launcherOf,
  ownLaunchers,
  processBackends,
  type ProcessBackends,
} from '../harness/process-backend.js';

let backends: ProcessBackends;
let probe: BackendProbe;
let scratch: string;

beforeEach(async () => {
  backends = await processBackends();
  scratch = mkdtempSync(path.join(os.tmpdir(), 'iris-scratch-'));
});
afterEach(async () => {
  await backends.dispose();
  rmSync(scratch, { recursive: true, force: true });
});

async function printed(launch: ReturnType<typeof launchOf>): Promise<string> {
  probe.run(launch);
  const end = await probe.over(launch.uid);
  expect(end).toMatchObject({ state: 'SUCCEEDED', cause: null });
  return probe.text(launch.uid);
}

describe.each(launcherKinds)('started by %s', (kind) => {
  beforeEach(async () => {
    probe = await backends.open({ launchers: [await launcherOf(kind)] });
  });

  describe('what cannot start', () => {
    test('a missing program is named', async () => {
      const launch = launchOf({ command: ['no-such-program', '--flag'] });
      probe.run(launch);
      const end = await probe.over(launch.uid);
      expect(end).toMatchObject({ state: 'FAILED', exitCode: 127, cause: { code: 'PROGRAM_NOT_FOUND' } });
      expect(end.cause?.message).toContain('no-such-program');
    });

    test('a file that is no program is named', async () => {
      const file = path.join(scratch, 'plain.txt');
      writeFileSync(file, 'text', { mode: 0o600 });
      const launch = launchOf({ command: [file] });
      probe.run(launch);
      const end = await probe.over(launch.uid);
      expect(end).toMatchObject({
        state: 'FAILED',
        exitCode: 126,
        cause: { code: 'PROGRAM_NOT_EXECUTABLE' },
      });
      expect(end.cause?.message).toContain(file);
    });

    test('a program whose interpreter is missing fails with 127 and says so on its error output', async () => {
      const file = path.join(scratch, 'script');
      writeFileSync(file, '#!/no/such/interpreter\n');
      chmodSync(file, 0o700);
      const launch = launchOf({ command: [file] });
      probe.run(launch);
      expect(await probe.over(launch.uid)).toMatchObject({ state: 'FAILED', exitCode: 127 });
    });

    test('a missing folder is named', async () => {
      const launch = launchOf({ command: ['true'], workingDirectory: path.join(scratch, 'gone') });
      probe.run(launch);
      const end = await probe.over(launch.uid);
      expect(end).toMatchObject({ state: 'FAILED', exitCode: null, cause: { code: 'FOLDER_MISSING' } });
      expect(end.cause?.message).toContain(path.join(scratch, 'gone'));
    });

    test('a command line longer than the system takes is refused with its reason', async () => {
      const launch = launchOf({ command: ['true', 'x'.repeat(131_000)], environment: {} });
      const long = { ...launch, spec: { ...launch.spec, command: ['true', 'x'.repeat(200_000)] } };
      probe.run(long);
      expect(await probe.over(launch.uid)).toMatchObject({
        state: 'FAILED',
        cause: { code: 'START_FAILED' },
      });
    });
  });

  describe('what a task gets', () => {
    test('its folder, its environment, its staged files, and nothing of the host', async () => {
      const launch = launchOf({
        command: [
          'sh',
          '-c',
          'pwd; umask; echo "$IRIS_TASK_ID $PYTHONUNBUFFERED $GREETING"; cat "$IRIS_WORKDIR/sub/a.txt"; env',
        ],
        workingDirectory: scratch,
        environment: { GREETING: 'hello there' },
        files: [{ path: 'sub/a.txt', contentBase64: Buffer.from('staged\n').toString('base64') }],
      });
      probe.run(launch);
      expect((await probe.over(launch.uid)).state).toBe('SUCCEEDED');
      const text = await probe.text(launch.uid);
      expect(text.split('\n').slice(0, 4)).toEqual([
        scratch,
        currentUmask().toString(8).padStart(4, '0'),
        `${launch.taskId} 1 hello there`,
        'staged',
      ]);
      expect(text).not.toMatch(/^(ELECTRON_|npm_|NODE_CHANNEL|VITEST)/m);
      expect(text).not.toContain('CUDA_VISIBLE_DEVICES');
      const folder = path.join(backends.folder, launch.uid);
      expect(statSync(folder).mode & 0o777).toBe(0o700);
      for (const file of ['claim', 'out', 'err', 'work/sub/a.txt']) {
        expect(statSync(path.join(folder, file)).mode & 0o777).toBe(0o600);
      }
    });

    test('a staged file may not leave the folder', async () => {
      const launch = launchOf({ command: ['true'] });
      const files = [{ path: '../outside', contentBase64: '' }];
      probe.run({ ...launch, spec: { ...launch.spec, files } });
      expect(await probe.over(launch.uid)).toMatchObject({
        state: 'FAILED',
        cause: { code: 'STAGING_FAILED' },
      });
    });

    test('standard input is empty', async () => {
      const launch = launchOf({ command: ['cat'] });
      probe.run(launch);
      expect((await probe.over(launch.uid)).state).toBe('SUCCEEDED');
    });

    test('texts of every kind arrive as they were asked for', async () => {
      const environment = {
        LINES: 'one\ntwo\n\nlast\n',
        WIDE: 'Grüße, 世界 🚀',
        EQUAL: 'a=b=c',
        EMPTY: '',
        BLANKS: '  a\tb  ',
        // Half a pair has no bytes of its own; every system writes the replacement character.
        HALF: 'x\ud800y',
      };
      const names = Object.keys(environment);
      const script = names.map((name) => `printf '[%s]' "$${name}"`).join('; ');
      const wanted = Object.values({ ...environment, HALF: 'x\ufffdy' }).map((value) => `[${value}]`);
      expect(await printed(launchOf({ command: ['sh', '-c', script], environment }))).toBe(wanted.join(''));
    });

    test('the login environment underneath, and the job on top of it', async () => {
      const login = { PATH: '/usr/bin:/bin', BELOW: 'a=b\nc', NOTHING: '', REPLACED: 'no' };
      probe = await backends.open({ launchers: [await launcherOf(kind)], environment: login });
      const environment = { REPLACED: 'yes', PATH: '/bin:/usr/bin', HOLLOW: '' };
      const launch = launchOf({ command: ['cat', '/proc/self/environ'], environment });
      const seen = (await printed(launch)).split('\0');
      const named = (...names: string[]) =>
        seen.filter((text) => names.some((name) => text.startsWith(`${name}=`))).sort();
      expect(named('BELOW', 'NOTHING', 'REPLACED', 'PATH', 'HOLLOW')).toEqual([
        'BELOW=a=b\nc',
        'HOLLOW=',
        'NOTHING=',
        'PATH=/bin:/usr/bin',
        'REPLACED=yes',
      ]);
      expect(named('IRIS_ATTEMPT_UID')).toEqual([`IRIS_ATTEMPT_UID=${launch.uid}`]);
      // Nothing of this process, and nothing of the launcher.
      expect(named('HOME', 'LC_ALL', 'VITEST', 'NODE_ENV')).toEqual([]);
    });

    test('a thousand arguments, and one of 100 KB', async () => {
      const many = Array.from({ length: 1000 }, (_, index) => `${index} "'\n$HOME ü`);
      const texts = await printed(launchOf({ command: ['printf', '%s\\0', ...many] }));
      expect(texts.split('\0')).toEqual([...many, '']);
      const long = 'x'.repeat(100_000);
      expect(await printed(launchOf({ command: ['sh', '-c', 'echo ${#1}', 'sh', long] }))).toBe('100000\n');
    });

    test('its program by the PATH of the job, or beside its folder', async () => {
      for (const name of ['first', 'second']) {
        writeFileSync(path.join(scratch, name), `#!/bin/sh\necho "${name} $0"\n`);
        chmodSync(path.join(scratch, name), 0o700);
      }
      const environment = { PATH: `/no/such/folder:${scratch}:/usr/bin:/bin` };
      const byPath = launchOf({ command: ['first'], workingDirectory: '/', environment });
      expect(await printed(byPath)).toBe(`first ${scratch}/first\n`);
      const beside = launchOf({ command: ['./second'], workingDirectory: scratch });
      expect(await printed(beside)).toBe(`second ${scratch}/second\n`);
    });

    test('no signal blocked or ignored, and a session of its own', async () => {
      const status = await printed(launchOf({ command: ['cat', '/proc/self/status'] }));
      const mask = (name: string) => BigInt(`0x${new RegExp(`^${name}:\\s*(\\w+)$`, 'm').exec(status)?.[1]}`);
      expect(mask('SigBlk')).toBe(0n);
      // Signals 32 and 33 are the C library's own, and its posix_spawn leaves them ignored for the C library it starts.
      expect(mask('SigIgn') & ~0x1_8000_0000n).toBe(0n);
      const launch = launchOf({ command: ['cat', '/proc/self/stat'] });
      const session = (await printed(launch)).replace(/^.*\) /s, '').split(' ')[3];
      expect(Number(session)).toBe(probe.last(launch.uid)?.pid);
      expect(Number(session)).not.toBe(readProcess(process.pid)?.sessionId);
    });

    test('a control group where memory is limited by one', async () => {
      const launch = launchOf({ command: ['cat', '/proc/self/cgroup'], memory: '64MB' });
      const grouped = (await printed(launch)).includes(launch.uid);
      expect(grouped).toBe(findGroupRoots().memory !== null);
    });
  });
});

describe.each(launcherKinds.filter((kind) => kind !== 'node'))('started by the fork server in %s', (kind) => {
  test('a task gets no open file but its streams, whatever the host was given', async () => {
    const open = ['/bin/sh', '-c', 'exec 7</dev/null 8>/dev/null; exec "$0" "$@"'];
    probe = await backends.open({ launchers: [await launcherOf(kind, open)] });
    // The fourth is the folder that is being listed.
    expect(await printed(launchOf({ command: ['ls', '/proc/self/fd'] }))).toBe('0\n1\n2\n3\n');
  });
});

describe('of several launchers', () => {
  const broken: readonly (readonly [string, string, readonly string[]])[] = [
    ['is not there', '/no/such/perl', []],
    ['does not start', '/bin/sh', ['-c', 'exit 3']],
    ['says what nobody understands', '/bin/sh', ['-c', 'echo hello; exec cat >/dev/null']],
  ];
  test.each(broken)('the next serves when the first %s, and the log says so', async (_, command, args) => {
    const first = { kind: 'perl', command, args, env: {} } as const;
    probe = await backends.open({ launchers: [first, await launcherOf('node')] });
    const launch = launchOf({ command: ['sh', '-c', 'exit 7'] });
    probe.run(launch);
    expect((await probe.over(launch.uid)).exitCode).toBe(7);
    expect(backends.warnings).toEqual([expect.stringContaining('does not work here')]);
  });

  test('one that has worked is started again and stays the first', async () => {
    const launchers = await Promise.all(launcherKinds.map((kind) => launcherOf(kind)));
    probe = await backends.open({ launchers });
    const before = launchOf({ command: ['true'] });
    probe.run(before);
    await probe.over(before.uid);
    const [first] = ownLaunchers();
    process.kill(first ?? 0, 'SIGKILL');
    await eventually(() => ownLaunchers().some((pid) => pid !== first), 'a new launcher');
    const after = launchOf({ command: ['sh', '-c', 'exit 7'] });
    probe.run(after);
    expect((await probe.over(after.uid)).exitCode).toBe(7);
    expect(backends.warnings).toEqual([expect.stringContaining('started again')]);
  });

  test.each(['python', 'perl'] as const)('a system without %s has no fork server of it', (kind) => {
    expect(forkServerCommand(kind, ['/no/such/file'])).toBeNull();
    expect(forkServerCommand(kind, ['/no/such/file', '/bin/sh'])).toMatchObject({ kind, command: '/bin/sh' });
  });
});

describe('a launcher runs at the first need', () => {
  test('not before, and what is to start does not wait for it', async () => {
    probe = await backends.open({ launcherAfterMs: 600_000 });
    expect(ownLaunchers()).toEqual([]);
    const launch = launchOf({ command: ['sh', '-c', 'exit 7'] });
    probe.run(launch);
    expect((await probe.over(launch.uid)).exitCode).toBe(7);
    expect(ownLaunchers()).toHaveLength(1);
  });

  test('or a while after the backend', async () => {
    probe = await backends.open({ launcherAfterMs: 1 });
    await eventually(() => ownLaunchers().length === 1, 'a launcher');
  });
});
