/** Tasks that share a card of a real machine, as the stand-in of nvidia-smi tells of it: together on it, and never with one that is alone. */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { TestClient } from '../harness/client.js';
import { eventually } from '../harness/eventually.js';
import { lastAttempt, over, running, shell, stop, submit } from '../harness/host-jobs.js';
import { makeHomeRoot, startHostProcess, type HostProcess } from '../harness/host-process.js';
import { NvidiaStub } from '../harness/nvidia-stub.js';

/** One idle card of 12 GiB. */
const idle = 'rtx-3060-driver-570.xml';
const card = 'GPU-a0000001-0000-4000-8000-000000000001';

let stub: NvidiaStub;
let claims: string;
let home: Awaited<ReturnType<typeof makeHomeRoot>>;
let host: HostProcess;
let client: TestClient;

beforeEach(async () => {
  stub = new NvidiaStub(idle);
  claims = path.join(mkdtempSync(path.join(os.tmpdir(), 'iris-claims-')), 'claims');
  chmodSync(path.dirname(claims), 0o777);
  home = await makeHomeRoot();
  host = await startHostProcess(home.root, {
    env: {
      ...process.env,
      PATH: `${stub.folder}:${process.env['PATH'] ?? ''}`,
      IRIS_DESKTOP_CLAIMS: claims,
    },
  });
  client = await host.connect();
});
afterEach(async () => {
  await host.shutdown();
  await home.remove();
  stub.dispose();
  rmSync(path.dirname(claims), { recursive: true });
});

const sharing = (script: string, gpuMemory: string) => shell(script, { gpu: 1, shareGpu: true, gpuMemory });
const waitingOf = async (jobId: string) =>
  (await client.call('job.get', { jobId })).summary.waiting?.message ?? '';

test('two that fit run together on one card, seen by each as its only one; who does not fit waits and says why', async () => {
  const first = await submit(client, sharing('echo $CUDA_VISIBLE_DEVICES; sleep 300', '4GiB'));
  const second = await submit(client, sharing('echo $CUDA_VISIBLE_DEVICES; sleep 300', '4GiB'));
  await running(client, first);
  await running(client, second);
  const attempts = [await lastAttempt(client, first), await lastAttempt(client, second)];
  expect(attempts.map(({ devices }) => devices)).toEqual([[card], [card]]);
  const uids = attempts.map(({ uid }) => uid);
  await eventually(async () => {
    const [gpu] = (await client.call('machine.list', {})).machines[0]?.gpus ?? [];
    return [gpu?.state, [gpu?.heldBy, ...(gpu?.sharedWith ?? [])].sort()];
  }).toEqual(['HELD', [...uids].sort()]);

  const third = await submit(client, sharing('exit 0', '4GiB'));
  const alone = await submit(client, shell('exit 0', { gpu: 1 }));
  await eventually(() => waitingOf(third)).toContain('4 GiB on 1 GPU it shares');
  await eventually(() => waitingOf(alone)).toContain('1 GPU (0 of 1 free)');
  await stop(client, first);
  // There is room for it now, but no card of its own for the other.
  expect(await over(client, third)).toMatchObject({ state: 'SUCCEEDED' });
  expect((await client.call('job.get', { jobId: alone })).summary.state).toBe('PENDING');
  await stop(client, second);
  expect(await over(client, alone)).toMatchObject({ state: 'SUCCEEDED', preemptionCount: 0 });
});

test('more than any card has beside its margin is refused with the most that could be had', async () => {
  await expect(submit(client, sharing('exit 0', '11.5GiB'))).rejects.toThrow(
    /gpuMemory: asked for 11.5 GiB; what there is: at most 11(\.\d+)? GiB on a GPU on this machine/,
  );
});
