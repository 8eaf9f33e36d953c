/** The launcher's parent dies while the launcher is at work: it goes without a word, and what it started lives on. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { noGroups } from '../../main/backends/workstation/process/control-groups.js';
import type { LauncherSetup } from '../../main/backends/workstation/process/launcher-protocol.js';
import { launcherFile } from '../harness/launcher-file.js';
import { eventually } from '../harness/process-backend.js';

let scratch: string;
let launcher: ChildProcess;
let said = '';

beforeEach(async () => {
  scratch = mkdtempSync(path.join(os.tmpdir(), 'iris-scratch-'));
  launcher = spawn(process.execPath, [await launcherFile()], { stdio: ['ignore', 'ignore', 'pipe', 'ipc'] });
  said = '';
  launcher.stderr?.setEncoding('utf8').on('data', (text: string) => (said += text));
});
afterEach(() => {
  launcher.kill('SIGKILL');
  rmSync(scratch, { recursive: true, force: true });
});

/** A shell that keeps the launcher inside its first message until the gate opens. */
function slowShell(): { readonly file: string; readonly entered: string; readonly gate: string } {
  const [file, entered, gate] = ['shell', 'entered', 'gate'].map((name) => path.join(scratch, name));
  if (file === undefined || entered === undefined || gate === undefined) throw new Error('unreachable');
  writeFileSync(
    file,
    `#!/bin/sh\n: >${entered}\nuntil test -e ${gate}; do sleep 0.02; done\nexec /bin/sh "$@"\n`,
  );
  chmodSync(file, 0o700);
  return { file, entered, gate };
}

test('a word to a parent that is gone ends it quietly', async () => {
  const shell = slowShell();
  const setup: LauncherSetup = {
    kind: 'setup',
    attemptsFolder: scratch,
    supervisor: path.join(scratch, 'none.sh'),
    shell: shell.file,
    loginEnvironment: {},
    umask: 0o022,
    groups: noGroups,
  };
  launcher.send(setup);
  await eventually(() => existsSync(shell.entered), 'the launcher is at work');
  const exit = once(launcher, 'close');
  launcher.disconnect();
  await once(launcher, 'disconnect');
  writeFileSync(shell.gate, '');
  expect(await exit).toEqual([0, null]);
  expect(said).toBe('');
});
