/** What happens on the cards an attempt holds: one is lost, somebody else computes on one, one is held and not used. */
import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createGpuReader } from '../../main/machine/gpus.js';
import { KernelLog } from '../../main/machine/kernel-log.js';
import type { WorkstationOptions } from '../../main/backends/workstation/workstation-backend.js';
import { launchOf, type BackendProbe } from '../harness/backend-probe.js';
import { capture, NvidiaStub } from '../harness/nvidia-stub.js';
import { livingOf, processBackends, type ProcessBackends } from '../harness/process-backend.js';

const k80 = 'k80-x4-minor-number-not-list-order.xml';
const [third, fourth] = [3, 4].map((n) => `GPU-a000000${n}-0000-4000-8000-00000000000${n}`);
const thirdBus = '00004968:00:00.0';
const fourthBus = '0000F8D6:00:00.0';

let backends: ProcessBackends;
let stub: NvidiaStub;
const others: ChildProcess[] = [];

beforeEach(async () => {
  backends = await processBackends();
  stub = new NvidiaStub(k80);
  use({ [third ?? '']: 90, [fourth ?? '']: 90 });
});
afterEach(async () => {
  await backends.dispose();
  for (const child of others.splice(0)) child.kill('SIGKILL');
  stub.dispose();
});

/** What the long-lived call prints. */
function use(percent: Readonly<Record<string, number | string>>): void {
  const line = (bus: string, uuid: string | undefined) =>
    `${bus}, ${uuid}, ${percent[uuid ?? '']}, 0, 40, 60.00, 800, 2500, 0\n`;
  stub.put('loop', line(thirdBus, third) + line(fourthBus, fourth));
}

async function open(more: Partial<WorkstationOptions> = {}): Promise<BackendProbe> {
  const gpuReader = createGpuReader({
    nowMs: () => Date.now(),
    command: stub.command,
    loopMs: 50,
    kernelLog: new KernelLog('/nowhere'),
  });
  return backends.open({ gpuReader, ...more });
}

const onCard = (script: string, device: string | undefined) =>
  launchOf({ command: ['sh', '-c', script] }, { devices: device === undefined ? [] : [device] });

const untilLost = () => `until grep -q Unable ${stub.folder}/all; do sleep 0.02; done`;

const stateOf = (probe: BackendProbe, uuid: string | undefined) =>
  probe.lastWorkers[0]?.gpus.find((gpu) => gpu.uuid === uuid)?.state;

function loseThird(): void {
  stub.lose(thirdBus);
  use({ [third ?? '']: '[GPU is lost]', [fourth ?? '']: 90 });
}

test('a card that is lost ends its attempt as a fault of the machine, and is given to nobody; the others go on', async () => {
  const probe = await open();
  const [doomed, lucky] = [onCard('sleep 300', third), onCard('sleep 300', fourth)];
  probe.run(doomed);
  probe.run(lucky);
  await probe.state(doomed.uid, 'RUNNING');
  await probe.state(lucky.uid, 'RUNNING');
  loseThird();
  const end = await probe.over(doomed.uid);
  expect(end).toMatchObject({ state: 'WORKER_FAILED', cause: { code: 'GPU_LOST' } });
  expect(end.cause?.message).toMatch(
    /^Its GPU Tesla K80 \(GPU-a0000003-.*\) failed: The card is lost to the driver: Unable to determine the device handle for GPU4968:00:00.0: Unknown Error\./,
  );
  await probe.until(() => stateOf(probe, third) === 'SICK' && stateOf(probe, fourth) === 'FREE');
  expect(probe.last(lucky.uid)?.state).toBe('RUNNING');
  const series = probe.backend.history?.(os.hostname(), 0).series ?? [];
  const used = series.find(({ key }) => key === `gpu-percent:${fourth}`)?.values ?? [];
  expect(Math.max(...used.map((value) => value ?? 0))).toBeGreaterThan(0);
  expect(series.map(({ key }) => key)).toContain('memory-bytes');
  expect(probe.backend.history?.('another', 0).timesMs).toEqual([]);
  probe.stop(lucky.uid, { graceMs: 1000 });
  expect(await probe.over(lucky.uid)).toMatchObject({ state: 'KILLED' });
  expect(livingOf(backends.folder)).toEqual([]);
});

test('a program that gives up by itself because its card is lost has not failed', async () => {
  const probe = await open();
  const launch = onCard(`${untilLost()}; exit 3`, third);
  probe.run(launch);
  await probe.state(launch.uid, 'RUNNING');
  // The tool's long-lived call tells nothing: the end is what makes it look.
  stub.lose(thirdBus);
  expect(await probe.over(launch.uid)).toMatchObject({
    state: 'WORKER_FAILED',
    cause: { code: 'GPU_LOST' },
  });
});

test('one that has done its work before has succeeded', async () => {
  const probe = await open();
  const launch = onCard(`${untilLost()}; exit 0`, third);
  probe.run(launch);
  await probe.state(launch.uid, 'RUNNING');
  stub.lose(thirdBus);
  expect(await probe.over(launch.uid)).toMatchObject({ state: 'SUCCEEDED', cause: null });
});

