/**
 * A whole controller loses a card, or all that runs, on a machine by SSH: its tasks run again as the fault of that machine, each once.
 * Containers go only where they can run.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { JobRequest } from '../../core/contract/job-request.js';
import type { LabHost } from '../../scripts/lib/lab-hosts.mjs';
import { engineImage, ownEngine, type OwnEngine } from '../harness/engine.js';
import { eventually } from '../harness/eventually.js';
import { attemptsOf, lastAttempt, over, running, shell, submit, textOf } from '../harness/host-jobs.js';
import { describeLabEngine, labMachines, type LabMachines } from '../harness/lab.js';
import { labController, type LabController } from '../harness/lab-host.js';
import { capture, NvidiaStub } from '../harness/nvidia-stub.js';

const k80 = 'k80-x4-minor-number-not-list-order.xml';
const buses = { 3: '00004968:00:00.0', 4: '0000F8D6:00:00.0' } as const;
/** The two cards of that capture that are free, on the one machine and, by other names, on the other. */
const uuid = (machine: 'a' | 'b', card: 3 | 4) =>
  `GPU-${machine}000000${card}-0000-4000-8000-00000000000${card}`;
const usualPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
const testMs = 150_000;

let engine: OwnEngine;
let machines: LabMachines;
let controller: LabController;
let stubs: NvidiaStub[];

/** What the long-lived call prints. */
function use(stub: NvidiaStub, machine: 'a' | 'b', lost: number | null = null): void {
  const line = (card: 3 | 4) =>
    `${buses[card]}, ${uuid(machine, card)}, ${card === lost ? '[GPU is lost]' : 90}, 0, 40, 60.00, 800, 2500, 0\n`;
  stub.put('loop', line(3) + line(4));
}

/** A machine of those cards. */
async function withCards(name: string, machine: 'a' | 'b'): Promise<NvidiaStub> {
  const stub = new NvidiaStub(k80);
  stubs.push(stub);
  stub.show(capture(k80).replaceAll('GPU-a', `GPU-${machine}`));
  use(stub, machine);
  const host = await machines.lab.host(name);
  host.searchPath = `${stub.folder}:${usualPath}`;
  host.restartSshd();
  await controller.add(host);
  await controller.machineWhen(name, ({ gpus }) => gpus.length === 4);
  return stub;
}

describeLabEngine('what is lost on a workstation by SSH, with a whole controller', () => {
  beforeAll(async () => {
    engine = await ownEngine();
  }, 90_000);
  afterAll(() => engine.stop(), 60_000);
  beforeEach(async () => {
    process.env['IRIS_DESKTOP_CLAIMS'] = 'none';
    stubs = [];
    machines = await labMachines();
    controller = await labController(machines);
  });
  afterEach(async () => {
    await controller.dispose();
    delete process.env['IRIS_DESKTOP_CLAIMS'];
    await machines.dispose();
    for (const stub of stubs) stub.dispose();
    await engine.clear();
  });

  test(
    'a card under a task: it runs on the cards of another machine, and that one is kept from jobs',
    async () => {
      const { client } = controller;
      const stub = await withCards('ws-one', 'a');
      const job = await submit(client, shell('exec sleep 6544', { gpu: 2, cpu: 0.1, maxRetries: 0 }));
      await running(client, job);
      await withCards('ws-two', 'b');
      stub.lose(buses[3]);
      use(stub, 'a', 3);
      await eventually(async () => (await attemptsOf(client, job)).length).toBe(2);
      await running(client, job);
      expect(await attemptsOf(client, job)).toMatchObject([
        { workerId: 'ws-one', state: 'WORKER_FAILED', cause: { code: 'GPU_LOST' } },
        { workerId: 'ws-two', state: 'RUNNING', devices: [uuid('b', 3), uuid('b', 4)] },
      ]);
      const stateOf = async (card: 3 | 4) =>
        (await controller.machine('ws-one'))?.gpus.find((gpu) => gpu.uuid === uuid('a', card))?.state;
      await eventually(() => stateOf(3)).toBe('SICK');
      await eventually(() => stateOf(4)).toBe('FREE');
    },
    testMs,
  );

  test(
    'the machine under a container, which it begins anew: the task runs once more there',
    async () => {
      const { client } = controller;
      const host: LabHost = await machines.lab.host('ws-one', { dockerSocket: engine.socket });
      const folder = path.join(host.home, 'jobs');
      mkdirSync(folder);
      await controller.add(host);
      await controller.machineWhen('ws-one', ({ docker }) => docker.state === 'READY');
      const script = 'echo "$IRIS_ATTEMPT_UID" >>begun; echo here; until test -e go; do usleep 20000; done';
      const job = await submit(
        client,
        shell(script, { image: engineImage, workingDirectory: folder, cpu: 0.1, maxRetries: 0 }),
      );
      await running(client, job);
      const first = await lastAttempt(client, job);
      await eventually(() => textOf(client, first.uid)).toBe('here\n');
      await Promise.all([host.powerOff(), engine.fall()]);
      await engine.start();
      await host.boot();
      await client.call('machine.connect', { machineId: 'ws-one' });
      await eventually(async () => (await attemptsOf(client, job)).length).toBe(2);
      writeFileSync(path.join(folder, 'go'), '');
      expect(await over(client, job)).toMatchObject({
        ...{ state: 'SUCCEEDED', failureCount: 0, preemptionCount: 1 },
      });
      const [lost, again] = await attemptsOf(client, job);
      expect(lost).toMatchObject({ uid: first.uid, state: 'WORKER_FAILED' });
      expect(['CONTAINER_LOST', 'REBOOTED']).toContain(lost?.cause?.code);
      expect(host.sh(`cat ${folder}/begun`).trim().split('\n')).toEqual([first.uid, again?.uid]);
      expect(await textOf(client, first.uid)).toBe('here\n');
      expect(await textOf(client, again?.uid ?? '')).toBe('here\n');
    },
    testMs,
  );

  test(
    'containers go to the machine with Docker, however much is free elsewhere, and wait for one that has none, with the reason',
    async () => {
      const { client } = controller;
      const bare = await machines.lab.host('ws-bare');
      const host = await machines.lab.host('ws-one', { dockerSocket: engine.socket });
      for (const each of [bare, host]) await controller.add(each);
      await controller.machineWhen(
        'ws-bare',
        ({ state, docker }) => state === 'HEALTHY' && docker.state === 'ABSENT',
      );
      const workingDirectory = path.join(host.home, 'jobs');
      mkdirSync(workingDirectory);
      const contained = (more: Partial<JobRequest> = {}) =>
        submit(client, shell('echo here', { image: engineImage, workingDirectory, cpu: 0.1, ...more }));
      const waits = await contained({ machine: 'ws-bare' });
      await controller.machineWhen('ws-one', ({ docker }) => docker.state === 'READY');
      const jobs = await Promise.all([1, 2, 3, 4].map(() => contained()));
      for (const job of jobs) {
        expect(await over(client, job)).toMatchObject({ state: 'SUCCEEDED', preemptionCount: 0 });
        expect((await attemptsOf(client, job)).map(({ workerId }) => workerId)).toEqual(['ws-one']);
      }
      const { explanation } = await client.call('job.explain', { jobId: waits });
      expect(explanation?.message).toMatch(
        /^Waits: ws-bare has no Docker\. What to do is told by irisctl docker check/,
      );
      expect(await attemptsOf(client, waits)).toEqual([]);
    },
    testMs,
  );
});
