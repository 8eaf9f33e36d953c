/** Controllers of several logins on one machine give out each card once, and say who has it. */
import { chmodSync, chownSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { TestClient } from '../harness/client.js';
import { eventually } from '../harness/eventually.js';
import { attemptsOf, lastAttempt, over, running, shell, stop, submit } from '../harness/host-jobs.js';
import { makeHomeRoot, startHostProcess, type HostProcess } from '../harness/host-process.js';
import { capture, NvidiaStub } from '../harness/nvidia-stub.js';

const nobody = 65534;
const isRoot = process.getuid?.() === 0;
/** One idle card. */
const idle = 'rtx-3060-driver-570.xml';
const card = 'GPU-a0000001-0000-4000-8000-000000000001';

let stub: NvidiaStub;
let claims: string;
const hosts: { readonly host: HostProcess; remove(): Promise<void> }[] = [];

beforeEach(() => {
  stub = new NvidiaStub(idle);
  chmodSync(stub.folder, 0o777);
  claims = path.join(mkdtempSync(path.join(os.tmpdir(), 'iris-claims-')), 'claims');
  chmodSync(path.dirname(claims), 0o777);
});
afterEach(async () => {
  const all = hosts.splice(0);
  for (const { host } of all)
    if (host.process.exitCode === null && host.process.signalCode === null) await host.shutdown();
  for (const { remove } of all) await remove();
  stub.dispose();
  rmSync(path.dirname(claims), { recursive: true });
});

/** A host of its own login, where that can be: only the superuser can be somebody else. */
async function open(
  login: 'own' | 'nobody',
  root?: string,
): Promise<{ client: TestClient; host: HostProcess; root: string }> {
  const home = root === undefined ? await makeHomeRoot() : { root, remove: () => Promise.resolve() };
  const other = login === 'nobody' && isRoot;
  if (other) chownSync(home.root, nobody, nobody);
  const host = await startHostProcess(home.root, {
    env: {
      ...process.env,
      PATH: `${stub.folder}:${process.env['PATH'] ?? ''}`,
      IRIS_DESKTOP_CLAIMS: claims,
      ...(other ? { HOME: home.root } : {}),
    },
    wrap: other ? ['setpriv', `--reuid=${nobody}`, `--regid=${nobody}`, '--clear-groups'] : [],
  });
  hosts.push({ host, remove: home.remove });
  return { client: await host.connect(), host, root: home.root };
}

const onCard = (script: string) => shell(script, { gpu: 1 });

async function waitingOf(client: TestClient, jobId: string): Promise<string> {
  return (await client.call('job.get', { jobId })).summary.waiting?.message ?? '';
}

const ownName = os.userInfo().username;

test('one card, two logins: one runs, the other waits and says for whom, and runs when the card is free', async () => {
  const ann = await open('own');
  const ben = await open('nobody');
  const first = await submit(ann.client, onCard('sleep 300'));
  await running(ann.client, first);
  const second = await submit(ben.client, onCard('exit 0'));
  await eventually(() => waitingOf(ben.client, second)).toContain(`used by ${ownName}`);
  const [machine] = (await ben.client.call('machine.list', {})).machines;
  expect(machine?.gpus).toMatchObject([
    { uuid: card, claimedBy: [ownName], state: 'BUSY', stateReason: `Claimed by ${ownName}.`, heldBy: null },
  ]);
  const [here] = (await ann.client.call('machine.list', {})).machines;
  expect(here?.gpus).toMatchObject([{ uuid: card, claimedBy: [], state: 'HELD' }]);
  await stop(ann.client, first);
  expect(await over(ben.client, second)).toMatchObject({ state: 'SUCCEEDED', preemptionCount: 0 });
  await eventually(() => readdirSync(claims)).toEqual([]);
});

test('all processors with a job of another controller: who waits for one, and the machine, say so', async () => {
  const ann = await open('own');
  const ben = await open('nobody');
  const { cpuMillicoresTotal = 0 } = (await ann.client.call('machine.list', {})).machines[0] ?? {};
  const cores = cpuMillicoresTotal / 1000;
  await running(ann.client, await submit(ann.client, shell('sleep 300', { cpu: cores })));
  const seen = async () => (await ben.client.call('machine.list', {})).machines[0];
  await eventually(async () => (await seen())?.others?.cpuMillicores).toBe(cpuMillicoresTotal);
  const second = await submit(ben.client, shell('exit 0', { cpu: 1 }));
  await eventually(() => waitingOf(ben.client, second)).toBe(
    `Waits for 1 CPU core (0 of ${cores} free, ${cores} with jobs of other controllers).`,
  );
  expect(await seen()).toMatchObject({ cpuMillicoresFree: 0, runningTasks: 0 });
  const [here] = (await ann.client.call('machine.list', {})).machines;
  expect(here?.others).toBeUndefined();
});

test('the claim of an attempt outlives its controller, and the next one keeps it', async () => {
  const ann = await open('own');
  const ben = await open('nobody');
  const first = await submit(ann.client, onCard('sleep 300'));
  await running(ann.client, first);
  await eventually(() => readdirSync(claims).length).toBe(2);
  ann.client.close();
  await ann.host.kill();
  const second = await submit(ben.client, onCard('exit 0'));
  await eventually(() => waitingOf(ben.client, second)).toContain(`used by ${ownName}`);
  const again = await open('own', ann.root);
  await running(again.client, first);
  expect((await attemptsOf(again.client, first)).length).toBe(1);
  expect(await waitingOf(ben.client, second)).toContain(`used by ${ownName}`);
  await stop(again.client, first);
  expect(await over(ben.client, second)).toMatchObject({ state: 'SUCCEEDED' });
});

test('who asks at the same moment: each card is given once, and what lost its claim has not failed', async () => {
  const text = capture(idle);
  const cardText = /<gpu id=[\s\S]*<\/gpu>/.exec(text)?.[0] ?? '';
  const second = cardText
    .replace('00000000:2D:00.0', '00000000:2E:00.0')
    .replace(card, card.replace(/1$/, '2'));
  stub.show(text.replace(cardText, `${cardText}\n${second}`));
  const ann = await open('own');
  const ben = await open('nobody');
  const jobs = await Promise.all(
    [ann, ben].flatMap(({ client }) =>
      Array.from({ length: 6 }, async () => ({ client, id: await submit(client, onCard('sleep 0.2')) })),
    ),
  );
  const spans: { device: string; from: number; to: number }[] = [];
  for (const { client, id } of jobs) {
    expect(await over(client, id)).toMatchObject({ state: 'SUCCEEDED', failureCount: 0, preemptionCount: 0 });
    const { devices, startedAtMs, finishedAtMs } = await lastAttempt(client, id);
    expect(devices).toHaveLength(1);
    spans.push({ device: devices[0] ?? '', from: startedAtMs ?? 0, to: finishedAtMs ?? 0 });
  }
  for (const device of new Set(spans.map((span) => span.device))) {
    const ordered = spans.filter((span) => span.device === device).sort((a, b) => a.from - b.from);
    for (const [at, span] of ordered.entries()) {
      // The start is told by the attempt itself, up to the tick of its clock.
      if (at > 0) expect(span.from + 15).toBeGreaterThanOrEqual(ordered[at - 1]?.to ?? 0);
    }
  }
});