test('released by hand, a card that is well is given out again', async () => {
  const probe = await open();
  const launch = onCard('sleep 300', third);
  probe.run(launch);
  await probe.state(launch.uid, 'RUNNING');
  loseThird();
  await probe.over(launch.uid);
  await probe.until(() => stateOf(probe, third) === 'SICK');
  stub.take('fails');
  stub.show(capture(k80));
  const [worker] = probe.lastWorkers;
  expect(probe.backend.releaseGpu?.(worker?.id ?? '', 'GPU-none')).toBe(false);
  expect(probe.backend.releaseGpu?.('another', third ?? '')).toBe(false);
  expect(probe.backend.releaseGpu?.(worker?.id ?? '', third ?? '')).toBe(true);
  await probe.until(() => stateOf(probe, third) === 'FREE');
});

/** These compute on the third card. */
const computeOnThird = (...pids: readonly (number | undefined)[]): void => stub.compute('00004968', ...pids);

test("somebody else's process on a held card is named, and lives on", async () => {
  const probe = await open();
  const other = spawn('sleep', ['300']);
  others.push(other);
  const launch = onCard('sleep 300', third);
  probe.run(launch);
  await probe.state(launch.uid, 'RUNNING');
  computeOnThird(other.pid);
  probe.backend.watchWorkers(true);
  const warned = await probe.warned(launch.uid);
  expect(warned.warnings).toMatchObject([{ code: 'GPU_INTRUDER' }]);
  expect(warned.warnings[0]?.message).toMatch(
    new RegExp(`python train.py of \\w+ \\(process ${other.pid}, 7 MiB\\).* were left alone`),
  );
  probe.stop(launch.uid, { graceMs: 1000 });
  await probe.over(launch.uid);
  expect(other.exitCode).toBeNull();
});

test('programs of the task that have another environment, or a session of their own as well, are no strangers', async () => {
  const probe = await open();
  const note = path.join(stub.folder, 'pids');
  // The shell in between lives on, so the last has a parent that is known.
  const inSession = `env -i sh -c 'echo $$ >>${note}; exec sleep 300' &`;
  const outside = `env -i setsid sh -c 'echo $$ >>${note}; exec sleep 300' &`;
  const launch = onCard(`${inSession} ${outside} wait`, third);
  probe.run(launch);
  await probe.state(launch.uid, 'RUNNING');
  const pids = () =>
    existsSync(note) ? readFileSync(note, 'utf8').split('\n').slice(0, -1).map(Number) : [];
  await probe.until(() => pids().length === 2);
  computeOnThird(...pids());
  probe.backend.watchWorkers(true);
  const card = () => probe.lastWorkers[0]?.gpus.find(({ uuid }) => uuid === third);
  await probe.until(() => card()?.processes.length === 2);
  expect(card()).toMatchObject({ state: 'FREE', busyByOthers: false });
  expect(card()?.processes.map(({ attemptUid }) => attemptUid)).toEqual([launch.uid, launch.uid]);
  probe.stop(launch.uid, { graceMs: 1000 });
  expect((await probe.over(launch.uid)).warnings).toEqual([]);
  expect(livingOf(backends.folder)).toEqual([]);
});

test('a card that is held and hardly used is told once; one that works is not', async () => {
  use({ [third ?? '']: 2, [fourth ?? '']: 90 });
  const probe = await open({ gpuIdleAfterMs: 300 });
  const [idle, busy] = [onCard('sleep 300', third), onCard('sleep 300', fourth)];
  probe.run(idle);
  probe.run(busy);
  const warned = await probe.warned(idle.uid);
  expect(warned.warnings).toEqual([
    {
      code: 'GPU_IDLE',
      message: `Its GPU Tesla K80 (${third}) has been used less than 5 % for 0.3s: others cannot have it while the task holds it.`,
    },
  ]);
  for (const launch of [idle, busy]) probe.stop(launch.uid, { graceMs: 1000 });
  expect((await probe.over(idle.uid)).warnings).toHaveLength(1);
  expect((await probe.over(busy.uid)).warnings).toEqual([]);
});

test('what an attempt used is told while it runs and with its end', async () => {
  const probe = await open({ usageSampleMs: 100, usageTellMs: 200 });
  const launch = onCard(
    'dd if=/dev/zero of="$IRIS_WORKDIR/written" bs=1M count=3 conv=fsync 2>/dev/null; i=0; while [ $i -lt 400000 ]; do i=$((i+1)); done; sleep 300',
    third,
  );
  probe.run(launch);
  const measured = () => probe.last(launch.uid)?.usage;
  await probe.until(() => (measured()?.energyJoules ?? 0) > 0 && (measured()?.cpuSeconds ?? 0) > 0);
  probe.stop(launch.uid, { graceMs: 1000 });
  const { usage, peakMemoryBytes } = await probe.over(launch.uid);
  expect(usage?.cpuSeconds).toBeGreaterThan(0);
  expect(usage?.diskWrittenBytes).toBeGreaterThanOrEqual(3 * 1024 ** 2);
  expect(usage?.energyJoules).toBeGreaterThan(0);
  expect(usage?.gpuPercent).toBeGreaterThan(0);
  expect(usage?.gpuPercent).toBeLessThanOrEqual(90);
  expect(usage?.devicesUsed).toEqual([]);
  expect(peakMemoryBytes).toBeGreaterThan(100_000);
});
