/** A card that is lost while a container holds it. The Engine hands cards out by a stand-in of NVIDIA's hook, which gives none. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createGpuReader } from '../../main/machine/gpus.js';
import { KernelLog } from '../../main/machine/kernel-log.js';
import type { BackendProbe } from '../harness/backend-probe.js';
import {
  dockerBackends,
  noEngine,
  engineWithHook,
  withEngine,
  type DockerBackends,
  type OwnEngine,
} from '../harness/engine.js';
import { NvidiaStub } from '../harness/nvidia-stub.js';

const third = 'GPU-a0000003-0000-4000-8000-000000000003';
const fourth = 'GPU-a0000004-0000-4000-8000-000000000004';
const thirdBus = '00004968:00:00.0';
const fourthBus = '0000F8D6:00:00.0';
const longMs = 120_000;

describe.skipIf(noEngine)(withEngine('containers that hold cards'), () => {
  let engine: OwnEngine;
  let backends: DockerBackends;
  let stub: NvidiaStub;
  let probe: BackendProbe;
  beforeAll(async () => {
    engine = await engineWithHook();
  });
  afterAll(async () => {
    await engine.stop();
  });
  beforeEach(async () => {
    backends = await dockerBackends(engine);
    stub = new NvidiaStub('k80-x4-minor-number-not-list-order.xml');
    use({ [third]: 90, [fourth]: 90 });
    const gpuReader = createGpuReader({
      nowMs: () => Date.now(),
      command: stub.command,
      loopMs: 50,
      kernelLog: new KernelLog('/nowhere'),
    });
    probe = await backends.open({ gpuReader });
  });
  afterEach(async () => {
    await backends.dispose();
    stub.dispose();
  });

  function use(percent: Readonly<Record<string, number | string>>): void {
    const line = (bus: string, uuid: string) =>
      `${bus}, ${uuid}, ${percent[uuid]}, 0, 40, 60.00, 800, 2500, 0\n`;
    stub.put('loop', line(thirdBus, third) + line(fourthBus, fourth));
  }
  function loseThird(): void {
    stub.lose(thirdBus);
    use({ [third]: '[GPU is lost]', [fourth]: 90 });
  }
  const onCard = (script: string, device: string) =>
    backends.launch({ command: ['sh', '-c', script] }, { devices: [device] });
  const stateOf = (uuid: string) => probe.lastWorkers[0]?.gpus.find((gpu) => gpu.uuid === uuid)?.state;

  test('are asked to leave, then ended, as a fault of the machine; the card is given to nobody', async () => {
    const polite = onCard("trap 'echo leaving; exit 0' TERM; while :; do usleep 20000; done", third);
    const stubborn = onCard("trap '' TERM; while :; do usleep 20000; done", third);
    const lucky = onCard('sleep 300', fourth);
    const launches = [polite, stubborn, lucky];
    probe.want(...launches.map((launch) => ({ kind: 'run' as const, launch })));
    for (const { uid } of launches) await probe.state(uid, 'RUNNING', longMs);
    const given = ['inspect', '-f', '{{(index .HostConfig.DeviceRequests 0).DeviceIDs}}'];
    expect(await engine.docker(...given, `iris-${lucky.uid}`)).toBe(`[${fourth}]\n`);
    loseThird();
    for (const { uid } of [polite, stubborn]) {
      const end = await probe.over(uid, longMs);
      expect(end).toMatchObject({ state: 'WORKER_FAILED', cause: { code: 'GPU_LOST' } });
      expect(end.cause?.message).toContain(third);
    }
    expect(probe.last(polite.uid)).toMatchObject({ exitCode: 0 });
    expect(await probe.text(polite.uid)).toBe('leaving\n');
    expect(probe.last(stubborn.uid)).toMatchObject({ exitCode: 137 });
    await probe.until(() => stateOf(third) === 'SICK' && stateOf(fourth) === 'FREE', longMs);
    expect(probe.last(lucky.uid)?.state).toBe('RUNNING');
    await expect.poll(() => backends.containers(), { timeout: longMs }).toEqual([`iris-${lucky.uid}`]);
  });

  test('have not failed when they give up by themselves because of it', async () => {
    // Deaf, so that it is the same whoever comes first.
    const launch = onCard("trap '' TERM; until test -e lost; do usleep 20000; done; exit 3", third);
    probe.run(launch);
    await probe.state(launch.uid, 'RUNNING', longMs);
    // Nobody looks at the cards any more before it has ended.
    stub.take('loop');
    stub.lose(thirdBus);
    writeFileSync(path.join(backends.work, 'lost'), '');
    expect(await probe.over(launch.uid, longMs)).toMatchObject({
      state: 'WORKER_FAILED',
      exitCode: 3,
      cause: { code: 'GPU_LOST' },
    });
  });
});
