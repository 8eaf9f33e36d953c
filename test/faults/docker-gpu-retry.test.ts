/** A card is lost under a task in a container of a whole host: it runs again on another to its end, and pays for it as for a lost machine. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { TestClient } from '../harness/client.js';
import { engineImage, noEngine, engineWithHook, withEngine, type OwnEngine } from '../harness/engine.js';
import { eventually } from '../harness/eventually.js';
import { lastAttempt, over, running, shell, submit, tasksOf, textOf } from '../harness/host-jobs.js';
import { makeHomeRoot, startHostProcess, type HostProcess } from '../harness/host-process.js';
import { NvidiaStub } from '../harness/nvidia-stub.js';

/** On the other two of this capture somebody else computes. */
const busOf: Readonly<Record<string, string>> = {
  'GPU-a0000003-0000-4000-8000-000000000003': '00004968:00:00.0',
  'GPU-a0000004-0000-4000-8000-000000000004': '0000F8D6:00:00.0',
};

describe.skipIf(noEngine)(withEngine('a card lost under a container'), () => {
  let work: string;
  let engine: OwnEngine;
  let stub: NvidiaStub;
  let home: Awaited<ReturnType<typeof makeHomeRoot>>;
  let host: HostProcess;
  let client: TestClient;

  beforeEach(async () => {
    work = mkdtempSync(path.join(os.tmpdir(), 'iris-work-'));
    engine = await engineWithHook();
    stub = new NvidiaStub('k80-x4-minor-number-not-list-order.xml');
    use();
    home = await makeHomeRoot();
    host = await startHostProcess(home.root, {
      env: {
        ...process.env,
        PATH: `${stub.folder}:${process.env['PATH'] ?? ''}`,
        DOCKER_HOST: `unix://${engine.socket}`,
        IRIS_DESKTOP_CLAIMS: 'none',
      },
    });
    client = await host.connect();
  });
  afterEach(async () => {
    await host.shutdown();
    await home.remove();
    await engine.stop();
    stub.dispose();
    rmSync(work, { recursive: true, force: true });
  });

  /** What the tool's long-lived call prints. */
  function use(lost: string | null = null): void {
    const line = ([uuid, bus]: readonly [string, string]) =>
      `${bus}, ${uuid}, ${uuid === lost ? '[GPU is lost]' : 90}, 0, 40, 60.00, 800, 2500, 0\n`;
    stub.put('loop', Object.entries(busOf).map(line).join(''));
  }
  const stateOf = async (uuid: string) =>
    (await client.call('machine.list', {})).machines[0]?.gpus.find((gpu) => gpu.uuid === uuid)?.state;

  test('is charged to the budget of losses, not to that of failures', async () => {
    const script =
      'echo "run on $NVIDIA_VISIBLE_DEVICES"; until test -e go; do usleep 20000; done; echo whole';
    const request = shell(script, {
      image: engineImage,
      workingDirectory: work,
      gpu: 1,
      maxRetries: 0,
    });
    const job = await submit(client, request);
    await running(client, job);
    const first = await lastAttempt(client, job);
    const [lost = ''] = first.devices;
    const bus = busOf[lost];
    if (bus === undefined) throw new Error(`a card that others use was given: ${lost}`);
    stub.lose(bus);
    use(lost);
    await eventually(async () => (await lastAttempt(client, job)).number).toBe(1);
    await eventually(() => stateOf(lost)).toBe('SICK');
    await running(client, job);
    // The first is over before the other ends the task.
    writeFileSync(path.join(work, 'go'), '');
    const end = await over(client, job);
    expect(end).toMatchObject({ state: 'SUCCEEDED', exitCode: 0, failureCount: 0, preemptionCount: 1 });
    const [task] = await tasksOf(client, job);
    expect(task).toMatchObject({ state: 'SUCCEEDED', failureCount: 0, preemptionCount: 1 });
    const [one, two, ...more] = task?.attempts ?? [];
    expect(more).toEqual([]);
    expect(one).toMatchObject({ state: 'WORKER_FAILED', cause: { code: 'GPU_LOST' } });
    expect(two).toMatchObject({ state: 'SUCCEEDED', cause: null });
    expect(two?.devices).toEqual(Object.keys(busOf).filter((uuid) => uuid !== lost));
    expect(await textOf(client, two?.uid ?? '')).toMatch(/whole\n$/);
    expect(await stateOf(lost)).toBe('SICK');
    await eventually(async () => (await engine.docker('ps', '-aq')).trim()).toBe('');
  });
});
