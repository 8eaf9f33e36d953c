/** A machine by SSH without SSH between: what its far hand and its controller make of each other. */
import { existsSync, mkdirSync, readdirSync, rmSync, utimesSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { launchOf } from '../../../../test/harness/backend-probe.js';
import { eventually } from '../../../../test/harness/eventually.js';
import { LocalMachine } from '../../../../test/harness/local-machine.js';

let machine: LocalMachine;

beforeEach(() => {
  machine = new LocalMachine();
});
afterEach(() => machine.dispose());

test('a task is told its deadline by the clock of its machine', async () => {
  // Ten minutes behind, so that the machine's clock is that much ahead.
  const nowMs = () => Date.now() - 600_000;
  const probe = await machine.probe({ nowMs });
  await probe.healthy();
  const script =
    'trap \'cat "$IRIS_WORKDIR/preemption.json"; exit 0\' USR1; echo began; while :; do sleep 0.05; done';
  const launch = launchOf({ command: ['sh', '-c', script] });
  probe.machine.watchLog(launch.uid, true);
  probe.run(launch);
  await probe.until(() => probe.grew.some(({ out }) => out > 0));
  const deadlineMs = nowMs() + 20_000;
  const notice = { deadlineMs, reason: 'for another' };
  probe.stop(launch.uid, { reason: 'preempted', signal: 'SIGUSR1', graceMs: 20_000, notice });
  await probe.over(launch.uid);
  const { data } = await probe.machine.readLog(launch.uid, 'out', 0, 1000);
  const told = JSON.parse(Buffer.from(data).toString().replace('began\n', '')) as { deadline: string };
  expect(Math.abs(Date.parse(told.deadline) - (deadlineMs + 600_000))).toBeLessThan(2000);
});

test('one that answers is still connecting until it is known what is there and how loaded it is', async () => {
  const probe = await machine.probe();
  const seen = new Map<string, string | null>();
  await probe.until(() => {
    const [worker] = probe.machine.observe();
    seen.set(`${worker?.contact?.state} ${worker?.state}`, worker?.contact?.message ?? null);
    return worker?.state === 'HEALTHY';
  });
  expect([...seen.keys()]).toEqual(['CONNECTING DEGRADED', 'CONNECTED HEALTHY']);
  expect(seen.get('CONNECTING DEGRADED')).toBe(
    'It answers. What runs there and its devices are looked at before it is used.',
  );
  expect(seen.get('CONNECTED HEALTHY')).toBeNull();
  const [worker] = probe.machine.observe();
  expect(worker?.memoryAvailableBytes).toBeGreaterThan(0);
  const used = () =>
    probe.machine.history?.('ws-here', 0).series.find(({ key }) => key === 'memory-bytes')?.values ?? [];
  probe.machine.watchWorkers(true);
  await probe.until(() => used().length > 0);
  expect(Math.max(...used().map(Number))).toBeLessThan(worker?.memoryBytes ?? 0);
});

test('where nothing can be written down of it here it is used all the same', async () => {
  const inTheWay = path.join(machine.home, `ws-here.json.${process.pid}`);
  mkdirSync(inTheWay);
  const probe = await machine.probe();
  await probe.healthy();
  expect(machine.said).toContain('What a machine has could not be written down');
  const launch = launchOf({ command: ['true'] });
  probe.run(launch);
  expect((await probe.over(launch.uid)).state).toBe('SUCCEEDED');
});

test('a fault while it is heard costs the connection, and nothing else', async () => {
  // Its name on other machines cannot be made up.
  const inTheWay = path.join(machine.home, `controller-id.${process.pid}`);
  mkdirSync(inTheWay);
  const probe = await machine.probe();
  await probe.until(() => probe.contact() === 'UNREACHABLE');
  expect(probe.machine.observe()[0]?.contact?.message).toMatch(
    /^What ws-here said could not be dealt with here: .*EISDIR.*\. It is tried again by itself/,
  );
  rmSync(inTheWay, { recursive: true });
  await probe.healthy();
});

test('files that go there for longer than it may be silent are no silence, and go once for all that start with them', async () => {
  await machine.dispose();
  machine = new LocalMachine(400_000);
  const probe = await machine.probe({ silentAfterMs: 2000 });
  await probe.healthy();
  const content = Buffer.alloc(1_600_000, 'x');
  const files = [{ path: 'big', contentBase64: content.toString('base64') }];
  const launches = [1, 2, 3, 4].map(() =>
    launchOf({ command: ['sh', '-c', 'wc -c <"$IRIS_WORKDIR/big"'], files }),
  );
  const begun = performance.now();
  probe.want(...launches.map((launch) => ({ kind: 'run', launch }) as const));
  for (const { uid } of launches) {
    expect(await probe.over(uid)).toMatchObject({ state: 'SUCCEEDED' });
    const { data } = await probe.machine.readLog(uid, 'out', 0, 100);
    expect(Buffer.from(data).toString().trim()).toBe('1600000');
  }
  // Four times would take sixteen.
  expect(performance.now() - begun).toBeLessThan(12_000);
  expect(machine.said).not.toContain('A machine is not in contact');
});

test('a controller that was kept busy for longer takes that for no silence of the machine', async () => {
  const probe = await machine.probe({ silentAfterMs: 1000, pingEveryMs: 200 });
  await probe.healthy();
  const begun = performance.now();
  while (performance.now() - begun < 1500);
  const launch = launchOf({ command: ['sleep', '1'] });
  probe.run(launch);
  expect((await probe.over(launch.uid)).state).toBe('SUCCEEDED');
  expect(machine.said).not.toContain('A machine is not in contact');
  expect(probe.contact()).toBe('CONNECTED');
});

test('of one that is removed nothing is taken for the next of its name', async () => {
  const probe = await machine.probe();
  await probe.healthy();
  await probe.until(() => probe.machine.history?.('ws-here', 0).timesMs.length !== 0);
  await probe.machine.close();
  const named = () => readdirSync(machine.home).filter((name) => /ws-here/.test(name));
  expect(named().sort()).toEqual(['load-ws-here', 'ws-here.json']);
  probe.machine.forget();
  expect(named()).toEqual([]);
});

test('of what ended long before its controller is back the end and the log are there, until nobody keeps it', async () => {
  const before = await machine.probe();
  await before.healthy();
  const launch = launchOf({ command: ['sh', '-c', 'echo done; exit 3'] });
  before.run(launch);
  await before.over(launch.uid);
  await before.machine.close();
  const [place = ''] = readdirSync(machine.attempts(), { recursive: true, encoding: 'utf8' }).filter(
    (name) => path.basename(name) === launch.uid,
  );
  const folder = path.join(machine.attempts(), place);
  const nineDaysAgo = new Date(Date.now() - 9 * 86_400_000);
  for (const name of [...readdirSync(folder), '.'])
    utimesSync(path.join(folder, name), nineDaysAgo, nineDaysAgo);
  const asked: string[] = [];
  const isKnown = (uid: string) => Promise.resolve(asked.push(uid) > 0);
  const probe = await machine.probe({ isKnown });
  await eventually(() => asked).toEqual([launch.uid]);
  probe.want({ kind: 'keep', uid: launch.uid, launch });
  expect(await probe.over(launch.uid)).toMatchObject({ state: 'FAILED', exitCode: 3 });
  const { data } = await probe.machine.readLog(launch.uid, 'out', 0, 100);
  expect(Buffer.from(data).toString()).toBe('done\n');
  await probe.machine.close();
  await machine.probe({ isKnown: () => Promise.resolve(false) });
  await eventually(() => existsSync(folder)).toBe(false);
});
