/** A stage that takes too long leaves nothing: no process, however far it has gone, no mount, no network namespace. */
import { execFile, execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

const run = JSON.stringify(resolve(import.meta.dirname, '../../scripts/lib/run.mjs'));
const execute = promisify(execFile);
const canMount = process.platform === 'linux' && process.getuid?.() === 0;
const canNamespace = canMount && spawnSync('ip', ['netns', 'list']).status === 0;

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'iris-family-'));
});
afterEach(() => {
  for (const pid of pids()) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      continue; // as it should be
    }
  }
  rmSync(folder, { recursive: true, force: true });
});

const pids = (): readonly number[] =>
  existsSync(join(folder, 'pids'))
    ? readFileSync(join(folder, 'pids'), 'utf8').trim().split('\n').map(Number)
    : [];
const alive = () =>
  pids().filter((pid) => {
    const stat = existsSync(`/proc/${pid}/stat`) ? readFileSync(`/proc/${pid}/stat`, 'utf8') : '';
    return stat !== '' && !/\) [ZX] /.test(stat);
  });

/** A stage of shell text under the runner until it says that it has begun: its time is over then. What it wrote to `pids` is what it started. */
async function stage(text: string, more: string): Promise<string> {
  writeFileSync(join(folder, 'stage.sh'), text);
  const args = JSON.stringify([join(folder, 'stage.sh')]);
  const code = `import { run } from ${run};
    const later = globalThis.setTimeout;
    let strike = () => undefined;
    globalThis.setTimeout = (act, ms) => {
      if (ms === 1500) strike = act;
      return later(ms === 1500 ? () => undefined : act, ms);
    };
    const { timedOut } = await run('sh', ${args}, { timeoutMs: 1500, cwd: ${JSON.stringify(folder)}, onLine: () => strike() });
    console.log('timed out: ' + timedOut); ${more}`;
  const { stdout } = await execute(process.execPath, ['--input-type=module', '-e', code], { cwd: folder });
  return stdout.trim();
}

/** In a session of its own, with its child in another and without our environment; both hold the output open. */
const daemon = `setsid sh -c 'echo $$ >>pids; setsid env -i sleep 300 & echo $! >>pids; wait' &\n`;
const begun = 'until [ "$(cat pids 2>/dev/null | wc -l)" -ge 2 ]; do sleep 0.02; done; echo begun\n';

describe.skipIf(process.platform !== 'linux')('a program that took too long', () => {
  test('ends with all it has started, also what is in sessions of its own or has another environment', async () => {
    expect(await stage(`${daemon}${begun}sleep 300`, '')).toBe('timed out: true');
    expect(pids()).toHaveLength(2);
    expect(alive()).toEqual([]);
  });

  test('is not waited for when it ends and leaves daemons that heed nothing', async () => {
    const deaf = `setsid sh -c 'trap "" TERM; echo $$ >>pids; echo $$ >>pids; while :; do sleep 1; done' >/dev/null 2>&1 &\n`;
    expect(await stage(`${deaf}${begun}sleep 300`, '')).toBe('timed out: true');
    expect(alive()).toEqual([]);
  });

  test('ends with whoever runs it', async () => {
    const code = `import { run } from ${run}; await run('sh', ['stage.sh'], { timeoutMs: 60_000, onLine: () => process.exit(7) });`;
    writeFileSync(join(folder, 'stage.sh'), `${daemon}${begun}sleep 300`);
    const ended = execute(process.execPath, ['--input-type=module', '-e', code], { cwd: folder });
    await expect(ended).rejects.toMatchObject({ code: 7 });
    expect(pids()).toHaveLength(2);
    expect(alive()).toEqual([]);
  });

  test.skipIf(!canMount)('takes along what it mounted, and leaves what is mounted for others', async () => {
    const other = mkdtempSync(join(tmpdir(), 'iris-family-other-'));
    execFileSync('mount', ['-t', 'tmpfs', 'tmpfs', other]);
    try {
      const mount = `mkdir disk; mount -t tmpfs tmpfs ${folder}/disk\n`;
      await stage(`${mount}${daemon}${begun}sleep 300`, '');
      const mounts = readFileSync('/proc/self/mountinfo', 'utf8');
      expect(mounts).not.toContain(`${folder}/disk`);
      expect(mounts).toContain(other);
    } finally {
      execFileSync('umount', [other]);
      rmSync(other, { recursive: true });
    }
  });

  test.skipIf(!canNamespace)('takes along the network namespaces it is in', async () => {
    const name = `iris-family-${process.pid}`;
    const inside = `ip netns add ${name}; ip netns exec ${name} setsid sh -c 'echo $$ >>pids; echo $$ >>pids; exec sleep 300' &\n`;
    await stage(`${inside}${begun}sleep 300`, '');
    expect(alive()).toEqual([]);
    expect(execFileSync('ip', ['netns', 'list'], { encoding: 'utf8' })).not.toContain(name);
  });
});
