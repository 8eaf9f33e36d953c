/** A disk that is full under a running host: refused and told while it lasts, and all well by itself afterwards. */
import { execFileSync } from 'node:child_process';
import { closeSync, openSync, rmSync, statfsSync, writeFileSync, writeSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { HostStatus } from '../../core/contract/views.js';
import type { TestClient } from '../harness/client.js';
import { lastAttempt, over, refusalOf, running, shell, submit, textOf } from '../harness/host-jobs.js';
import { eventually } from '../harness/eventually.js';
import { makeHomeRoot, startHostProcess, type HostProcess } from '../harness/host-process.js';

function missing(): string | null {
  if (process.platform !== 'linux') return 'a small file system needs Linux';
  if (process.getuid?.() !== 0) return 'mounting a small file system needs root';
  return null;
}

const reason = missing();
if (reason !== null && process.env['CI'] === 'true') throw new Error(reason);

describe.skipIf(reason !== null)(`a full disk${reason === null ? '' : ` (left out: ${reason})`}`, () => {
  let home: Awaited<ReturnType<typeof makeHomeRoot>>;
  let host: HostProcess;
  let client: TestClient;

  beforeEach(async () => {
    home = await makeHomeRoot();
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=24m,mode=0700', 'tmpfs', home.root]);
    host = await startHostProcess(home.root);
    client = await host.connect();
  });
  afterEach(async () => {
    await host.shutdown();
    execFileSync('umount', [home.root]);
    await home.remove();
  });

  const filler = () => path.join(home.root, 'filler');

  /** Takes every free block. */
  function fill(): void {
    const file = openSync(filler(), 'a');
    try {
      for (;;) writeSync(file, Buffer.alloc(4096, 'x'));
    } catch {
      // Full now, which is what was wanted.
    } finally {
      closeSync(file);
    }
    expect(statfsSync(home.root).bavail).toBe(0);
  }

  const large = () => shell('true', { environment: { FILLER: 'x'.repeat(100_000) } });

  async function statusWhen(healthy: boolean): Promise<HostStatus> {
    await client.until('status', {}, (value) => (value as HostStatus).healthy === healthy);
    return await client.call('status', {});
  }

  test('refuses with STORAGE_FAILED, keeps nothing, says so, lets jobs run, and recovers by itself', async () => {
    const gate = '/dev/shm/iris-gate-' + path.basename(home.root);
    const script = `echo before; until test -e ${gate}; do sleep 0.05; done; exit 7`;
    try {
      const jobId = await submit(client, shell(script, { name: 'running' }));
      const other = await submit(client, shell('echo a; exec sleep 600', { name: 'other', grace: 1 }));
      await running(client, jobId);
      await running(client, other);
      const { uid, pid } = await lastAttempt(client, jobId);
      const before = (await client.call('status', {})).counts;
      const healths: boolean[] = [];
      const watched = (value: HostStatus) => void healths.push(value.healthy);
      const end = client.subscribe(
        'status',
        {},
        { snapshot: watched, delta: watched, ended: () => undefined },
      );

      fill();
      // What the database's log had room for already may still be taken; never is an answer false.
      const kept: string[] = [];
      let refused = null;
      for (let count = 0; refused === null && count < 200; count += 1) {
        try {
          kept.push(await submit(client, large()));
        } catch {
          refused = await refusalOf(submit(client, large()));
        }
      }
      expect(refused).toMatchObject({ code: 'STORAGE_FAILED' });
      expect(refused?.message).toMatch(/SQLITE_(FULL|IOERR)/);
      const sick = await statusWhen(false);
      expect(sick.health).toMatch(/iris\.db.*SQLITE_(FULL|IOERR)/);
      expect(sick.counts.running + sick.counts.waiting + sick.counts.finished).toBe(
        before.running + before.waiting + before.finished + kept.length,
      );
      expect(process.kill(pid ?? 0, 0)).toBe(true);
      // It ends while its end cannot be written.
      writeFileSync(gate, '');
      await eventually(() => {
        try {
          process.kill(pid ?? 0, 0);
          return 'alive';
        } catch {
          return 'gone';
        }
      }).toBe('gone');
      expect((await refusalOf(submit(client, large()))).code).toBe('STORAGE_FAILED');
      // For as long as it lasts, through several tries: never well in between.
      const from = healths.lastIndexOf(true);
      await new Promise((resolve) => setTimeout(resolve, 2500));
      expect((await client.call('status', {})).healthy).toBe(false);
      expect(healths.slice(from + 1)).not.toContain(true);
      end();

      rmSync(filler());
      const freed = Date.now();
      expect((await statusWhen(true)).health).toBe('All is well.');
      expect(Date.now() - freed).toBeLessThan(5000);
      expect(await over(client, jobId)).toMatchObject({ state: 'FAILED', exitCode: 7 });
      expect(await textOf(client, uid)).toBe('before\n');
      expect((await client.call('job.get', { jobId: other })).summary.state).toBe('RUNNING');
      for (const id of kept) expect((await over(client, id)).state).toBe('SUCCEEDED');
      const { total } = await client.call('job.list', {
        filter: {},
        sort: { key: 'submitted', descending: false },
        offset: 0,
        limit: 1,
      });
      expect(total).toBe(2 + kept.length);
      const { items } = await client.call('inbox.list', { limit: 500 });
      expect(items.filter((item) => item.jobId === jobId)).toHaveLength(1);
      expect((await over(client, await submit(client, shell('exit 0')))).state).toBe('SUCCEEDED');
      await client.call('job.stop', { requestId: 'stop-the-other', jobIds: [other] });
      expect((await over(client, other)).state).toBe('KILLED');
    } finally {
      rmSync(gate, { force: true });
    }
  });
});
