/** One card of a machine that several reach by SSH, and that somebody runs his own controller on: it is given out once, and they say whose it is. */
import { randomUUID } from 'node:crypto';
import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { AttemptLaunch } from '../../main/backends/backend.js';
import type { LabHost } from '../../scripts/lib/lab-hosts.mjs';
import { launchOf } from '../harness/backend-probe.js';
import type { TestClient } from '../harness/client.js';
import { eventually } from '../harness/eventually.js';
import { lastAttempt, over, running, shell, stop, submit } from '../harness/host-jobs.js';
import { makeHomeRoot, startHostProcess, type HostProcess } from '../harness/host-process.js';
import { describeLab, labMachines, quickLimits, type LabMachines, type LabProbe } from '../harness/lab.js';
import { NvidiaStub } from '../harness/nvidia-stub.js';

/** One idle card. */
const idle = 'rtx-3060-driver-570.xml';
const card = 'GPU-a0000001-0000-4000-8000-000000000001';
const longMs = 90_000;
const usualPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

let machines: LabMachines;
let host: LabHost;
let stub: NvidiaStub;
let homes: string;
const hosts: { readonly host: HostProcess; remove(): Promise<void> }[] = [];

const claims = () => path.join(host.kept, 'iris-claims');
const claimed = () => (existsSync(claims()) ? readdirSync(claims()).sort() : []);

beforeAll(async () => {
  machines = await labMachines();
});
afterAll(() => machines.dispose());

/** A controller here that reaches it by SSH as that login. */
async function reaching(login: string): Promise<TestClient> {
  const client = await opened({ IRIS_SSH_CONFIG: machines.lab.configFile });
  const address = `ssh://${login}@ws-two`;
  const { machine, checks } = await client.call('machine.add', {
    requestId: randomUUID(),
    name: 'two',
    address,
  });
  expect(machine, JSON.stringify(checks)).not.toBeNull();
  await eventually(async () => {
    const found = (await client.call('machine.list', {})).machines.find(({ id }) => id === 'two');
    return [found?.state, found?.gpus.length];
  }).toEqual(['HEALTHY', 1]);
  return client;
}

/** The controller of somebody who is logged in there. */
const there = (): Promise<TestClient> =>
  opened({ HOME: '/root', PATH: `${stub.folder}:${usualPath}`, IRIS_DESKTOP_CLAIMS: '' }, host.inside);

async function opened(env: NodeJS.ProcessEnv, wrap: readonly string[] = []): Promise<TestClient> {
  const home = await makeHomeRoot();
  const started = await startHostProcess(home.root, { env: { ...process.env, ...env }, wrap });
  hosts.push({ host: started, remove: home.remove });
  return started.connect();
}

const onCard = (script: string) => shell(script, { gpu: 1, machine: 'two' });
const onCardThere = (script: string) => shell(script, { gpu: 1 });
const waitingOf = async (client: TestClient, jobId: string): Promise<string> =>
  (await client.call('job.get', { jobId })).summary.waiting?.message ?? '';

