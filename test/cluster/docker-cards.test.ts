/** A card under a container on a machine reached by SSH: its Engine's, with a stand-in of nvidia-smi and of NVIDIA's hook there. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { LabHost } from '../../scripts/lib/lab-hosts.mjs';
import { expectCardWarnings } from '../harness/card-warnings.js';
import { eventually } from '../harness/eventually.js';
import { launchOf } from '../harness/backend-probe.js';
import { engineImage, engineWithHook, type OwnEngine } from '../harness/engine.js';
import { describeLabEngine, labMachines, quickLimits, type LabMachines } from '../harness/lab.js';
import { NvidiaStub } from '../harness/nvidia-stub.js';

const [third, fourth] = [3, 4].map((n) => `GPU-a000000${n}-0000-4000-8000-00000000000${n}`);
const thirdBus = '00004968:00:00.0';
const fourthBus = '0000F8D6:00:00.0';
const usualPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

let machines: LabMachines;
let engine: OwnEngine;
let host: LabHost;
let stub: NvidiaStub;

/** What the long-lived call prints. */
function use(percent: number | string, mebibytes = 0): void {
  const line = (bus: string, uuid: string | undefined) =>
    `${bus}, ${uuid}, ${uuid === third ? percent : 90}, ${mebibytes}, 40, 60.00, 800, 2500, 0\n`;
  stub.put('loop', line(thirdBus, third) + line(fourthBus, fourth));
}

const onCard = (script: string, device = third) =>
  launchOf(
    { command: ['sh', '-c', script], image: engineImage, gpu: '1', workingDirectory: `${host.home}/jobs` },
    { devices: [device ?? ''], workerId: 'ws-three' },
  );

describeLabEngine('cards under containers on a workstation by SSH', () => {
  beforeAll(async () => {
    engine = await engineWithHook();
    machines = await labMachines();
  });
  afterAll(async () => {
    await machines.dispose();
    await engine.stop();
  });
  beforeEach(async () => {
    stub = new NvidiaStub('k80-x4-minor-number-not-list-order.xml');
    use(90);
    host = await machines.lab.host('ws-three', { dockerSocket: engine.socket });
    host.sh(`mkdir -p ${host.home}/jobs`);
    host.searchPath = `${stub.folder}:${usualPath}`;
    host.restartSshd();
  });
  afterEach(async () => {
    await machines.closeProbes();
    await machines.lab.remove(host);
    await engine.clear();
    stub.dispose();
  });

  test('one that is lost ends the container as a fault of the machine, and is given to nobody; the others go on', async () => {
    const probe = await machines.open(host, { ...quickLimits, gpuLoopMs: 50 });
    await probe.until(() => probe.backend.observe()[0]?.docker?.state === 'READY');
    const [doomed, lucky] = [onCard('sleep 300'), onCard('until test -e go; do usleep 20000; done', fourth)];
    probe.run(doomed);
    probe.run(lucky);
    for (const { uid } of [doomed, lucky]) await probe.state(uid, 'RUNNING');
    stub.lose(thirdBus);
    use('[GPU is lost]');
    expect(await probe.over(doomed.uid)).toMatchObject({
      state: 'WORKER_FAILED',
      cause: { code: 'GPU_LOST' },
    });
    const card = () => probe.backend.observe()[0]?.gpus.find(({ uuid }) => uuid === third);
    await probe.until(() => card()?.state === 'SICK');
    expect(probe.last(lucky.uid)?.state).toBe('RUNNING');
    await eventually(async () => (await engine.docker('ps', '-aq')).trim().split('\n').length).toBe(1);
    host.sh(`touch ${host.home}/jobs/go`);
    expect(await probe.over(lucky.uid)).toMatchObject({ state: 'SUCCEEDED', exitCode: 0 });
  });

  test('one that is held and hardly used, and somebody else on it, are told to who holds it, who goes on', async () => {
    const probe = await machines.open(host, { ...quickLimits, gpuLoopMs: 50, gpuIdleAfterMs: 300 });
    await probe.until(() => probe.backend.observe()[0]?.docker?.state === 'READY');
    const [idle, busy] = [onCard('sleep 300'), onCard('sleep 300', fourth)];
    await expectCardWarnings({
      ...{ probe, host, stub, idle, busy, bus: thirdBus },
      use: (percent, mebibytes) => use(percent, mebibytes),
    });
  });
});
