import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { launchOf } from '../../../../test/harness/backend-probe.js';
import { readContainer } from '../../../../core/formats/docker/inspect.js';
import { newEntry } from '../process/attempt-entry.js';
import { endOfRun, refusedEnd, withMemory } from './container-end.js';

const full = { path: '/var/lib/docker', totalBytes: 50 * 1024 ** 3, freeBytes: 0 };
const roomy = { ...full, freeBytes: 20 * 1024 ** 3 };
const odd = 'failed to register layer: unexpected EOF';

describe('a start that the Engine refused', () => {
  test('for want of room is a fault of the machine, whatever the Engine says of it', () => {
    const end = refusedEnd(odd, null, 7, full);
    expect(end).toMatchObject({ state: 'WORKER_FAILED', cause: { code: 'DOCKER_STORAGE_FULL' } });
    expect(end.cause?.message).toContain(
      `${odd}. /var/lib/docker, where Docker keeps its data, has 0 B of 50 GiB free. Make room there`,
    );
  });

  test('in words that say it is so without a look at the disk, and for other reasons with room', () => {
    expect(refusedEnd('mkdir /data/x: no space left on device', null, 7, null).cause?.code).toBe(
      'DOCKER_STORAGE_FULL',
    );
    expect(refusedEnd('write /data/x: disk quota exceeded', null, 7, roomy)).toMatchObject({
      state: 'WORKER_FAILED',
      cause: { code: 'DOCKER_STORAGE_FULL' },
    });
    expect(refusedEnd(odd, null, 7, roomy)).toMatchObject({
      state: 'FAILED',
      cause: { code: 'START_FAILED' },
    });
  });

  test('as the Engine may not look into a folder names the folder, and what to do', () => {
    const end = refusedEnd(
      'invalid mount config for type "bind": stat /home/ann: permission denied',
      null,
      7,
      null,
    );
    expect(end).toMatchObject({ state: 'FAILED', cause: { code: 'FOLDER_NOT_PERMITTED' } });
    expect(end.cause?.message).toContain('stat /home/ann: permission denied. Docker itself may not look');
  });

  test('whose words name another cause keeps it, with a full disk as well', () => {
    const message = 'exec: "nope": executable file not found in $PATH';
    expect(refusedEnd(message, null, 7, full)).toMatchObject({
      state: 'FAILED',
      exitCode: 127,
      cause: { code: 'PROGRAM_NOT_FOUND' },
    });
  });
});

test('a success of which a part was ended for want of memory says so', async () => {
  const launch = launchOf({ command: ['python3'], memory: '8GB' });
  const entry = newEntry(launch.uid, '/nowhere', launch);
  const warnings: string[] = [];
  const reporter = {
    warn: (_: unknown, warning: { message: string }) => void warnings.push(warning.message),
  };
  const view = readContainer({
    Id: 'c1',
    State: { Status: 'exited', ExitCode: 0, OOMKilled: false },
    HostConfig: { Memory: 8e9 },
  });
  if (view === null) throw new Error('no container');
  const seen = {
    id: 'c1',
    outOfMemory: false,
    signals: [],
    died: null,
    forgotten: false,
    lostAtMs: null,
    isFar: false,
  };
  const end = () => withMemory(reporter, entry, view, seen, () => Promise.resolve(null));
  expect(await end()).toBe(view);
  expect(warnings).toEqual([]);
  seen.outOfMemory = true;
  expect(endOfRun(entry, await end(), seen, 7, null)).toMatchObject({ state: 'SUCCEEDED', cause: null });
  expect(warnings).toEqual([
    'The system ended a process of the task because its memory limit of 7.45 GiB was reached, and its command ended with exit code 0 all the same: what it has made may lack something.',
  ]);
});

test.each([
  [127, 'No such file or directory', 'PROGRAM_NOT_FOUND'],
  [126, 'Permission denied', 'PROGRAM_NOT_EXECUTABLE'],
  // All of an image for another processor is, its shell included.
  [1, 'Exec format error', 'PROGRAM_NOT_EXECUTABLE'],
])('what the init program left with %i, as it could not run the command (%s)', (code, why, cause) => {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'iris-end-'));
  try {
    const launch = launchOf({ command: ['python3'], image: 'torch:1' });
    const entry = newEntry(launch.uid, folder, launch);
    const view = readContainer({ Id: 'c1', State: { Status: 'exited', ExitCode: code } });
    if (view === null) throw new Error('no container');
    const seen = {
      id: 'c1',
      outOfMemory: false,
      signals: [],
      died: null,
      forgotten: false,
      lostAtMs: null,
      isFar: false,
    };
    const ends = () => endOfRun(entry, view, seen, 7, null);
    // Nothing is said: the command's own exit code.
    expect(ends().cause?.code).toBe('EXIT_CODE');
    writeFileSync(path.join(folder, 'err'), `[FATAL tini (7)] exec python3 failed: ${why}\n`);
    expect(ends()).toMatchObject({ state: 'FAILED', exitCode: code, cause: { code: cause } });
  } finally {
    rmSync(folder, { recursive: true });
  }
});