describeLab('a card of a workstation by SSH', () => {
  beforeEach(async () => {
    stub = new NvidiaStub(idle);
    chmodSync(stub.folder, 0o777);
    homes = mkdtempSync(path.join(os.tmpdir(), 'iris-claims-homes-'));
    host = await machines.lab.host('ws-two');
    host.addLogin('ann', 4001);
    host.addLogin('ben', 4002);
    host.searchPath = `${stub.folder}:${usualPath}`;
    host.restartSshd();
  });
  afterEach(async () => {
    await machines.closeProbes();
    const all = hosts.splice(0);
    for (const { host: one } of all) await one.shutdown();
    for (const { remove } of all) await remove();
    await machines.lab.remove(host);
    stub.dispose();
    rmSync(homes, { recursive: true });
  }, longMs);

  test(
    'two logins: one runs, the other waits and says for whom, and runs when the card is free',
    async () => {
      const ann = await reaching('ann');
      const ben = await reaching('ben');
      const first = await submit(ann, onCard('sleep 300'));
      await running(ann, first);
      const second = await submit(ben, onCard('exit 0'));
      await eventually(() => waitingOf(ben, second)).toContain('used by ann');
      const seen = (await ben.call('machine.list', {})).machines.find(({ id }) => id === 'two');
      expect(seen?.gpus).toMatchObject([
        { uuid: card, claimedBy: ['ann'], state: 'BUSY', stateReason: 'Claimed by ann.', heldBy: null },
      ]);
      await stop(ann, first);
      expect(await over(ben, second)).toMatchObject({
        state: 'SUCCEEDED',
        failureCount: 0,
        preemptionCount: 0,
      });
      await eventually(claimed).toEqual([]);
    },
    longMs,
  );

  test(
    'who is logged in there and who comes by SSH see each other',
    async () => {
      const ann = await reaching('ann');
      const own = await there();
      const far = await submit(ann, onCard('sleep 300'));
      await running(ann, far);
      const near = await submit(own, onCardThere('sleep 300'));
      await eventually(() => waitingOf(own, near)).toContain('used by ann');
      await stop(ann, far);
      await running(own, near);
      const last = await submit(ann, onCard('exit 0'));
      await eventually(() => waitingOf(ann, last)).toContain('used by root');
      await stop(own, near);
      expect(await over(ann, last)).toMatchObject({ state: 'SUCCEEDED', preemptionCount: 0 });
      expect((await lastAttempt(ann, last)).devices).toEqual([card]);
    },
    longMs,
  );

  /** A backend of its own controller, as root there. */
  const open = async (name: string, more: Parameters<LabMachines['open']>[1] = {}): Promise<LabProbe> => {
    const probe = await machines.open(host, {
      ...quickLimits,
      limits: { ...quickLimits.limits, lossAfterMs: 600_000 },
      home: path.join(homes, name),
      ...more,
    });
    await probe.withCards();
    return probe;
  };
  const launch = (script: string) =>
    launchOf({ command: ['sh', '-c', script], gpu: '1' }, { devices: [card], workerId: 'ws-two' });
  const cardOf = (probe: LabProbe) => probe.backend.observe()[0]?.gpus[0];

  test('is refused to whom it was offered a moment too late, which is no failure of the task', async () => {
    const ann = await open('ann');
    const ben = await open('ben');
    const first = launch('exec sleep 300');
    ann.run(first);
    await ann.state(first.uid, 'RUNNING');
    const late = launch(`touch /root/late`);
    ben.run(late);
    expect(await ben.over(late.uid)).toMatchObject({
      state: 'WORKER_FAILED',
      startedAtMs: null,
      cause: {
        code: 'GPU_CLAIMED',
        message: `${card} is claimed by root for the attempt ${first.uid} on the machine ws-two.`,
      },
    });
    // Known before the end of the attempt was told.
    expect(cardOf(ben)).toMatchObject({ state: 'BUSY', claimedBy: ['root'] });
    expect(cardOf(ann)).toMatchObject({ state: 'FREE', claimedBy: [] });
    expect(host.sh('ls /root')).not.toContain('late');
  });

  test(
    'stays claimed while who claimed it is cut off, and is told as free when it is',
    async () => {
      const ann = await open('ann');
      const first = launch('until [ -e /root/gate ]; do sleep 0.05; done');
      ann.run(first);
      await ann.state(first.uid, 'RUNNING');
      const own = await there();
      host.cut();
      await ann.until(() => ann.contact() !== 'CONNECTED');
      // Also its hand there is gone by and by: the task proves that the claim lives.
      host.sh(
        'for each in $(ps ax -o pid,args | grep "[i]ris-far-hand" | sed "s/^ *//; s/ .*//"); do kill -KILL $each; done',
      );
      const waits = await submit(own, onCardThere('exit 0'));
      await eventually(() => waitingOf(own, waits)).toContain('used by root');
      host.mend();
      await ann.healthy();
      expect(claimed()).toHaveLength(2);
      host.sh('touch /root/gate');
      expect(await ann.over(first.uid)).toMatchObject({ state: 'SUCCEEDED' });
      expect(await over(own, waits)).toMatchObject({ state: 'SUCCEEDED' });
    },
    longMs,
  );

  test(
    'is free when its task is over while nobody who claimed it is connected, and its supervisor was killed',
    async () => {
      const ann = await open('ann');
      const ben = await open('ben');
      const first = launch('exec sleep 300');
      ann.run(first);
      const { pid } = await ann.state(first.uid, 'RUNNING');
      await ben.until(() => cardOf(ben)?.state === 'BUSY');
      await ann.machine.close();
      // All of its session, as by somebody who wants the card.
      host.sh(`kill -KILL -${pid}`);
      const next = launch('exit 0');
      ben.backend.watchWorkers(true);
      await ben.until(() => cardOf(ben)?.state === 'FREE');
      ben.run(next);
      expect(await ben.over(next.uid)).toMatchObject({ state: 'SUCCEEDED' });
    },
    longMs,
  );

  test(
    'of a supervisor that is killed is given back, and after a restart of the machine nothing is claimed',
    async () => {
      const ann = await open('ann');
      const ben = await open('ben');
      const first = launch('exec sleep 300');
      ann.run(first);
      const { pid } = await ann.state(first.uid, 'RUNNING');
      host.sh(`kill -KILL ${pid}`);
      expect(await ann.over(first.uid)).toMatchObject({ cause: { code: 'SUPERVISOR_LOST' } });
      expect(claimed()).toEqual([]);
      const second = launch('exec sleep 300');
      ann.run(second);
      await ann.state(second.uid, 'RUNNING');
      await host.powerOff();
      await ann.until(() => ann.contact() !== 'CONNECTED');
      await ben.until(() => ben.contact() !== 'CONNECTED');
      await host.boot();
      await ben.healthy();
      const third = launch('exit 0');
      ben.run(third);
      expect(await ben.over(third.uid)).toMatchObject({ state: 'SUCCEEDED' });
      expect(await ann.over(second.uid)).toMatchObject({ cause: { code: 'REBOOTED' } });
      await eventually(claimed).toEqual([]);
    },
    longMs,
  );

  test(
    'what dead attempts of a controller that is gone for good have left is removed by who may, of the living nothing',
    async () => {
      const asAnn = { address: 'ssh://ann@ws-two' };
      const long = (folder: string) =>
        launchOf({ command: ['sleep', '300'], workingDirectory: folder }, { workerId: 'ws-two' });
      const gone = await open('gone', asAnn);
      const bens = await open('ben', { address: 'ssh://ben@ws-two' });
      const [dead, living, deadOfBen] = [long('/tmp'), long('/tmp'), long('/tmp')];
      gone.run(dead);
      gone.run(living);
      bens.run(deadOfBen);
      const left = (...launches: readonly AttemptLaunch[]) =>
        launches.map(({ uid }) => `attempt-${uid}`).sort();
      await eventually(claimed).toEqual(left(dead, living, deadOfBen));
      const pids = [
        (await gone.state(dead.uid, 'RUNNING')).pid,
        (await bens.state(deadOfBen.uid, 'RUNNING')).pid,
      ];
      await gone.machine.close();
      await bens.machine.close();
      host.sh(pids.map((pid) => `kill -KILL -${pid}`).join('; '));
      const ann = await open('ann', asAnn);
      ann.backend.watchWorkers(true);
      await eventually(claimed).toEqual(left(living, deadOfBen));
      const root = await open('root');
      root.backend.watchWorkers(true);
      await eventually(claimed).toEqual(left(living));
    },
    longMs,
  );

  test('where it cannot be claimed is not given out, which is said', async () => {
    host.sh('mkdir -m 755 /var/tmp/iris-claims');
    const ann = await open('ann');
    const why =
      'Its GPUs cannot be claimed on the machine ws-two, so none is given out: /var/tmp/iris-claims has mode 755; it has to be 1777.';
    expect(cardOf(ann)).toMatchObject({ state: 'SICK', stateReason: why });
    expect(machines.warnings).toContain(why);
    const asked = launch('exit 0');
    ann.run(asked);
    expect(await ann.over(asked.uid)).toMatchObject({
      state: 'WORKER_FAILED',
      cause: { code: 'GPU_UNCLAIMABLE', message: why },
    });
    // What needs no card runs all the same.
    const plain = launchOf({ command: ['true'] });
    ann.run(plain);
    expect(await ann.over(plain.uid)).toMatchObject({ state: 'SUCCEEDED' });
    host.sh('chmod 1777 /var/tmp/iris-claims');
    ann.backend.watchWorkers(true);
    await ann.until(() => cardOf(ann)?.state === 'FREE');
  });
});
