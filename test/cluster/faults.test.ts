/** What a machine reached by SSH survives: every fault here is a real one of a real network, a real sshd and real processes. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { describeLab, labMachines, quickLimits, type LabMachines, type LabProbe } from '../harness/lab.js';
import { launchOf } from '../harness/backend-probe.js';
import { eventually } from '../harness/process-backend.js';
import type { LabHost } from '../../scripts/lib/lab-hosts.mjs';
import type { SshMachineOptions } from '../../main/backends/workstation/ssh/ssh-machine-options.js';

/** Never lost, however long it takes. */
const patient: Partial<SshMachineOptions> = {
  ...quickLimits,
  limits: { ...quickLimits.limits, lossAfterMs: 600_000 },
};

let machines: LabMachines;
let host: LabHost;

beforeAll(async () => {
  machines = await labMachines();
});
afterAll(() => machines.dispose());

/** Lines a task writes to a file there, which tells how often it was started. */
const counted = (script: string) =>
  launchOf({ command: ['sh', '-c', `echo "$$" >>/root/starts; ${script}`] });
const starts = () => host.sh('cat /root/starts 2>/dev/null | wc -l').trim();
/** Processes there that sleep: what is left of tasks of these tests. */
const sleepers = () => host.sh('ps ax -o args | grep -c "^[s]leep" || true').trim();

async function running(probe: LabProbe, script: string) {
  const launch = counted(script);
  probe.run(launch);
  await probe.state(launch.uid, 'RUNNING');
  return launch;
}

