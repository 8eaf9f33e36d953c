/** The disk that holds the logs is full: each attempt keeps its own true end, the others go on, and so does the host. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync, statfsSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { readClaim } from '../../main/backends/workstation/process/claim.js';
import { launchOf, type BackendProbe } from '../harness/backend-probe.js';
import { fillDisk } from '../harness/fill-disk.js';
import {
  endLiving,
  eventually,
  livingOf,
  processBackends,
  type ProcessBackends,
} from '../harness/process-backend.js';

function missing(): string | null {
  if (process.platform !== 'linux') return 'a small file system needs Linux';
  if (process.getuid?.() !== 0) return 'mounting a small file system needs root';
  return null;
}

const reason = missing();
if (reason !== null && process.env['CI'] === 'true') throw new Error(reason);

describe.skipIf(reason !== null)(
  `a full disk under the logs${reason === null ? '' : ` (left out: ${reason})`}`,
  () => {
    let backends: ProcessBackends;
    let probe: BackendProbe;
    let disk: string;

    beforeEach(async () => {
      backends = await processBackends();
      disk = path.join(backends.folder, 'disk');
      mkdirSync(disk);
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m,mode=0700', 'tmpfs', disk]);
      probe = await backends.open({ attemptsFolder: disk });
    });
    afterEach(async () => {
      await probe.backend.close();
      await endLiving(disk);
      execFileSync('umount', ['--lazy', disk]);
      await backends.dispose();
    });

    const shell = (script: string, more: object = {}) => launchOf({ command: ['sh', '-c', script], ...more });
    const gate = () => path.join(backends.folder, 'gate');
    const openGate = () => writeFileSync(gate(), '');
    /** Ends with this code when the gate opens, without a word in its log. */
    const waiting = (code: number) => shell(`until test -e ${gate()}; do sleep 0.05; done; exit ${code}`);
    const folderOf = (uid: string) => path.join(disk, uid);
    const writtenEnd = (uid: string) => {
      const claim = readClaim(folderOf(uid));
      return claim.kind === 'claimed' ? claim.status : claim.kind;
    };

    const fill = () => fillDisk(disk);

    async function running(...launches: readonly { readonly uid: string }[]): Promise<void> {
      for (const { uid } of launches) {
        await probe.state(uid, 'RUNNING');
        await eventually(() => readClaim(folderOf(uid)).kind === 'claimed', 'its claim is written');
      }
    }

    test('a command that prints more than fits ends with its own code, and the cause names the disk', async () => {
      const launch = shell('head -c 4000000 /dev/zero; exit $((40 + $?))');
      probe.run(launch);
      const end = await probe.over(launch.uid);
      expect(end).toMatchObject({
        state: 'FAILED',
        exitCode: 41,
        signal: null,
        cause: { code: 'LOG_STORAGE_FULL' },
        warnings: [{ code: 'LOG_STORAGE_FULL' }],
      });
      expect(end.cause?.message).toContain('exit code 41');
      expect(end.cause?.message).toContain(folderOf(launch.uid));
      expect(writtenEnd(launch.uid)).toMatchObject({ kind: 'exit', code: 41 });
      const { size } = statSync(path.join(folderOf(launch.uid), 'out'));
      expect(size).toBeGreaterThan(500_000);
      expect((await probe.backend.readLog(launch.uid, 'out', 0, 1 << 24)).data.length).toBe(size);
      // The error output had no room either, so nothing of it is a surprise.
      expect(await probe.text(launch.uid, 'err')).toBe('');
    });

    test('a command that does not mind the loss of its output has succeeded, and its log says where it may be cut', async () => {
      const launch = shell('echo well >&2; head -c 4000000 /dev/zero; exit 0');
      probe.run(launch);
      const end = await probe.over(launch.uid);
      expect(end).toMatchObject({ state: 'SUCCEEDED', exitCode: 0, cause: null });
      expect(statfsSync(disk).bavail).toBe(0);
      const { size } = statSync(path.join(folderOf(launch.uid), 'out'));
      expect(end.warnings).toHaveLength(1);
      expect(end.warnings[0]?.code).toBe('LOG_STORAGE_FULL');
      const said = end.warnings[0]?.message ?? '';
      expect(said).toMatch(new RegExp(`\\(${folderOf(launch.uid)}\\) was full (while|when) the task`));
      // It may have been seen a moment before the last byte that fitted.
      const place = Number(
        /after (\d+) bytes of its output and \d+ bytes of its error output/.exec(said)?.[1],
      );
      expect(place).toBeGreaterThan(size - 64 * 1024);
      expect(place).toBeLessThanOrEqual(size);
      expect(backends.warnings).toContain(said);
      expect(writtenEnd(launch.uid)).toMatchObject({ kind: 'exit', code: 0 });
    });

    test('a disk that was full only for a while leaves its mark on what ran then, and on nothing after', async () => {
      const first = waiting(0);
      probe.run(first);
      await running(first);
      fill();
      const warned = await probe.warned(first.uid);
      expect(warned).toMatchObject({ state: 'RUNNING', cause: null });
      expect(warned.warnings[0]?.message).toContain('was full while the task ran');
      rmSync(path.join(disk, 'filler'));
      const second = shell('echo well');
      probe.run(second);
      expect(await probe.over(second.uid)).toMatchObject({ state: 'SUCCEEDED', warnings: [] });
      openGate();
      expect(await probe.over(first.uid)).toMatchObject({
        state: 'SUCCEEDED',
        cause: null,
        warnings: warned.warnings,
      });
    });

    test('a disk that is nearly full is looked at much more often', async () => {
      await probe.backend.close();
      probe = await backends.open({ attemptsFolder: disk, storageSampleMs: 100_000 });
      const launch = waiting(0);
      probe.run(launch);
      await running(launch);
      fill();
      expect((await probe.warned(launch.uid)).warnings[0]?.code).toBe('LOG_STORAGE_FULL');
      openGate();
      await probe.over(launch.uid);
    });

    test('who was refused a write between two looks tells of it in its cause', async () => {
      const other = path.join(backends.folder, 'other');
      mkdirSync(other);
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', other]);
      try {
        // Full for a moment only, and on a disk that nobody looks at.
        const launch = shell(
          `head -c 100000 /dev/zero >${other}/file; code=$?; rm ${other}/file; exit $((40 + code))`,
        );
        probe.run(launch);
        const end = await probe.over(launch.uid);
        expect(end).toMatchObject({ state: 'FAILED', exitCode: 41, cause: { code: 'EXIT_CODE' } });
        expect(end.cause?.message).toMatch(/ended with exit code 41, and said .*No space left on device$/);
      } finally {
        execFileSync('umount', ['--lazy', other]);
      }
    });

    test('the others go on to their own ends, and a new start says why it cannot be', async () => {
      const good = waiting(0);
      const bad = waiting(5);
      const limited = launchOf({ command: ['sleep', '300'], timeout: 1.5, grace: 1 });
      const stopped = launchOf({ command: ['sleep', '300'] });
      for (const launch of [good, bad, limited, stopped]) probe.run(launch);
      await running(good, bad, limited, stopped);
      const flood = shell('exec head -c 4000000 /dev/zero');
      probe.run(flood);
      expect(await probe.over(flood.uid)).toMatchObject({ exitCode: 1, cause: { code: 'LOG_STORAGE_FULL' } });
      fill();

      const late = launchOf({ command: ['true'] });
      probe.run(late);
      const refused = await probe.over(late.uid);
      expect(refused).toMatchObject({ state: 'WORKER_FAILED', cause: { code: 'LOG_STORAGE_FULL' } });
      expect(refused.cause?.message).toContain(disk);

      probe.stop(stopped.uid);
      expect(await probe.over(stopped.uid)).toMatchObject({ state: 'KILLED' });
      expect(await probe.over(limited.uid)).toMatchObject({ state: 'FAILED', cause: { code: 'TIME_LIMIT' } });
      for (const launch of [good, bad]) expect(probe.last(launch.uid)?.state).toBe('RUNNING');
      openGate();
      expect(await probe.over(good.uid)).toMatchObject({ state: 'SUCCEEDED', exitCode: 0, cause: null });
      expect(await probe.over(bad.uid)).toMatchObject({ state: 'FAILED', exitCode: 5 });
      expect(writtenEnd(good.uid)).toMatchObject({ kind: 'exit', code: 0 });
      expect(writtenEnd(bad.uid)).toMatchObject({ kind: 'exit', code: 5 });
      expect(livingOf(disk)).toEqual([]);

      rmSync(path.join(disk, 'filler'));
      rmSync(path.join(folderOf(flood.uid), 'out'));
      const again = shell('echo well');
      probe.run(again);
      expect((await probe.over(again.uid)).state).toBe('SUCCEEDED');
      expect(await probe.text(again.uid)).toBe('well\n');
    });

    test('a start and a stop at once, and an attempt nobody started, come to an end', async () => {
      fill();
      const brief = launchOf({ command: ['sleep', '300'] });
      probe.run(brief);
      probe.stop(brief.uid);
      const unknown = launchOf({ command: ['true'] });
      probe.want({ kind: 'keep', uid: unknown.uid, launch: unknown });
      for (const { uid } of [brief, unknown])
        expect((await probe.over(uid)).state).toMatch(/^(KILLED|MISSING|WORKER_FAILED)$/);
      expect(livingOf(disk)).toEqual([]);
    });

    test('a new backend reads the true end out of the place kept for it', async () => {
      const launch = waiting(9);
      probe.run(launch);
      await running(launch);
      fill();
      await probe.backend.close();
      openGate();
      await eventually(() => livingOf(disk).length === 0, 'it has ended while nobody looked');
      const [supervisor] = readdirSync(disk).filter((name) => name.endsWith('.sh'));
      const before = statSync(path.join(disk, supervisor ?? ''));
      const next = await backends.open({ attemptsFolder: disk });
      next.want({ kind: 'keep', uid: launch.uid, launch });
      expect(await next.over(launch.uid)).toMatchObject({ state: 'FAILED', exitCode: 9 });
      // The text running shells read stays the very same file.
      const after = statSync(path.join(disk, supervisor ?? ''));
      expect([after.ino, after.mtimeMs]).toEqual([before.ino, before.mtimeMs]);
      await next.backend.close();
    });
  },
);
