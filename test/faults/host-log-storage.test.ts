/** The disk of the logs alone is full: every job keeps its true end, and what may be missing from its log is told with it. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, statfsSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { resolveHome } from '../../main/home.js';
import type { TestClient } from '../harness/client.js';
import { eventually } from '../harness/eventually.js';
import { attemptsOf, lastAttempt, over, shell, submit, textOf } from '../harness/host-jobs.js';
import { makeHomeRoot, startHostProcess, type HostProcess } from '../harness/host-process.js';
import { endLiving } from '../harness/process-backend.js';

function missing(): string | null {
  if (process.platform !== 'linux') return 'a small file system needs Linux';
  if (process.getuid?.() !== 0) return 'mounting a small file system needs root';
  return null;
}

const reason = missing();
if (reason !== null && process.env['CI'] === 'true') throw new Error(reason);

describe.skipIf(reason !== null)(
  `a full disk under the logs of a host${reason === null ? '' : ` (left out: ${reason})`}`,
  () => {
    let home: Awaited<ReturnType<typeof makeHomeRoot>>;
    let host: HostProcess;
    let client: TestClient;
    let attempts: string;

    beforeEach(async () => {
      home = await makeHomeRoot();
      ({ attempts } = resolveHome({ flag: home.root }));
      mkdirSync(attempts, { recursive: true, mode: 0o700 });
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m,mode=0700', 'tmpfs', attempts]);
      host = await startHostProcess(home.root);
      client = await host.connect();
    });
    afterEach(async () => {
      await host.shutdown();
      await endLiving(attempts);
      execFileSync('umount', ['--lazy', attempts]);
      await home.remove();
    });

    test('with exit code 0 and with another: the warning is with the attempt and in the record of the job', async () => {
      for (const { code, end } of [
        { code: 0, end: { state: 'SUCCEEDED', exitCode: 0, cause: null } },
        { code: 3, end: { state: 'FAILED', exitCode: 3, cause: { code: 'LOG_STORAGE_FULL' } } },
      ]) {
        const jobId = await submit(client, shell(`head -c 4000000 /dev/zero; exit ${code}`));
        expect(await over(client, jobId)).toMatchObject(end);
        expect(statfsSync(attempts).bavail).toBe(0);
        const attempt = await lastAttempt(client, jobId);
        expect(attempt).toMatchObject({ ...end, warnings: [{ code: 'LOG_STORAGE_FULL' }] });
        const [warning] = attempt.warnings;
        expect(warning?.message).toContain(path.join(attempts, attempt.uid));
        const { events } = await client.call('audit.list', { entity: jobId, limit: 100 });
        expect(events.filter((event) => event.action === 'attempt_warned')).toMatchObject([
          { entity: `${jobId}/0:0`, detail: { uid: attempt.uid, ...warning } },
        ]);
        rmSync(path.join(attempts, attempt.uid, 'out'));
      }
      const well = await submit(client, shell('echo well'));
      expect((await over(client, well)).state).toBe('SUCCEEDED');
      expect((await lastAttempt(client, well)).warnings).toEqual([]);
    });

    test('a running attempt is warned of while it runs, and a later host keeps that', async () => {
      const gate = `/dev/shm/iris-gate-${path.basename(home.root)}`;
      try {
        const script = `head -c 4000000 /dev/zero; until test -e ${gate}; do sleep 0.05; done; echo end`;
        const jobId = await submit(client, shell(script));
        await eventually(async () =>
          (await attemptsOf(client, jobId)).map(({ state, cause, warnings }) => [
            state,
            cause,
            warnings.map(({ code }) => code),
          ]),
        ).toEqual([['RUNNING', null, ['LOG_STORAGE_FULL']]]);
        const { uid, warnings } = await lastAttempt(client, jobId);
        // Room is made, so that its end leaves no mark of its own.
        truncateSync(path.join(attempts, uid, 'out'));
        await host.kill();
        host = await startHostProcess(home.root);
        client = await host.connect();
        writeFileSync(gate, '');
        expect((await over(client, jobId)).state).toBe('SUCCEEDED');
        expect(await lastAttempt(client, jobId)).toMatchObject({ uid, state: 'SUCCEEDED', warnings });
        expect(await textOf(client, uid)).toBe('end\n');
      } finally {
        rmSync(gate, { force: true });
      }
    });
  },
);
