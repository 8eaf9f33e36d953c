/** Commands that behave badly, started for real. Each ends with a clear cause, its log whole and nothing of it left. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { readProcess } from '../../main/machine/processes.js';
import { launchOf, type BackendProbe } from '../harness/backend-probe.js';
import { eventually, livingOf, processBackends, type ProcessBackends } from '../harness/process-backend.js';

let backends: ProcessBackends;
let probe: BackendProbe;
let scratch: string;

beforeEach(async () => {
  backends = await processBackends();
  probe = await backends.open();
  scratch = mkdtempSync(path.join(os.tmpdir(), 'iris-scratch-'));
});
afterEach(async () => {
  await backends.dispose();
  rmSync(scratch, { recursive: true, force: true });
});

const shell = (script: string, more: Parameters<typeof launchOf>[0] | object = {}) =>
  launchOf({ command: ['sh', '-c', script], ...more });

describe('what does not want to end', () => {
  test('a command that ignores SIGTERM is killed after its grace', async () => {
    const launch = shell('trap "" TERM; echo ready; while :; do sleep 0.1; done');
    probe.backend.watchLog(launch.uid, true);
    probe.run(launch);
    await probe.until(() => probe.grew.length > 0);
    probe.stop(launch.uid, { graceMs: 300 });
    expect(await probe.over(launch.uid)).toMatchObject({ state: 'KILLED', signal: 'SIGKILL', exitCode: 137 });
    expect(livingOf(backends.folder)).toEqual([]);
  });

  test('what it starts to save its work is left alone for its grace', async () => {
    // Longer than the looks at what lives are apart.
    const script = 'trap "sleep 1 && echo saved; exit 9" TERM; echo ready; while :; do sleep 0.05; done';
    const launch = shell(script);
    probe.backend.watchLog(launch.uid, true);
    probe.run(launch);
    await probe.until(() => probe.grew.length > 0);
    probe.stop(launch.uid, { graceMs: 20_000 });
    expect(await probe.over(launch.uid)).toMatchObject({ state: 'KILLED', exitCode: 9 });
    expect(await probe.text(launch.uid)).toBe('ready\nsaved\n');
  });

  test('what forked away, in a session of its own and reparented, goes with a stop', async () => {
    const launch = shell(
      'trap "" TERM; (setsid sh -c "trap \\"\\" TERM; (setsid sleep 301 &) ; sleep 302" &); sleep 303 & echo ready; wait',
    );
    probe.backend.watchLog(launch.uid, true);
    probe.run(launch);
    await probe.until(() => probe.grew.length > 0);
    probe.stop(launch.uid, { graceMs: 200 });
    expect((await probe.over(launch.uid)).state).toBe('KILLED');
    expect(livingOf(backends.folder)).toEqual([]);
  });

  test('what left its session and carries another environment goes with who started it, also when it ignores SIGTERM', async () => {
    const note = path.join(scratch, 'pid');
    const launch = shell(
      `env -i setsid sh -c 'trap "" TERM; echo $$ >${note}; echo ready; while :; do sleep 0.1; done' & wait`,
    );
    probe.backend.watchLog(launch.uid, true);
    probe.run(launch);
    await probe.until(() => probe.grew.length > 0);
    probe.stop(launch.uid, { graceMs: 300 });
    expect((await probe.over(launch.uid)).state).toBe('KILLED');
    expect(readProcess(Number(readFileSync(note, 'utf8')))).toBeNull();
  });

  test('loader workers that ignore SIGTERM and left the group do not outlive a command that ended well', async () => {
    const launch = shell(
      'for i in 1 2 3; do (setsid sh -c "trap \\"\\" TERM; sleep 300" >/dev/null 2>&1 &); done; exit 0',
    );
    probe.run(launch);
    expect(await probe.over(launch.uid)).toMatchObject({ state: 'SUCCEEDED', exitCode: 0 });
    expect(livingOf(backends.folder)).toEqual([]);
  });

  test('nothing outside the attempt is touched', async () => {
    const other = launchOf({ command: ['sleep', '300'] });
    probe.run(other);
    await eventually(() => livingOf(backends.folder).length === 2, 'the other runs');
    const launch = launchOf({ command: ['sleep', '300'] });
    probe.run(launch);
    await probe.state(launch.uid, 'RUNNING');
    probe.stop(launch.uid, { graceMs: 0 });
    await probe.over(launch.uid);
    // Its supervisor, the shell that became the command, and nobody else.
    expect(livingOf(backends.folder).length).toBe(2);
    expect(probe.last(other.uid)?.state).toBe('RUNNING');
  });

  test('the time limit is kept, and its cause names it', async () => {
    const launch = launchOf({ command: ['sleep', '300'], timeout: 0.5, grace: 1 });
    probe.run(launch);
    const end = await probe.over(launch.uid);
    expect(end).toMatchObject({ state: 'FAILED', cause: { code: 'TIME_LIMIT' } });
    expect(end.cause?.message).toContain('0.5s');
    expect(end.durationMs).toBeGreaterThanOrEqual(500);
  });
});

describe('output', () => {
  test('a closed output does no harm', async () => {
    const launch = shell('exec >&- 2>&-; exit 7');
    probe.run(launch);
    expect((await probe.over(launch.uid)).exitCode).toBe(7);
  });

  test('bytes that are no UTF-8 and a missing last newline are kept as they are', async () => {
    const launch = launchOf({ command: ['printf', 'a\\377\\200b'] });
    probe.run(launch);
    await probe.over(launch.uid);
    expect([...(await probe.bytes(launch.uid))]).toEqual([0x61, 0xff, 0x80, 0x62]);
  });

  test('a line of 10 MB is whole', async () => {
    const launch = shell('head -c 10000000 /dev/zero | tr "\\0" x; echo');
    probe.run(launch);
    expect((await probe.over(launch.uid)).state).toBe('SUCCEEDED');
    const bytes = await probe.bytes(launch.uid);
    expect(bytes.length).toBe(10_000_001);
    expect(bytes.subarray(0, 10_000_000).every((byte) => byte === 0x78)).toBe(true);
  });
});

describe('exit codes', () => {
  test('a code above 128 that could be a signal says both', async () => {
    const launch = shell('kill -9 $$');
    probe.run(launch);
    const end = await probe.over(launch.uid);
    expect(end).toMatchObject({
      state: 'FAILED',
      exitCode: 137,
      signal: 'SIGKILL',
      cause: { code: 'EXIT_OR_SIGNAL' },
    });
    expect(end.cause?.message).toMatch(/137.*SIGKILL/);
    expect(await probe.text(launch.uid, 'err')).toBe('');
  });

  test('a code no signal has is a code', async () => {
    const launch = shell('exit 255');
    probe.run(launch);
    expect(await probe.over(launch.uid)).toMatchObject({
      exitCode: 255,
      signal: null,
      cause: { code: 'EXIT_CODE' },
    });
  });
});
