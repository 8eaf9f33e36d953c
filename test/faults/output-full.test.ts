/** What irisctl prints goes to a file on a disk that is full: that is told, and its exit code is no success. */
import { execFileSync, spawnSync } from 'node:child_process';
import { closeSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, statSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { builtModule } from '../../main/modules.js';
import type { TestClient } from '../harness/client.js';
import { fillDisk } from '../harness/fill-disk.js';
import { over, shell, submit } from '../harness/host-jobs.js';
import { makeHomeRoot, startHostProcess, type HostProcess } from '../harness/host-process.js';

function missing(): string | null {
  if (process.platform !== 'linux') return 'a small file system needs Linux';
  if (process.getuid?.() !== 0) return 'mounting a small file system needs root';
  return null;
}

const reason = missing();
if (reason !== null && process.env['CI'] === 'true') throw new Error(reason);

describe.skipIf(reason !== null)(
  `a full disk under the output of irisctl${reason === null ? '' : ` (left out: ${reason})`}`,
  () => {
    let home: Awaited<ReturnType<typeof makeHomeRoot>>;
    let host: HostProcess;
    let client: TestClient;
    const folder = mkdtempSync(path.join(os.tmpdir(), 'iris-output-'));
    const disk = path.join(folder, 'disk');
    const file = path.join(disk, 'output');

    beforeAll(async () => {
      mkdirSync(disk);
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k,mode=0700', 'tmpfs', disk]);
      home = await makeHomeRoot();
      host = await startHostProcess(home.root);
      client = await host.connect();
    });
    afterAll(async () => {
      await host.shutdown();
      execFileSync('umount', ['--lazy', disk]);
      rmSync(folder, { recursive: true });
      await home.remove();
    });
    beforeEach(() => {
      for (const name of ['output', 'filler']) rmSync(path.join(disk, name), { force: true });
    });

    function irisctl(...words: string[]): { code: number | null; said: string } {
      const out = openSync(file, 'w');
      try {
        const run = spawnSync(process.execPath, [builtModule('cli'), '--home', home.root, ...words], {
          stdio: ['ignore', out, 'pipe'],
          encoding: 'utf8',
        });
        return { code: run.status, said: run.stderr };
      } finally {
        closeSync(out);
      }
    }
    const told = 'irisctl: standard output cannot be written to: ENOSPC: no space left on device, write.';

    test('of which not a byte fits', () => {
      // Made before: a file takes room too.
      closeSync(openSync(file, 'w'));
      fillDisk(disk);
      for (const words of [
        ['job', 'list', '--json'],
        ['job', 'list'],
        ['machine', 'list'],
      ])
        expect(irisctl(...words)).toEqual({ code: 125, said: `${told}\n` });
    });

    test('a device that takes nothing: told once', () => {
      const full = openSync('/dev/full', 'w');
      try {
        const run = spawnSync(process.execPath, [builtModule('cli'), '--home', home.root, 'job', 'list'], {
          stdio: ['ignore', full, 'pipe'],
          encoding: 'utf8',
        });
        expect([run.status, run.stderr]).toEqual([125, `${told}\n`]);
      } finally {
        closeSync(full);
      }
    });

    test('of which a part of one piece fits', async () => {
      const jobId = await submit(client, shell('head -c 100000 /dev/zero | tr "\\0" a'));
      await over(client, jobId);
      const { code, said } = irisctl('job', 'logs', jobId);
      expect(readFileSync(file, 'latin1')).toBe('a'.repeat(statSync(file).size));
      expect(statSync(file).size).toBeLessThan(100_000);
      expect({ code, said }).toEqual({ code: 125, said: `${told}\n` });
    });

    test('of a job that fails, whose own exit code counts, and of one that does not', () => {
      const print = 'head -c 100000 /dev/zero';
      const failing = irisctl('job', 'run', '--cpu', '0.1', '--', 'sh', '-c', `${print}; exit 7`);
      expect(failing.code).toBe(7);
      expect(failing.said).toContain(told);
      const well = irisctl('job', 'run', '--cpu', '0.1', '--', 'sh', '-c', print);
      expect(well.code).toBe(125);
      expect(well.said).toContain(told);
    });

    test('or that has room: every byte, and success', async () => {
      const jobId = await submit(client, shell('seq 5000'));
      await over(client, jobId);
      expect(irisctl('job', 'logs', jobId)).toEqual({ code: 0, said: '' });
      expect(readFileSync(file, 'utf8')).toBe(
        Array.from({ length: 5000 }, (_, index) => `${index + 1}\n`).join(''),
      );
    });
  },
);
