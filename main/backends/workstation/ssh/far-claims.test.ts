/** The far hand's claims against those of the controller on the machine itself: each reads and judges what the other wrote. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { launchOf } from '../../../../test/harness/backend-probe.js';
import { claimOf } from '../../../../test/harness/claims.js';
import { eventually } from '../../../../test/harness/eventually.js';
import { LocalHand, type LocalHandOptions } from '../../../../test/harness/local-hand.js';
import type { Claim } from '../claims/claim-file.js';
import { ClaimsFolder } from '../claims/claims-folder.js';
import { identityOf, surroundingsHere } from '../claims/liveness.js';
import { MachineClaims } from '../claims/machine-claims.js';

const card = 'GPU-a0000001-0000-4000-8000-000000000001';
const second = card.replace(/1$/, '2');
const me = os.userInfo().username;
const here = surroundingsHere();
const far = 'f'.repeat(16);

let scratch: string;
let folder: string;
let local: MachineClaims;
let warnings: string[];
const hands: LocalHand[] = [];

beforeEach(() => {
  scratch = mkdtempSync(path.join(os.tmpdir(), 'iris-far-claims-'));
  folder = path.join(scratch, 'claims');
  warnings = [];
  const warn = (message: string) => void warnings.push(message);
  const log = { info: () => undefined, warn, error: warn };
  const attemptsFolder = path.join(scratch, 'local');
  local = new MachineClaims({ folder, attemptsFolder, log, onChange: () => undefined });
});
afterEach(async () => {
  local.close();
  for (const hand of hands.splice(0)) await hand.close();
  rmSync(scratch, { recursive: true });
});

async function open(more: Partial<LocalHandOptions> = {}): Promise<LocalHand> {
  const home = path.join(scratch, 'home');
  const hand = await LocalHand.open({ home, claims: folder, controller: far, ...more });
  hands.push(hand);
  return hand;
}

const onCards = (devices: readonly string[], more: { script?: string; share?: boolean } = {}) =>
  launchOf(
    {
      command: ['sh', '-c', more.script ?? 'exec sleep 300'],
      gpu: String(devices.length),
      cpu: 2,
      memory: '1GB',
      ...(more.share === true ? { shareGpu: true, gpuMemory: '1GB' } : {}),
    },
    { devices: [...devices] },
  );
const read = () => new ClaimsFolder(folder, '0'.repeat(16), here).read();

test('what the hand claims the local controller reads in whole, and has nothing of until it is over', async () => {
  rmSync(folder, { recursive: true });
  const hand = await open({ umask: '077' });
  expect(statSync(folder).mode & 0o7777).toBe(0o1777);
  const launch = onCards([card]);
  hand.start(launch);
  const pid = (await hand.word('started')).number(1) ?? 0;
  expect(readdirSync(folder).sort()).toEqual([`attempt-${launch.uid}`, `device-${card}-0`]);
  for (const name of readdirSync(folder)) expect(statSync(path.join(folder, name)).mode & 0o777).toBe(0o644);
  const claim: Claim = {
    version: 1,
    owner: me,
    controller: far,
    attempt: launch.uid,
    devices: [card],
    cpuMillicores: 2000,
    memoryBytes: 1e9,
    bootId: here.bootId,
    pidNamespace: here.pidNamespace,
    host: identityOf(hand.pid),
    supervisor: identityOf(pid),
    container: false,
  };
  expect(read().map((found) => found.claim)).toEqual([claim, claim]);
  expect(read().map(({ owner, own, dead }) => ({ owner, own, dead }))).toEqual(
    Array(2).fill({ owner: me, own: false, dead: false }),
  );
  expect(local.others()).toEqual({ cpuMillicores: 2000, memoryBytes: 1e9, devices: new Map([[card, [me]]]) });
  expect(local.take(onCards([card]))).toBe(
    `${card} is claimed by ${me} for the attempt ${launch.uid} on this machine.`,
  );
  await hand.end(launch.uid);
  expect(readdirSync(folder)).toEqual([]);
  expect(local.take(onCards([card]))).toBeNull();
  expect(warnings).toEqual([]);
});

test('what the local controller claims the hand refuses, says whose it is, and keeps nothing of it', async () => {
  const hand = await open();
  expect(hand.claims()).toEqual(['', '0', '0']);
  const held = onCards([second]);
  expect(local.take(held)).toBeNull();
  const launch = onCards([card, second], { script: `touch ${scratch}/ran` });
  hand.start(launch);
  const fault = await hand.word('fault');
  expect([1, 2, 3, 4].map((at) => fault.text(at))).toEqual(['claimed', second, me, held.uid]);
  // Said before it, so that the card is not given out again at once.
  const kinds = hand.said.map(({ kind }) => kind);
  expect(kinds.lastIndexOf('claims')).toBeLessThan(kinds.indexOf('fault'));
  expect(hand.claims()).toEqual(['', '2000', '1000000000', second, me]);
  expect(readdirSync(folder).sort()).toEqual([`attempt-${held.uid}`, `device-${second}-0`]);
  local.release(held.uid);
  await eventually(() => hand.claims()).toEqual(['', '0', '0']);
  hand.start(launch);
  await hand.word('started');
});

test('two that share a card of one controller have it together, and nobody else has', async () => {
  const hand = await open();
  const [first, next] = [onCards([card], { share: true }), onCards([card], { share: true })];
  hand.start(first);
  hand.start(next);
  await hand.word('started', (word) => word.text(0) === next.uid);
  expect(local.take(onCards([card], { share: true }))).toContain('is claimed by');
  await hand.end(first.uid);
  expect(local.take(onCards([card], { share: true }))).toContain(next.uid);
  const alone = onCards([card]);
  hand.start(alone);
  expect((await hand.word('fault')).text(1)).toBe('claimed');
});

test('a claim outlives the hand, the next one renews it, and it is dead when nothing of it lives', async () => {
  const first = await open();
  const launch = onCards([card]);
  first.start(launch);
  const pid = (await first.word('started')).number(1) ?? 0;
  await first.kill();
  expect(local.take(onCards([card]))).toContain(launch.uid);
  const next = await open();
  next.keep(launch);
  await next.word('running');
  expect(read().map(({ claim }) => [claim.host.pid, claim.supervisor?.pid])).toEqual(
    Array(2).fill([next.pid, pid]),
  );
  await next.kill();
  process.kill(-pid, 'SIGKILL');
  await eventually(() => read().every(({ dead }) => dead)).toBe(true);
  expect(local.take(onCards([card]))).toBeNull();
});

test('a start that is asked for again takes over the claim that a killed hand left for it, as of any that is dead', async () => {
  const launch = onCards([card]);
  const left = {
    ...claimOf('b0', { devices: ['GPU-0'] }),
    controller: far,
    attempt: launch.uid,
    devices: [card],
    host: await deadIdentity(),
  };
  for (const name of [`attempt-${launch.uid}`, `device-${card}-0`])
    writeFileSync(path.join(folder, name), JSON.stringify(left));
  const hand = await open();
  hand.start(launch);
  await hand.word('started');
  expect(readdirSync(folder).sort()).toEqual([`attempt-${launch.uid}`, `device-${card}-1`]);
  expect(read().map(({ dead, claim }) => [dead, claim.host.pid])).toEqual(Array(2).fill([false, hand.pid]));
});

test('a folder that is cleaned away is made again, with all that is held', async () => {
  const hand = await open();
  const [launch, contained] = [
    onCards([card]),
    { ...onCards([second]), spec: { ...onCards([second]).spec, image: 'an-image' } },
  ];
  hand.start(launch);
  await hand.word('started');
  await hand.prepare(contained);
  const names = readdirSync(folder).sort();
  expect(names).toHaveLength(4);
  local.close();
  rmSync(folder, { recursive: true });
  await eventually(() => (existsSync(folder) ? readdirSync(folder).sort() : [])).toEqual(names);
  expect(statSync(folder).mode & 0o7777).toBe(0o1777);
  expect(read().filter(({ dead }) => dead)).toEqual([]);
});

test('a supervisor that is killed gives its card back when all of it is gone', async () => {
  const hand = await open();
  const launch = onCards([card], { script: 'sleep 300 & wait' });
  hand.start(launch);
  const pid = (await hand.word('started')).number(1) ?? 0;
  process.kill(pid, 'SIGKILL');
  await hand.word('gone');
  expect(readdirSync(folder)).toEqual([]);
});

test('a start that fails after its claim gives the card back', async () => {
  const hand = await open();
  const launch = onCards([card]);
  const huge = { ...launch, environment: { ...launch.environment, HUGE: 'x'.repeat(200_000) } };
  hand.start(huge);
  expect((await hand.word('fault')).text(1)).toBe('exec');
  expect(readdirSync(folder)).toEqual([]);
});

test('one without cards is told of when it lives on, and not before', async () => {
  const hand = await open();
  const [short, long] = [onCards([], { script: 'exit 0' }), onCards([])];
  hand.start(short);
  await hand.word('gone');
  hand.start(long);
  await eventually(() => readdirSync(folder)).toEqual([`attempt-${long.uid}`]);
  expect(local.others()).toEqual({ cpuMillicores: 2000, memoryBytes: 1e9, devices: new Map() });
  expect(hand.claims()).toEqual(['', '0', '0']);
});

test('what was left for attempts that nobody knows any more is swept, what is in containers when these are', async () => {
  const before = await open();
  const contained = { ...onCards([second]), spec: { ...onCards([second]).spec, image: 'an-image' } };
  expect((await before.prepare(contained)).text(1)).toContain('/work');
  const launch = onCards([card]);
  before.start(launch);
  const pid = (await before.word('started')).number(1) ?? 0;
  process.kill(-pid, 'SIGKILL');
  await before.kill();
  writeFileSync(path.join(folder, `.new-${before.pid}-${far}-attempt-${launch.uid}`), 'half');
  const hand = await open();
  hand.send('strays');
  await hand.word('strays-gone');
  expect(readdirSync(folder).sort()).toEqual([`attempt-${contained.uid}`, `device-${second}-0`]);
  expect(read().map(({ dead, claim }) => [dead, claim.container])).toEqual([
    [false, true],
    [false, true],
  ]);
  hand.send('contained', contained.uid);
  hand.send('ping', '1');
  await hand.word('pong');
  expect(readdirSync(folder)).toHaveLength(2);
  hand.send('contained');
  await eventually(() => readdirSync(folder)).toEqual([]);
});

test('a container gets no folder when somebody else has its card, and what runs is held again where it was lost', async () => {
  const hand = await open();
  const held = onCards([card]);
  local.take(held);
  const contained = { ...onCards([card]), spec: { ...onCards([card]).spec, image: 'an-image' } };
  const refused = await hand.prepare(contained);
  expect([1, 3, 4, 5, 6].map((at) => refused.text(at))).toEqual(['', 'claimed', card, me, held.uid]);
  local.release(held.uid);
  hand.send('hold', contained.uid, '1', '0', '1000', '1000', card);
  await eventually(() => readdirSync(folder)).toHaveLength(2);
  expect(local.take(onCards([card]))).toContain(contained.uid);
  hand.send('release', contained.uid);
  await eventually(() => readdirSync(folder)).toEqual([]);
});

describe('where no claims can be made', () => {
  test('no card is given out, it is said why, and they are when it is mended', async () => {
    chmodSync(folder, 0o755);
    const hand = await open();
    const why = `${folder} has mode 755; it has to be 1777`;
    expect(hand.claims()).toEqual([why, '0', '0']);
    const launch = onCards([card], { script: `touch ${scratch}/ran` });
    hand.start(launch);
    const fault = await hand.word('fault');
    expect([1, 2].map((at) => fault.text(at))).toEqual(['unclaimable', why]);
    chmodSync(folder, 0o1777);
    hand.send('sample');
    await eventually(() => hand.claims()).toEqual(['', '0', '0']);
    expect(readdirSync(scratch)).not.toContain('ran');
    hand.start(launch);
    await hand.word('started');
  });

  test('a file in place of the folder', async () => {
    rmSync(folder, { recursive: true });
    writeFileSync(folder, '');
    const hand = await open();
    expect(hand.claims()[0]).toBe(`${folder} is no folder`);
    rmSync(folder);
  });

  test('as that login wishes: another folder, or none at all', async () => {
    const named = path.join(scratch, 'named');
    const there = await open({ claims: '', env: { IRIS_DESKTOP_CLAIMS: named } });
    there.start(onCards([card]));
    await there.word('started');
    expect(readdirSync(named)).toHaveLength(2);
    const env = { IRIS_DESKTOP_CLAIMS: 'none' };
    const nowhere = await open({ claims: '', env, home: path.join(scratch, 'other') });
    nowhere.start(onCards([card]));
    await nowhere.word('started');
    expect(readdirSync(named)).toHaveLength(2);
  });
});

/** A process that has ended and been reaped. */
async function deadIdentity(): Promise<Claim['host']> {
  const child = spawn('sleep', ['300']);
  const identity = identityOf(child.pid ?? 0);
  child.kill('SIGKILL');
  await once(child, 'exit');
  return identity;
}

