/** Cards of a machine reached by SSH, read with a stand-in of nvidia-smi there: followed, lost, named by the kernel's log. */
import { once } from 'node:events';
import { appendFileSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { SshMachineOptions } from '../../main/backends/workstation/ssh/ssh-machine-options.js';
import type { LabHost } from '../../scripts/lib/lab-hosts.mjs';
import { expectCardWarnings } from '../harness/card-warnings.js';
import { launchOf } from '../harness/backend-probe.js';
import { describeLab, labMachines, quickLimits, type LabMachines, type LabProbe } from '../harness/lab.js';
import { capture, NvidiaStub } from '../harness/nvidia-stub.js';
import { eventually } from '../harness/process-backend.js';

const k80 = 'k80-x4-minor-number-not-list-order.xml';
const [third, fourth] = [3, 4].map((n) => `GPU-a000000${n}-0000-4000-8000-00000000000${n}`);
const thirdBus = '00004968:00:00.0';
const fourthBus = '0000F8D6:00:00.0';
const usualPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

let machines: LabMachines;
let host: LabHost;
let stub: NvidiaStub;

const quick: Partial<SshMachineOptions> = { ...quickLimits, gpuLoopMs: 50 };

/** What the long-lived call prints. */
function use(percent: number | string, of = third, mebibytes = 0): void {
  const line = (bus: string, uuid: string | undefined) =>
    `${bus}, ${uuid}, ${uuid === of ? percent : 90}, ${mebibytes}, 40, 60.00, 800, 2500, 0\n`;
  stub.put('loop', line(thirdBus, third) + line(fourthBus, fourth));
}

const gpu = (probe: LabProbe, uuid = third) =>
  probe.backend.observe()[0]?.gpus.find((card) => card.uuid === uuid);
const onCard = (script: string, device = third) =>
  launchOf({ command: ['sh', '-c', script] }, { devices: [device ?? ''] });
/** Long-lived calls there. */
const loops = () => Number(host.sh('ps ax -o args | grep -c "^/bin/sh.*nvidia-smi.*loop-ms" || true'));
const kernelLog = () => path.join(stub.folder, 'kmsg');
let records = 0;
function xid(code: number, bus = '4968:00:00'): void {
  records += 1;
  appendFileSync(kernelLog(), `4,${records},1234,-;NVRM: Xid (PCI:${bus}): ${code}, pid=4001, as it says.\n`);
}

describeLab('cards of a workstation by SSH', () => {
  beforeAll(async () => {
    machines = await labMachines();
  });
  afterAll(() => machines.dispose());
  beforeEach(async () => {
    stub = new NvidiaStub(k80);
    use(90);
    writeFileSync(kernelLog(), '');
    host = await machines.lab.host('ws-cards');
    host.searchPath = `${stub.folder}:${usualPath}`;
    host.sh(`mount --bind ${kernelLog()} /dev/kmsg`);
    host.restartSshd();
  });
  afterEach(async () => {
    await machines.closeProbes();
    await machines.lab.remove(host);
    stub.dispose();
  });

  test('are followed by one call while somebody looks, which ends with its connection', async () => {
    const probe = await machines.open(host, quick);
    await probe.withCards();
    expect(gpu(probe)).toMatchObject({ state: 'FREE', variant: 'k80', utilizationPercent: 0 });
    expect(loops()).toBe(0);
    probe.backend.watchWorkers(true);
    await probe.until(() => gpu(probe)?.utilizationPercent === 90);
    expect(loops()).toBe(1);
    use(35);
    await eventually(() => gpu(probe)?.utilizationPercent === 35, 'what has changed is seen');
    expect(stub.calls().filter((call) => call.includes('--loop-ms'))).toHaveLength(1);
    // The hand is killed with its session.
    host.restartSshd();
    await probe.until(() => probe.contact() !== 'CONNECTED');
    await probe.healthy();
    await eventually(
      () => stub.calls().filter((call) => call.includes('--loop-ms')).length === 2 && loops() === 1,
      'there is one again',
    );
    probe.backend.watchWorkers(false);
    await eventually(() => loops() === 0, 'nobody looks any more');
    probe.backend.watchWorkers(true);
    await eventually(() => loops() === 1, 'somebody looks');
    await machines.closeProbes();
    await eventually(() => loops() === 0, 'it ended with the connection');
    await eventually(() => host.sh('ps ax -o stat | grep "^Z" || true') === '', 'nothing of them is left');
  });

  test('one that is lost ends its attempt as a fault of the machine, and is given to nobody; the others go on', async () => {
    const probe = await machines.open(host, quick);
    await probe.withCards();
    const [doomed, lucky] = [onCard('sleep 300'), onCard('sleep 300', fourth)];
    probe.run(doomed);
    probe.run(lucky);
    await probe.state(doomed.uid, 'RUNNING');
    await probe.state(lucky.uid, 'RUNNING');
    await eventually(() => loops() === 1, 'held cards are followed');
    stub.lose(thirdBus);
    use('[GPU is lost]');
    const end = await probe.over(doomed.uid);
    expect(end).toMatchObject({ state: 'WORKER_FAILED', cause: { code: 'GPU_LOST' } });
    expect(end.cause?.message).toContain('The card is lost to the driver');
    await probe.until(() => gpu(probe)?.state === 'SICK');
    expect(probe.last(lucky.uid)?.state).toBe('RUNNING');
    expect(host.sh('ps ax -o args | grep -c "^sleep 300"').trim()).toBe('1');
    probe.stop(lucky.uid, { graceMs: 1000 });
    const { usage } = await probe.over(lucky.uid);
    expect(usage?.gpuPercent).toBeGreaterThan(0);
    expect(usage?.energyJoules).toBeGreaterThan(0);
    stub.take('fails');
    stub.show(capture(k80));
    expect(probe.backend.releaseGpu?.('ws-cards', 'GPU-none')).toBe(false);
    expect(probe.backend.releaseGpu?.('ws-cards', third ?? '')).toBe(true);
    await probe.until(() => gpu(probe)?.state === 'FREE');
  });

  test('one that is held and hardly used, and somebody else on it, are told to who holds it, who goes on', async () => {
    const probe = await machines.open(host, { ...quick, gpuIdleAfterMs: 300 });
    await probe.withCards();
    const [idle, busy] = [onCard('sleep 300'), onCard('sleep 300', fourth)];
    await expectCardWarnings({
      ...{ probe, host, stub, idle, busy, bus: thirdBus },
      use: (percent, mebibytes) => use(percent, third, mebibytes),
    });
  });

  test('one that the kernel names is kept from jobs, also over a cut; what it wrote before is history', async () => {
    xid(79, 'f8d6:00:00');
    const probe = await machines.open(host, quick);
    await probe.withCards();
    expect(probe.backend.observe()[0]?.attributes['gpu-error-log']).toBe('read');
    expect(gpu(probe, fourth)?.state).toBe('FREE');
    const launch = onCard('until [ -e /root/gate ]; do sleep 0.05; done; exit 3');
    probe.run(launch);
    await probe.state(launch.uid, 'RUNNING');
    await eventually(() => loops() === 1, 'held cards are followed');
    xid(79);
    await probe.until(() => gpu(probe)?.state === 'SICK');
    expect(gpu(probe)?.stateReason).toContain('Xid 79');
    host.sh('touch /root/gate');
    expect(await probe.over(launch.uid)).toMatchObject({
      state: 'WORKER_FAILED',
      cause: { code: 'GPU_LOST', message: expect.stringContaining('Xid 79') },
    });
    host.stopSshd();
    await probe.until(() => probe.contact() !== 'CONNECTED');
    xid(48, 'f8d6:00:00');
    host.restartSshd();
    await probe.healthy();
    await probe.until(() => gpu(probe, fourth)?.state === 'SICK');
    expect(gpu(probe, fourth)?.stateReason).toContain('Xid 48');
    expect(gpu(probe)?.state).toBe('SICK');
  });

  test('a log that is long at the first look is history to its end', async () => {
    // Of a file so much is read at a time as of one record: three turns of the hand.
    const long = `6,0,1,-;usb 1-1: ${'x'.repeat(8174)}\n`;
    appendFileSync(kernelLog(), long.repeat(9000));
    xid(79);
    const probe = await machines.open(host, quick);
    await probe.withCards();
    const errorLog = () => probe.backend.observe()[0]?.attributes['gpu-error-log'];
    probe.backend.watchWorkers(true);
    await probe.until(() => errorLog() === 'read');
    expect(gpu(probe)?.state).toBe('FREE');
    xid(79, 'f8d6:00:00');
    await probe.until(() => gpu(probe, fourth)?.state === 'SICK');
    expect(gpu(probe)?.state).toBe('FREE');
  });

  test('where the kernel lets nobody read its log that is said', async () => {
    const closed = path.join(stub.folder, 'closed');
    const server = net.createServer().listen(closed);
    await once(server, 'listening');
    // A file that cannot be opened, whoever asks.
    host.sh(`mount --bind ${closed} /dev/kmsg`);
    const probe = await machines.open(host, quick);
    await probe.withCards();
    expect(probe.backend.observe()[0]?.attributes['gpu-error-log']).toBe('not readable here');
    server.close();
  });

  test('a tool that hangs is a state, is ended, and is asked again', async () => {
    const probe = await machines.open(host, quick);
    await probe.withCards();
    stub.put('hang', '');
    probe.backend.watchWorkers(true);
    await probe.until(() => gpu(probe)?.state === 'SILENT');
    expect(gpu(probe)?.stateReason).toMatch(/nvidia-smi did not answer within \d+ s/);
    stub.take('hang');
    await probe.until(() => gpu(probe)?.state === 'FREE', 80_000);
  }, 150_000);
});