describeLab('a workstation by SSH', () => {
  beforeEach(async () => {
    host = await machines.lab.host('ws-two');
  });
  afterEach(async () => {
    await machines.closeProbes();
    await machines.lab.remove(host);
  });

  test('tells how much its disks read and write, while somebody looks', async () => {
    const probe = await machines.open(host, patient);
    probe.backend.watchWorkers(true);
    const keys = () => probe.backend.history?.('ws-two', 0).series.map(({ key }) => key) ?? [];
    await eventually(() => keys().includes('disk-bytes:written'), 'two samples are there');
    expect(keys()).toEqual(expect.arrayContaining(['cpu-percent', 'disk-bytes:read']));
  });

  test('tells what a task used of processors, memory and disks, as seen last when it was told to stop', async () => {
    const probe = await machines.open(host, patient);
    const script =
      'dd if=/dev/zero of="$IRIS_WORKDIR/written" bs=1M count=3 conv=fsync 2>/dev/null; x=$(head -c 30000000 /dev/zero | tr "\\0" x); touch /root/ready; while true; do sleep 0.05; done';
    const launch = await running(probe, script);
    await eventually(() => host.sh('ls /root').includes('ready'), 'the task has its memory');
    probe.stop(launch.uid);
    const { usage, peakMemoryBytes } = await probe.over(launch.uid);
    expect(usage?.cpuSeconds).toBeGreaterThan(0);
    expect(usage?.memoryBytes).toBeGreaterThan(25_000_000);
    expect(usage?.diskWrittenBytes).toBeGreaterThanOrEqual(3 * 1024 ** 2);
    expect(peakMemoryBytes).toBe(usage?.memoryBytes);
  });

  test('goes on with a task while the link is cut, and tells its true end afterwards', async () => {
    const probe = await machines.open(host, patient);
    const launch = await running(
      probe,
      'echo before; until [ -e /root/gate ]; do sleep 0.05; done; echo after; exit 7',
    );
    host.cut();
    await probe.until(() => probe.contact() === 'UNREACHABLE' || probe.contact() === 'OFF');
    expect(probe.state_()).toBe('DEGRADED');
    await expect(probe.backend.readLog(launch.uid, 'out', 0, 10)).rejects.toThrow('ws-two is not connected');
    host.sh('touch /root/gate');
    const folder = path.join(host.home, '.local/state/iris-desktop');
    await eventually(
      () => host.sh(`grep -rl "^exit 7 " ${folder.replace(host.home, '/root')} || true`) !== '',
      'the task ended',
    );
    expect(probe.last(launch.uid)?.state).toBe('RUNNING');
    host.mend();
    expect(await probe.over(launch.uid)).toMatchObject({ state: 'FAILED', exitCode: 7 });
    expect(await probe.text(launch.uid)).toBe('before\nafter\n');
    expect(starts()).toBe('1');
    await probe.healthy();
    expect(probe.contact()).toBe('CONNECTED');
  });

  test('what was asked for while it was cut off happens when it is back, once', async () => {
    const probe = await machines.open(host, patient);
    const first = await running(probe, 'exec sleep 300');
    host.cut();
    await probe.until(() => probe.contact() !== 'CONNECTED');
    const second = counted('exit 0');
    probe.run(second);
    probe.stop(first.uid);
    host.mend();
    expect(await probe.over(first.uid)).toMatchObject({
      state: 'KILLED',
      cause: { code: 'STOPPED_BY_USER' },
    });
    expect(await probe.over(second.uid)).toMatchObject({ state: 'SUCCEEDED' });
    expect(starts()).toBe('2');
    expect(sleepers()).toBe('0');
  });

  test('cut off for too long it is lost, and its stale copy is stopped before it takes anything new', async () => {
    const probe = await machines.open(host, quickLimits);
    const launch = await running(probe, 'exec sleep 300');
    host.cut();
    expect(await probe.over(launch.uid)).toMatchObject({
      state: 'WORKER_FAILED',
      cause: { code: 'WORKER_LOST' },
    });
    await probe.until(() => probe.state_() === 'DEAD');
    // Placed there by a controller that had not heard of it yet.
    const late = counted('exit 0');
    probe.run(late);
    expect(await probe.over(late.uid)).toMatchObject({
      state: 'WORKER_FAILED',
      cause: { code: 'WORKER_LOST' },
    });
    expect(sleepers()).toBe('1');
    const seen: string[] = [];
    const healthyWith = () => {
      if (probe.state_() === 'HEALTHY') seen.push(sleepers());
      return seen.length > 0;
    };
    host.mend();
    await probe.until(healthyWith);
    expect(seen[0]).toBe('0');
    // Neither end of the copy is told as the end of anything.
    const told = probe.reports.filter(({ uid }) => uid === launch.uid).map(({ state }) => state);
    expect([...new Set(told)]).toEqual(['RUNNING', 'WORKER_FAILED']);
    expect(starts()).toBe('1');
    const next = counted('exit 0');
    probe.run(next);
    expect(await probe.over(next.uid)).toMatchObject({ state: 'SUCCEEDED' });
  });

  test('the result of a copy that ended by itself while it counted as lost is told to nobody', async () => {
    const probe = await machines.open(host, quickLimits);
    const launch = await running(probe, 'until [ -e /root/gate ]; do sleep 0.05; done; exit 0');
    host.cut();
    expect(await probe.over(launch.uid)).toMatchObject({ state: 'WORKER_FAILED' });
    host.sh('touch /root/gate');
    const claim = host.sh(`find /root/.local -path "*/${launch.uid}/claim"`).trim();
    await eventually(() => host.sh(`cat ${claim}`).startsWith('exit 0 '), 'the copy has succeeded');
    host.mend();
    await probe.healthy();
    // Asked for by a controller that knows of the loss, it says the same again.
    probe.want({ kind: 'keep', uid: launch.uid, launch });
    const next = counted('exit 0');
    probe.run(next);
    expect(await probe.over(next.uid)).toMatchObject({ state: 'SUCCEEDED' });
    const told = probe.reports.filter(({ uid }) => uid === launch.uid).map(({ state }) => state);
    expect([...new Set(told)]).toEqual(['RUNNING', 'WORKER_FAILED']);
    expect(starts()).toBe('2');
  });

  test('a connection of which only one half works is noticed, and what arrives by it late starts nothing twice', async () => {
    const probe = await machines.open(host, quickLimits);
    host.mute();
    // It arrives there, though nobody here can know.
    const launch = counted('exec sleep 300');
    probe.run(launch);
    await eventually(() => starts() === '1', 'the task runs there');
    await probe.until(() => probe.contact() !== 'CONNECTED');
    expect(await probe.over(launch.uid)).toMatchObject({
      state: 'WORKER_FAILED',
      cause: { code: 'WORKER_LOST' },
    });
    host.unmute();
    await probe.healthy();
    expect(sleepers()).toBe('0');
    expect(starts()).toBe('1');
  });

  test('a start whose answer was lost is not made again', async () => {
    const probe = await machines.open(host, patient);
    host.mute();
    const launch = counted('until [ -e /root/gate ]; do sleep 0.05; done; exit 3');
    probe.run(launch);
    await eventually(() => starts() === '1', 'the task runs there');
    await probe.until(() => probe.contact() !== 'CONNECTED');
    host.unmute();
    await probe.state(launch.uid, 'RUNNING');
    host.sh('touch /root/gate');
    expect(await probe.over(launch.uid)).toMatchObject({ state: 'FAILED', exitCode: 3 });
    expect(starts()).toBe('1');
  });

  test('tasks outlive a restart of sshd', async () => {
    const probe = await machines.open(host, patient);
    const launch = await running(probe, 'until [ -e /root/gate ]; do sleep 0.05; done; exit 4');
    host.restartSshd();
    await probe.until(() => probe.contact() !== 'CONNECTED');
    await probe.healthy();
    host.sh('touch /root/gate');
    expect(await probe.over(launch.uid)).toMatchObject({ state: 'FAILED', exitCode: 4 });
    expect(starts()).toBe('1');
  });

  test('after a restart of the machine its tasks are told as ended by that', async () => {
    const probe = await machines.open(host, patient);
    const launch = await running(probe, 'exec sleep 300');
    const bootId = probe.backend.observe()[0]?.bootId;
    await host.powerOff();
    await probe.until(() => probe.contact() !== 'CONNECTED');
    await host.boot();
    expect(await probe.over(launch.uid)).toMatchObject({
      state: 'WORKER_FAILED',
      exitCode: null,
      cause: { code: 'REBOOTED' },
    });
    await probe.healthy();
    expect(probe.backend.observe()[0]?.bootId).not.toBe(bootId);
  });

  test('a supervisor killed from outside is told, and nothing of its task is left', async () => {
    const probe = await machines.open(host, patient);
    const launch = await running(probe, 'sleep 300 & setsid sleep 300 & wait');
    await eventually(() => sleepers() === '2', 'both live');
    const pid = probe.last(launch.uid)?.pid ?? 0;
    host.sh(`kill -KILL ${pid}`);
    expect(await probe.over(launch.uid)).toMatchObject({
      state: 'WORKER_FAILED',
      cause: { code: 'SUPERVISOR_LOST' },
    });
    expect(sleepers()).toBe('0');
  });

  test('a machine at the same address that is another one is sent nothing', async () => {
    const first = await machines.open(host, patient);
    await first.machine.close();
    host.setMachineId('0'.repeat(32));
    const probe = await machines.open(host, { ...patient, wait: false });
    const launch = counted('exit 0');
    probe.run(launch);
    await probe.until(() => probe.contact() === 'UNREACHABLE');
    expect(probe.backend.observe()[0]?.contact?.message).toContain('is another machine');
    expect(probe.state_()).toBe('DEGRADED');
    expect(starts()).toBe('0');
    first.machine.forget();
    void probe.machine.retry();
  });

  test('a machine with another host key than the known one is not talked to', async () => {
    host.newHostKey();
    host.restartSshd();
    const probe = await machines.open(host, { ...patient, wait: false });
    await probe.until(() => probe.contact() === 'UNREACHABLE');
    expect(probe.backend.observe()[0]?.contact?.message).toContain('another host key');
    expect(existsSync(path.join(host.home, '.local'))).toBe(false);
  });

  test('a machine that is off is a state, said once', async () => {
    await host.powerOff();
    host.cut();
    const before = machines.warnings.length;
    const probe = await machines.open(host, { ...quickLimits, wait: false });
    probe.reconcile();
    await probe.until(() => probe.contact() === 'OFF');
    await probe.until(() => probe.state_() === 'DEAD');
    const said = machines.warnings.slice(before);
    expect(said.filter((text) => text === 'A machine is not in contact')).toHaveLength(1);
    expect(probe.backend.observe()[0]?.contact?.message).toContain('Is it on');
    await host.boot();
    host.mend();
    void probe.machine.retry();
    await probe.healthy();
  });

  test.each([600, -600])('times are those of this clock although the other is %d s ahead', async (ahead) => {
    host.clockAheadSeconds = ahead;
    await host.powerOff();
    await host.boot();
    const probe = await machines.open(host, patient);
    const skew = probe.backend.observe()[0]?.clockSkewMs ?? 0;
    expect(Math.abs(skew - 1000 * ahead)).toBeLessThan(5000);
    const begun = Date.now();
    const launch = counted('sleep 0.2');
    probe.run(launch);
    const end = await probe.over(launch.uid);
    const late = 5000;
    expect(end.startedAtMs).toBeGreaterThan(begun - late);
    expect(end.finishedAtMs).toBeLessThan(Date.now() + late);
    expect(end.durationMs).toBeGreaterThanOrEqual(190);
    expect(end.durationMs).toBeLessThan(60_000);
  });

  test('files are sent once and lie where the task looks for them', async () => {
    const probe = await machines.open(host, patient);
    const contentBase64 = Buffer.from('payload\n').toString('base64');
    const request = {
      command: ['sh', '-c', 'cat "$IRIS_WORKDIR/data/in.txt"'],
      files: [{ path: 'data/in.txt', contentBase64 }],
    };
    const [first, second] = [launchOf(request), launchOf(request)];
    probe.run(first);
    expect(await probe.over(first.uid)).toMatchObject({ state: 'SUCCEEDED' });
    const kept = host
      .sh('find /root/.local/state/iris-desktop -path "*/.files/*" -type f')
      .trim()
      .split('\n');
    expect(kept).toHaveLength(1);
    const inode = host.sh(`stat -c %i ${kept[0]}`);
    probe.run(second);
    expect(await probe.over(second.uid)).toMatchObject({ state: 'SUCCEEDED' });
    expect(await probe.text(second.uid)).toBe('payload\n');
    expect(host.sh(`stat -c %i ${kept[0]}`)).toBe(inode);
  });

  test('a new connection takes over from one whose far end still lives', async () => {
    const old = await machines.open(host, {
      ...patient,
      limits: { ...patient.limits, firstRetryMs: 600_000, longestRetryMs: 600_000 },
    });
    const launch = await running(old, 'until [ -e /root/gate ]; do sleep 0.05; done; exit 8');
    const probe = await machines.open(host, { ...patient, wait: false });
    probe.want({ kind: 'keep', uid: launch.uid, launch });
    await probe.healthy();
    await old.until(() => old.contact() === 'UNREACHABLE');
    host.sh('touch /root/gate');
    expect(await probe.over(launch.uid)).toMatchObject({ state: 'FAILED', exitCode: 8 });
    expect(starts()).toBe('1');
  });

  test('keeps its load, and forgets attempts that are long over but none that lives', async () => {
    const [old, live] = [counted('exit 0'), counted('exec sleep 300')];
    const probe = await machines.open(host, {
      ...patient,
      isKnown: (uid) => Promise.resolve(uid !== old.uid),
    });
    probe.want({ kind: 'run', launch: old }, { kind: 'run', launch: live });
    await probe.over(old.uid);
    await probe.state(live.uid, 'RUNNING');
    const folder = host.sh(`dirname "$(find /root/.local -name ${old.uid})"`).trim();
    host.sh(`touch -d '9 days ago' ${folder}/*/claim`);
    host.restartSshd();
    await probe.until(() => probe.contact() !== 'CONNECTED');
    await probe.healthy();
    await eventually(() => !host.sh(`ls ${folder}`).includes(old.uid), 'the old one is removed');
    expect(host.sh(`ls ${folder}`)).toContain(live.uid);
    expect(sleepers()).toBe('1');
    const history = probe.backend.history?.('ws-two', 0);
    expect(history?.series.map(({ key }) => key)).toContain('memory-bytes');
  });

  test('says what stands in the way of a start', async () => {
    const probe = await machines.open(host, patient);
    const missing = launchOf({ command: ['no-such-program'] });
    const nowhere = launchOf({ command: ['true'], workingDirectory: '/no/such/folder' });
    probe.want({ kind: 'run', launch: missing }, { kind: 'run', launch: nowhere });
    expect(await probe.over(missing.uid)).toMatchObject({
      state: 'FAILED',
      exitCode: 127,
      cause: { code: 'PROGRAM_NOT_FOUND' },
    });
    expect(await probe.over(nowhere.uid)).toMatchObject({
      state: 'FAILED',
      cause: { code: 'FOLDER_MISSING' },
    });
  });
});
