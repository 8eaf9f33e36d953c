/** Containers on another machine: its Engine over the same SSH connection, their logs kept here. */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { LabHost } from '../../scripts/lib/lab-hosts.mjs';
import { launchOf } from '../harness/backend-probe.js';
import { engineImage, engineWithHook, type OwnEngine } from '../harness/engine.js';
import {
  describeLabEngine,
  labMachines,
  quickLimits,
  type LabMachines,
  type LabProbe,
} from '../harness/lab.js';
import { barCommand, expectSeenSoon } from '../harness/live-bar.js';
import { eventually } from '../harness/process-backend.js';

let engine: OwnEngine;
let machines: LabMachines;
let host: LabHost;

const card = 'GPU-a0000001-0000-4000-8000-000000000001';
const onCard = (script: string, image: string | undefined) =>
  launchOf(
    {
      command: ['sh', '-c', script],
      gpu: '1',
      workingDirectory: `${host.home}/jobs`,
      ...(image === undefined ? {} : { image }),
    },
    { devices: [card], workerId: 'ws-two' },
  );
const claims = () => path.join(host.kept, 'iris-claims');
const claimed = () => (existsSync(claims()) ? readdirSync(claims()).sort() : []);

const inContainer = (script: string, more: Partial<Parameters<typeof launchOf>[0]> = {}) =>
  launchOf({
    command: ['sh', '-c', script],
    image: engineImage,
    workingDirectory: `${host.home}/jobs`,
    ...more,
  });
const containers = async () => (await engine.docker('ps', '-aq')).split('\n').filter(Boolean).length;

async function opened(more: Parameters<LabMachines['open']>[1] = {}): Promise<LabProbe> {
  const probe = await machines.open(host, more);
  await probe.until(() => probe.backend.observe()[0]?.docker?.state === 'READY');
  return probe;
}