test('both judge alike whether the holder of a claim lives', async () => {
  const dead = await deadIdentity();
  const live = identityOf(process.pid);
  const cases: readonly (readonly [string, Partial<Claim>])[] = [
    ['alive', {}],
    ['dead', { host: dead }],
    ['its supervisor lives', { host: dead, supervisor: live }],
    ['both dead', { host: dead, supervisor: dead }],
    ['a number that is somebody else by now', { host: { pid: process.pid, startTicks: 1 } }],
    ['a start that is not known', { host: { pid: process.pid, startTicks: null } }],
    ['dead with a start that is not known', { host: { pid: dead.pid, startTicks: null } }],
    ['before the last start of the machine', { bootId: 'before' }],
    ['a start of the machine that is not known', { host: dead, bootId: 'unknown' }],
    ['in another world of processes', { host: dead, pidNamespace: 'pid:[1]' }],
    ['in a container', { host: dead, container: true }],
    ['a number that no process has', { host: { pid: 9_007_199_254_740_991, startTicks: 1 } }],
    ['a number that a process has when it is cut', { host: { pid: 2 ** 32 + process.pid, startTicks: 1 } }],
  ];
  mkdirSync(folder, { recursive: true });
  for (const [index, [, more]] of cases.entries())
    writeFileSync(
      path.join(folder, `device-GPU-${index}-0`),
      JSON.stringify(claimOf(`b${index}`, { devices: [`GPU-${index}`], ...more })),
    );
  const hand = await open();
  const seen = local.others();
  expect(hand.claims().slice(3)).toEqual(pairsOf(seen.devices));
  const barred = cases.flatMap(([name], index) => (seen.devices.has(`GPU-${index}`) ? [name] : []));
  expect(barred).toEqual([
    'alive',
    'its supervisor lives',
    'a start that is not known',
    'a start of the machine that is not known',
    'in another world of processes',
    'in a container',
    'a number that no process has',
    'a number that a process has when it is cut',
  ]);
});

