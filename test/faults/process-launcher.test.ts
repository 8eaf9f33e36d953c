/** The launcher's parent dies while the launcher is at work: it goes without a word, and what it started lives on. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { readClaim } from '../../main/backends/workstation/process/claim.js';
import { noGroups } from '../../main/backends/workstation/process/control-groups.js';
import { setupFrame, startFrame } from '../../main/backends/workstation/process/fork-frames.js';
import type { LauncherCommand } from '../../main/backends/workstation/process/launcher-channel.js';
import type { LauncherSetup, ToLauncher } from '../../main/backends/workstation/process/launcher-protocol.js';
import { launchOf } from '../harness/backend-probe.js';
import { launcherFile } from '../harness/launcher-file.js';
import { endLiving, eventually, launcherKinds, launcherOf, livingOf } from '../harness/process-backend.js';

const timeout = 60_000;
const supervisor = path.resolve(import.meta.dirname, '../../main/backends/workstation/process/supervisor.sh');

let scratch: string;
let launcher: ChildProcess;

beforeEach(async () => {
  scratch = mkdtempSync(path.join(os.tmpdir(), 'iris-scratch-'));
  launcher = spawn(process.execPath, [await launcherFile()], { stdio: ['ignore', 'ignore', 'pipe', 'ipc'] });
});
afterEach(async () => {
  launcher.kill('SIGKILL');
  await endLiving(scratch);
  rmSync(scratch, { recursive: true, force: true });
});

/** How it ended, and all it said on its error output. `close` never comes when the channel was closed from here. */
async function endOf(child: ChildProcess) {
  let said = '';
  const errors = child.stderr;
  if (errors === null) throw new Error('its error output is not piped');
  errors.setEncoding('utf8').on('data', (text: string) => (said += text));
  const [exit] = await Promise.all([once(child, 'exit'), once(errors, 'end')]);
  return { exit, said };
}

function setupOf(shell: string): LauncherSetup {
  return {
    kind: 'setup',
    attemptsFolder: scratch,
    supervisor,
    shell,
    bootId: null,
    loginEnvironment: { PATH: process.env['PATH'] ?? '/usr/bin:/bin' },
    umask: 0o022,
    groups: noGroups,
  };
}

/** A shell that keeps the launcher inside its first message until the gate opens. */
function slowShell(): { readonly file: string; readonly entered: string; readonly gate: string } {
  const [file, entered, gate] = ['shell', 'entered', 'gate'].map((name) => path.join(scratch, name));
  if (file === undefined || entered === undefined || gate === undefined) throw new Error('unreachable');
  const script = `: >${entered}\nuntil test -e ${gate}; do sleep 0.02; done\nexec /bin/sh "$@"\n`;
  writeFileSync(file, `#!/bin/sh\n${script}`);
  chmodSync(file, 0o700);
  return { file, entered, gate };
}

test('a word to a parent that is gone ends it quietly', { timeout }, async () => {
  const shell = slowShell();
  const end = endOf(launcher);
  launcher.send(setupOf(shell.file));
  await eventually(() => existsSync(shell.entered), 'the launcher is at work');
  // It cannot see this before its next word, as the shell holds it.
  launcher.disconnect();
  writeFileSync(shell.gate, '');
  expect(await end).toEqual({ exit: [0, null], said: '' });
});

test('its parent goes: what it started lives on to its own end', { timeout }, async () => {
  const end = endOf(launcher);
  const gate = path.join(scratch, 'gate');
  const script = `echo before; until test -e ${gate}; do sleep 0.02; done; echo after; exit 5`;
  const { uid } = launchOf({ command: ['sh', '-c', script] });
  const start: ToLauncher = {
    kind: 'start',
    items: [
      {
        uid,
        command: ['sh', '-c', script],
        folder: scratch,
        environment: { IRIS_ATTEMPT_UID: uid, IRIS_WORKDIR: path.join(scratch, uid, 'work') },
        files: [],
        timeLimitMs: null,
        stopSignal: 'SIGTERM',
        graceMs: 1000,
        limits: null,
      },
    ],
  };
  launcher.send(setupOf('/bin/sh'));
  launcher.send(start);
  const folder = path.join(scratch, uid);
  await eventually(() => readClaim(folder).kind === 'claimed', 'the supervisor is at work');
  launcher.disconnect();
  expect(await end).toEqual({ exit: [0, null], said: '' });
  expect(livingOf(scratch).length).toBeGreaterThan(0);
  writeFileSync(gate, '');
  await eventually(() => livingOf(scratch).length === 0, 'the command ends');
  expect(readClaim(folder)).toMatchObject({ kind: 'claimed', status: { kind: 'exit', code: 5 } });
});

describe.each(launcherKinds.filter((kind) => kind !== 'node'))('the fork server in %s', (kind) => {
  const script = (gate: string) => `until test -e ${gate}; do sleep 0.02; done; exit 5`;
  let server: ReturnType<typeof runServer>;

  function runServer(own: LauncherCommand) {
    const child = spawn(own.command, own.args, { env: { ...own.env }, stdio: ['pipe', 'pipe', 'pipe'] });
    child.stdin.on('error', () => undefined);
    return child;
  }

  /** Starts a command that waits for the gate; gives the gate and the attempt's folder. */
  async function startWaiting(): Promise<{ readonly gate: string; readonly folder: string }> {
    const gate = path.join(scratch, 'gate');
    const { uid } = launchOf({ command: ['true'] });
    const folder = path.join(scratch, uid);
    server.stdin.write(setupFrame(scratch, { PATH: process.env['PATH'] ?? '/usr/bin:/bin' }));
    server.stdin.write(
      startFrame({
        uid,
        folder: scratch,
        before: ['/bin/sh', supervisor, folder, '022', '-', 'TERM', '1', uid, '-', '0'],
        files: ['/bin/sh'],
        after: ['-c', script(gate)],
        environment: { IRIS_ATTEMPT_UID: uid, IRIS_WORKDIR: path.join(folder, 'work') },
      }),
    );
    await eventually(() => readClaim(folder).kind === 'claimed', 'the supervisor is at work');
    return { gate, folder };
  }

  beforeEach(async () => {
    server = runServer(await launcherOf(kind));
  });
  afterEach(() => {
    server.kill('SIGKILL');
  });

  test(
    'its parent goes: it ends quietly, and what it started lives on to its own end',
    { timeout },
    async () => {
      const end = endOf(server);
      const { gate, folder } = await startWaiting();
      server.stdin.end();
      expect(await end).toEqual({ exit: [0, null], said: '' });
      expect(livingOf(scratch).length).toBeGreaterThan(0);
      writeFileSync(gate, '');
      await eventually(() => livingOf(scratch).length === 0, 'the command ends');
      expect(readClaim(folder)).toMatchObject({ kind: 'claimed', status: { kind: 'exit', code: 5 } });
    },
  );

  test('a word nobody hears ends it quietly', { timeout }, async () => {
    const end = endOf(server);
    const { gate } = await startWaiting();
    server.stdout.destroy();
    writeFileSync(gate, '');
    expect(await end).toEqual({ exit: [0, null], said: '' });
  });

  test('signals of a terminal do not end it', { timeout }, async () => {
    const { gate } = await startWaiting();
    server.kill('SIGINT');
    server.kill('SIGHUP');
    let said = '';
    server.stdout.setEncoding('latin1').on('data', (text: string) => (said += text));
    writeFileSync(gate, '');
    await eventually(() => /^ended .* 1280 0 \d+$/m.test(said), 'it tells the end');
  });
});