describeLabEngine('containers on a workstation by SSH', () => {
  beforeAll(async () => {
    engine = await engineWithHook();
    machines = await labMachines();
  });
  afterAll(async () => {
    await machines.dispose();
    await engine.stop();
  });
  beforeEach(async () => {
    host = await machines.lab.host('ws-two', { dockerSocket: engine.socket });
    host.sh(`mkdir -p ${host.home}/jobs`);
  });
  afterEach(async () => {
    await machines.closeProbes();
    await machines.lab.remove(host);
    await engine.clear();
  });

  test('run, with their files, streams and exit code', async () => {
    const probe = await opened();
    // By that machine's own word, over the connection.
    const room = () => probe.backend.observe()[0]?.docker?.storage;
    await probe.until(() => (room()?.totalBytes ?? 0) > 0);
    const storage = room();
    expect(storage?.path).toBe(path.join(engine.folder, 'data'));
    expect(storage?.totalBytes).toBeGreaterThan(0);
    const contentBase64 = Buffer.from('payload\n').toString('base64');
    const launch = inContainer('cat "$IRIS_WORKDIR/in.txt"; echo err >&2; exit 5', {
      files: [{ path: 'in.txt', contentBase64 }],
    });
    probe.run(launch);
    expect(await probe.over(launch.uid)).toMatchObject({ state: 'FAILED', exitCode: 5 });
    expect(await probe.text(launch.uid)).toBe('payload\n');
    expect(await probe.text(launch.uid, 'err')).toBe('err\n');
    expect(probe.backend.images?.('ws-two')).not.toBeNull();
  });

  test('asked of a machine that has no Docker after all are told of, and end when they are stopped', async () => {
    const bare = await machines.lab.host('ws-bare');
    const probe = await machines.open(bare, quickLimits);
    expect(probe.backend.observe()[0]?.docker?.state).toBe('ABSENT');
    const launch = inContainer('true');
    probe.run(launch);
    await probe.state(launch.uid, 'BUILDING', 10_000);
    probe.stop(launch.uid, { container: true, workerId: 'ws-bare' });
    expect(await probe.over(launch.uid, 20_000)).toMatchObject({ state: 'KILLED' });
    await machines.lab.remove(bare);
  });

  test('find what another left in the caches of that machine, and the Python environment their set-up made', async () => {
    const probe = await opened();
    const first = inContainer('echo a wheel >"$UV_CACHE_DIR/kept"');
    probe.run(first);
    expect(await probe.over(first.uid)).toMatchObject({ state: 'SUCCEEDED' });
    const second = inContainer('cat "$UV_CACHE_DIR/kept"; echo "$VIRTUAL_ENV"', {
      setup: ['mkdir -p "$IRIS_VENV/bin" && touch "$IRIS_VENV/pyvenv.cfg"'],
    });
    probe.run(second);
    expect(await probe.over(second.uid)).toMatchObject({ state: 'SUCCEEDED' });
    expect(await probe.text(second.uid)).toBe('[iris setup] step 1/1\na wheel\n/iris/work/.venv\n');
    expect(host.sh(`cat ${host.home}/.local/state/iris-desktop/attempts-*/caches/uv/kept`)).toBe('a wheel\n');
  });

  test('have their caches measured there, kept while one runs, and emptied after that', async () => {
    const probe = await opened();
    const control = probe.backend.images?.('ws-two')?.caches;
    if (control === undefined) throw new Error('no containers run there');
    const launch = inContainer(
      'dd if=/dev/zero of="$UV_CACHE_DIR/wheel" bs=1024 count=512 2>/dev/null; touch filled; until test -e go; do usleep 20000; done',
    );
    probe.run(launch);
    await expect.poll(() => host.sh(`ls ${host.home}/jobs`), { timeout: 30_000 }).toContain('filled');
    expect(await control.measure()).toMatchObject({ state: 'MEASURED', machineId: 'ws-two' });
    expect(control.view().caches[0]?.bytes).toBeGreaterThanOrEqual(512 * 1024);
    const { folder } = control.view();
    expect(host.sh(`ls ${folder}`)).toBe('cache\ncargo\nhf\nuv\n');
    await expect(control.empty(['uv'])).rejects.toMatchObject({ refusal: { code: 'FAILED_PRECONDITION' } });
    host.sh(`touch ${host.home}/jobs/go`);
    expect(await probe.over(launch.uid, 30_000)).toMatchObject({ state: 'SUCCEEDED' });
    expect(await control.empty(['uv'])).toEqual(['uv']);
    await expect.poll(() => control.view().removing, { timeout: 10_000 }).toBe(false);
    expect(host.sh(`ls -A ${folder}`)).toBe('cache\ncargo\nhf\n');
  }, 60_000);

  test('show a line while it grows, before its newline, and again after a restart of ours', async () => {
    const probe = await opened();
    const launch = inContainer(
      'printf "\\r 1%%"; until test -e one; do usleep 50000; done; printf "\\r 5%%"; until test -e two; do usleep 50000; done; seq 101 130; printf "\\r 2%%"; sleep 300',
    );
    probe.run(launch);
    await probe.state(launch.uid, 'RUNNING');
    await expect.poll(() => probe.text(launch.uid)).toBe('\r 1%');
    await probe.backend.close();
    const next = await machines.open(host, { wait: false });
    next.want({ kind: 'keep', uid: launch.uid, launch });
    await next.state(launch.uid, 'RUNNING');
    // What was seen of it stays.
    expect(await next.text(launch.uid)).toBe('\r 1%');
    next.backend.watchLog(launch.uid, true);
    host.sh(`touch ${host.home}/jobs/one`);
    await next.until(() => next.grew.at(-1)?.heard?.out === '\r 5%');
    expect(await next.text(launch.uid)).toBe('\r 1%');
    host.sh(`touch ${host.home}/jobs/two`);
    const lines = Array.from({ length: 30 }, (_, index) => `${101 + index}\n`).join('');
    await expect.poll(() => next.text(launch.uid)).toBe(`\r 1%\r 5%${lines}\r 2%`);
    next.stop(launch.uid, { container: true, graceMs: 500 });
    await next.over(launch.uid);
    expect(await next.text(launch.uid)).toBe(`\r 1%\r 5%${lines}\r 2%`);
  });

  test('run and speak in any number over one login, of which the server lets through two sessions', async () => {
    const narrow = await machines.lab.host('ws-narrow', { dockerSocket: engine.socket, maxSessions: 2 });
    narrow.sh(`mkdir -p ${narrow.home}/jobs`);
    const probe = await machines.open(narrow);
    await probe.until(() => probe.backend.observe()[0]?.docker?.state === 'READY');
    const launches = Array.from({ length: 14 }, (_, index) =>
      launchOf(
        {
          command: ['sh', '-c', `echo ${index}; until test -e gate; do usleep 50000; done; echo done`],
          image: engineImage,
          workingDirectory: `${narrow.home}/jobs`,
        },
        { workerId: 'ws-narrow' },
      ),
    );
    probe.want(...launches.map((launch) => ({ kind: 'run' as const, launch })));
    const texts = () => Promise.all(launches.map(({ uid }) => probe.text(uid)));
    await expect.poll(texts, { timeout: 60_000 }).toEqual(launches.map((_, index) => `${index}\n`));
    narrow.sh(`touch ${narrow.home}/jobs/gate`);
    for (const { uid } of launches) expect((await probe.over(uid, 60_000)).state).toBe('SUCCEEDED');
    expect(await texts()).toEqual(launches.map((_, index) => `${index}\ndone\n`));
    expect(narrow.logins()).toBe(1);
    await machines.closeProbes();
    await machines.lab.remove(narrow);
  }, 150_000);

  test('show a line while it grows within a second', async () => {
    const probe = await opened();
    const launch = launchOf({
      command: [...barCommand],
      image: engineImage,
      workingDirectory: `${host.home}/jobs`,
    });
    await expectSeenSoon(probe, launch, `${host.home}/jobs`);
  });

  test('tell what they used', async () => {
    const probe = await opened();
    const launch = inContainer(
      'dd if=/dev/zero of=/dev/shm/held bs=1M count=48 2>/dev/null; until test -e burnt; do i=$((i+1)); done',
    );
    probe.run(launch);
    await probe.state(launch.uid, 'RUNNING');
    // By the Engine's own word: nothing of that machine can be read from here.
    const used = async () => {
      const stats = await engine.docker('stats', '--no-stream', '--format', '{{.MemUsage}}');
      return Number(/^([\d.]+)MiB/.exec(stats)?.[1] ?? 0);
    };
    await expect.poll(used).toBeGreaterThan(48);
    // The Engine measures once a second for all who listen: what came with these was told to the far side as well.
    for (let more = 0; more < 3; more += 1) expect(await used()).toBeGreaterThan(48);
    host.sh(`touch ${host.home}/jobs/burnt`);
    const { usage, peakMemoryBytes } = await probe.over(launch.uid);
    expect(usage?.cpuSeconds).toBeGreaterThan(0);
    expect(usage?.memoryBytes).toBeGreaterThan(48 * 1024 ** 2);
    expect(peakMemoryBytes).toBeGreaterThan(48 * 1024 ** 2);
  });

  test('their checkpoints are noticed, they find the notice before a stop, and what they wrote stays there', async () => {
    const probe = await opened();
    const launch = inContainer(
      `trap 'cat "$IRIS_WORKDIR/preemption.json"; exit 0' TERM; echo kept >"$IRIS_WORKDIR/state"; echo here >out.txt; ` +
        'touch "$IRIS_CHECKPOINT_FILE"; while :; do usleep 50000; done',
    );
    const begun = Date.now();
    probe.run(launch);
    await probe.until(() => (probe.last(launch.uid)?.checkpointAtMs ?? 0) > begun - 5000);
    expect(probe.last(launch.uid)?.checkpointAtMs).toBeLessThanOrEqual(Date.now());
    const notice = { reason: 'Its place is needed.', deadlineMs: Date.now() + 10_000 };
    probe.stop(launch.uid, { container: true, graceMs: 10_000, reason: 'preempted', notice });
    await probe.over(launch.uid);
    expect(JSON.parse(await probe.text(launch.uid))).toMatchObject({ reason: 'Its place is needed.' });
    const work = host.sh(`find ${host.home}/.local -path '*/${launch.uid}/work'`).trim();
    expect(host.sh(`cat ${work}/state ${host.home}/jobs/out.txt`)).toBe('kept\nhere\n');
  });

  test('are stopped and gone', async () => {
    const probe = await opened();
    const launch = inContainer('exec sleep 300');
    probe.run(launch);
    await probe.state(launch.uid, 'RUNNING');
    probe.stop(launch.uid, { container: true, graceMs: 500 });
    expect((await probe.over(launch.uid)).state).toBe('KILLED');
    await eventually(() => probe.last(launch.uid)?.state === 'KILLED', 'it is told');
  });

  test('claim their cards for as long as they live, whoever is connected, and leave them to others then', async () => {
    const home = mkdtempSync(path.join(os.tmpdir(), 'iris-other-home-'));
    const probe = await opened();
    const other = await machines.open(host, { home });
    const launch = onCard('until test -e gate; do usleep 50000; done', engineImage);
    probe.run(launch);
    await probe.state(launch.uid, 'RUNNING');
    const names = [`attempt-${launch.uid}`, `device-${card}-0`];
    expect(claimed()).toEqual(names);
    const told: unknown = JSON.parse(readFileSync(path.join(claims(), `device-${card}-0`), 'utf8'));
    expect(told).toMatchObject({ attempt: launch.uid, devices: [card], supervisor: null, container: true });
    const late = [onCard('exit 0', undefined), onCard('exit 0', engineImage)];
    for (const each of late) {
      other.run(each);
      expect(await other.over(each.uid)).toMatchObject({
        state: 'WORKER_FAILED',
        cause: { code: 'GPU_CLAIMED' },
      });
    }
    // Nobody there knows of it any more, and it lives: a container has no process that could be asked.
    await probe.machine.close();
    const again = onCard('exit 0', undefined);
    other.run(again);
    expect(await other.over(again.uid)).toMatchObject({ cause: { code: 'GPU_CLAIMED' } });
    const next = await machines.open(host, { wait: false });
    next.want({ kind: 'keep', uid: launch.uid, launch });
    await next.state(launch.uid, 'RUNNING');
    expect(claimed()).toEqual(names);
    host.sh(`touch ${host.home}/jobs/gate`);
    expect(await next.over(launch.uid)).toMatchObject({ state: 'SUCCEEDED' });
    await eventually(() => claimed().length === 0, 'the card is given back');
    const last = onCard('exit 0', undefined);
    other.run(last);
    expect(await other.over(last.uid)).toMatchObject({ state: 'SUCCEEDED' });
    await other.machine.close();
    rmSync(home, { recursive: true });
  });

  test('go on while the link is cut, their log whole afterwards', async () => {
    const probe = await opened({ ...quickLimits, limits: { ...quickLimits.limits, lossAfterMs: 600_000 } });
    const launch = inContainer('echo before; sleep 3; echo after; exit 6');
    probe.run(launch);
    await probe.state(launch.uid, 'RUNNING');
    host.cut();
    await probe.until(() => probe.contact() !== 'CONNECTED');
    host.mend();
    expect(await probe.over(launch.uid, 60_000)).toMatchObject({ state: 'FAILED', exitCode: 6 });
    expect(await probe.text(launch.uid)).toBe('before\nafter\n');
  });

  test('of a machine that was given up are removed when it is back', async () => {
    const probe = await opened(quickLimits);
    const launch = onCard('exec sleep 300', engineImage);
    probe.run(launch);
    await probe.state(launch.uid, 'RUNNING');
    host.cut();
    expect(await probe.over(launch.uid, 60_000)).toMatchObject({
      state: 'WORKER_FAILED',
      cause: { code: 'WORKER_LOST' },
    });
    probe.reconcile();
    expect(await containers()).toBe(1);
    expect(claimed()).toHaveLength(2);
    host.mend();
    await probe.healthy();
    expect(await containers()).toBe(0);
    await eventually(() => claimed().length === 0, 'its card is given back');
    expect(
      probe.reports.filter(({ uid, state }) => uid === launch.uid && state === 'WORKER_FAILED').length,
    ).toBeGreaterThan(0);
    expect(probe.reports.some(({ uid, state }) => uid === launch.uid && state === 'KILLED')).toBe(false);
  }, 120_000);
});
