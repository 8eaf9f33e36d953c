/** What an ordinary user may not do. As the superuser, who may do everything, the launcher is started as another user. */
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { launchOf, type BackendProbe } from '../harness/backend-probe.js';
import { launcherFile } from '../harness/launcher-file.js';
import {
  launcherKinds,
  launcherOf,
  processBackends,
  type ProcessBackends,
} from '../harness/process-backend.js';

const nobody = 65534;
const isRoot = process.getuid?.() === 0;
let backends: ProcessBackends;
let probe: BackendProbe;
let scratch: string;

const asNobody = ['setpriv', `--reuid=${nobody}`, `--regid=${nobody}`, '--clear-groups'];

beforeEach(async () => {
  backends = await processBackends();
  scratch = mkdtempSync(path.join(os.tmpdir(), 'iris-scratch-'));
  chmodSync(scratch, 0o755);
  const file = await launcherFile();
  if (isRoot) {
    chownSync(backends.folder, nobody, nobody);
    chmodSync(path.dirname(file), 0o755);
  }
});
afterEach(async () => {
  await backends.dispose();
  rmSync(scratch, { recursive: true, force: true });
});

/** The backend wrote it as the superuser; the other user's shell has to read it. */
function openSupervisor(folder: string): void {
  const names = readdirSync(folder).filter((name) => name.endsWith('.sh'));
  for (const name of names) chmodSync(path.join(folder, name), 0o644);
}

describe.each(launcherKinds)('started by %s', (kind) => {
  beforeEach(async () => {
    probe = await backends.open({ launchers: [await launcherOf(kind, isRoot ? asNobody : [])] });
    if (isRoot) openSupervisor(backends.folder);
  });

  test('a folder that may not be entered is named', async () => {
    const folder = path.join(scratch, 'closed');
    mkdirSync(folder, { mode: 0o000 });
    const launch = launchOf({ command: ['true'], workingDirectory: folder });
    probe.run(launch);
    const end = await probe.over(launch.uid);
    expect(end).toMatchObject({ state: 'FAILED', cause: { code: 'FOLDER_NOT_PERMITTED' } });
    expect(end.cause?.message).toContain(folder);
  });

  test('a program that may not be executed is named', async () => {
    const file = path.join(scratch, 'program');
    writeFileSync(file, '#!/bin/sh\n', { mode: 0o644 });
    const launch = launchOf({ command: [file] });
    probe.run(launch);
    const end = await probe.over(launch.uid);
    expect(end).toMatchObject({ state: 'FAILED', exitCode: 126, cause: { code: 'PROGRAM_NOT_EXECUTABLE' } });
    expect(end.cause?.message).toContain(file);
  });

  test('the same user runs what is permitted', async () => {
    const launch = launchOf({ command: ['id', '-u'], workingDirectory: scratch });
    probe.run(launch);
    expect((await probe.over(launch.uid)).state).toBe('SUCCEEDED');
    expect((await probe.text(launch.uid)).trim()).toBe(String(isRoot ? nobody : process.getuid?.()));
  });
});