test('both remove alike what dead attempts of others have left, and nothing of the living, of containers and of cards', async () => {
  const dead = await deadIdentity();
  const live = identityOf(process.pid);
  const bare = { host: dead, devices: [] };
  const left: Readonly<Record<string, Claim>> = {
    'attempt-b1': claimOf('b1', bare),
    'attempt-b2': claimOf('b2', { ...bare, host: live }),
    'attempt-b3': claimOf('b3', { ...bare, container: true }),
    'attempt-b4': claimOf('b4', { ...bare, supervisor: live }),
    'attempt-b5': claimOf('b5', { ...bare, supervisor: dead }),
    'attempt-b6': claimOf('b6', { ...bare, bootId: 'before' }),
    'attempt-b7': claimOf('b7', { ...bare, bootId: 'unknown' }),
    'attempt-b8': claimOf('b8', { ...bare, pidNamespace: 'pid:[1]' }),
    'attempt-other': claimOf('b9', bare),
    [`device-${card}-0`]: claimOf('c1', { ...bare, devices: [card] }),
  };
  const kept = Object.keys(left)
    .filter((name) => !['attempt-b1', 'attempt-b5', 'attempt-b6'].includes(name))
    .sort();
  const put = () => {
    for (const [name, claim] of Object.entries(left))
      writeFileSync(path.join(folder, name), JSON.stringify(claim));
  };
  put();
  local.others();
  expect(readdirSync(folder).sort()).toEqual(kept);
  put();
  const hand = await open();
  await hand.word('claims');
  expect(readdirSync(folder).sort()).toEqual(kept);
});

function pairsOf(devices: ReadonlyMap<string, readonly string[]>): readonly string[] {
  const lines = [...devices].flatMap(([device, owners]) => owners.map((owner) => [device, owner] as const));
  return lines.sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b))).flat();
}
