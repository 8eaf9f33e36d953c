/** A card is lost under a task of a whole host: it runs again on another card of that machine, or waits, with the reason, for this one. */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { JobRequest } from '../../core/contract/job-request.js';
import type { TestClient } from '../harness/client.js';
import { engineImage, engineWithHook, noEngine, type OwnEngine } from '../harness/engine.js';
import { eventually } from '../harness/eventually.js';
import { lastAttempt, over, running, shell, submit, tasksOf } from '../harness/host-jobs.js';
import { makeHomeRoot, startHostProcess, type HostProcess } from '../harness/host-process.js';
import { capture, NvidiaStub } from '../harness/nvidia-stub.js';

const k80 = 'k80-x4-minor-number-not-list-order.xml';
/** On the other two of this capture somebody else computes. */
const busOf: Readonly<Record<string, string>> = {
  'GPU-a0000003-0000-4000-8000-000000000003': '00004968:00:00.0',
  'GPU-a0000004-0000-4000-8000-000000000004': '0000F8D6:00:00.0',
};

describe.each([
  ['a process', false],
  ['a container', true],
])('a card lost under %s', (_, contained) => {
  describe.skipIf(contained && noEngine)('of a whole host', () => {
    let work: string;
    let engine: OwnEngine | null;
    let stub: NvidiaStub;
    let home: Awaited<ReturnType<typeof makeHomeRoot>>;
    let host: HostProcess;
    let client: TestClient;

    beforeEach(async () => {
      work = mkdtempSync(path.join(os.tmpdir(), 'iris-work-'));
      engine = contained ? await engineWithHook() : null;
      stub = new NvidiaStub(k80);
      use();
      home = await makeHomeRoot();
      host = await startHostProcess(home.root, {
        env: {
          ...process.env,
          PATH: `${stub.folder}:${process.env['PATH'] ?? ''}`,
          DOCKER_HOST: `unix://${engine?.socket ?? '/nowhere'}`,
          IRIS_DESKTOP_CLAIMS: 'none',
        },
      });
      client = await host.connect();
    });
    afterEach(async () => {
      await host.shutdown();
      await home.remove();
      await engine?.stop();
      stub.dispose();
      rmSync(work, { recursive: true, force: true });
    });

    /** What the tool's long-lived call prints. */
    function use(lost: string | null = null): void {
      const line = ([uuid, bus]: readonly [string, string]) =>
        `${bus}, ${uuid}, ${uuid === lost ? '[GPU is lost]' : 90}, 0, 40, 60.00, 800, 2500, 0\n`;
      stub.put('loop', Object.entries(busOf).map(line).join(''));
    }
    const machine = async () => (await client.call('machine.list', {})).machines[0];
    const stateOf = async (uuid: string) => (await machine())?.gpus.find((gpu) => gpu.uuid === uuid)?.state;
    const onCard = (go: string): JobRequest =>
      shell(`until test -e ${go}; do sleep 0.05; done`, {
        ...(contained ? { image: engineImage } : {}),
        ...{ workingDirectory: work, gpu: 1, cpu: 0.1, maxRetries: 0 },
      });
    const started = async (go: string) => {
      const job = await submit(client, onCard(go));
      await running(client, job);
      const [card = ''] = (await lastAttempt(client, job)).devices;
      return { job, card };
    };
    const lose = (card: string) => {
      const bus = busOf[card];
      if (bus === undefined) throw new Error(`a card that others use was given: ${card}`);
      stub.lose(bus);
      use(card);
    };
    const statesOf = async (job: string) => {
      const [task] = await tasksOf(client, job);
      return (task?.attempts ?? []).map(({ state, cause }) => `${state} ${cause?.code ?? ''}`.trim());
    };

    test('runs again on the other card of that machine', async () => {
      const { job, card } = await started('go');
      lose(card);
      await eventually(async () => (await lastAttempt(client, job)).number).toBe(1);
      await running(client, job);
      expect(await stateOf(card)).toBe('SICK');
      expect((await lastAttempt(client, job)).devices).toEqual(
        Object.keys(busOf).filter((uuid) => uuid !== card),
      );
      writeFileSync(path.join(work, 'go'), '');
      expect(await over(client, job)).toMatchObject({
        ...{ state: 'SUCCEEDED', failureCount: 0, preemptionCount: 1 },
      });
      expect(await statesOf(job)).toEqual(['WORKER_FAILED GPU_LOST', 'SUCCEEDED']);
    });

    test('waits where there is no other, says that one is kept from jobs, and runs once that is released', async () => {
      const other = await started('other');
      const { job, card } = await started('go');
      lose(card);
      await eventually(() => stateOf(card)).toBe('SICK');
      const explained = async () => (await client.call('job.explain', { jobId: job })).explanation;
      await eventually(async () => (await explained())?.message).toContain('1 kept from jobs');
      expect((await explained())?.remedies).toMatchObject([{ kind: 'release-gpu', gpuCount: 1 }]);
      expect(await statesOf(job)).toEqual(['WORKER_FAILED GPU_LOST']);
      stub.take('fails');
      stub.show(capture(k80));
      use();
      const { id: machineId = '' } = (await machine()) ?? {};
      const change = { kind: 'release-gpu', uuid: card } as const;
      await client.call('machine.change', { requestId: randomUUID(), machineId, change });
      await running(client, job);
      expect((await lastAttempt(client, job)).devices).toEqual([card]);
      for (const go of ['go', 'other']) writeFileSync(path.join(work, go), '');
      expect(await over(client, job)).toMatchObject({ state: 'SUCCEEDED', failureCount: 0 });
      // Who had the other card went on.
      expect(await over(client, other.job)).toMatchObject({ state: 'SUCCEEDED', preemptionCount: 0 });
    });
  });
});
