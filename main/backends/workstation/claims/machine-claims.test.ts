import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { eventually } from '../../../../test/harness/eventually.js';
import { launchOf } from '../../../../test/harness/backend-probe.js';
import { claimOf } from '../../../../test/harness/claims.js';
import { ClaimsFolder } from './claims-folder.js';
import { surroundingsHere } from './liveness.js';
import { MachineClaims } from './machine-claims.js';

const card = 'GPU-a0000001-0000-4000-8000-000000000001';
const me = os.userInfo().username;
let scratch: string;
let folder: string;
let warnings: string[];
const open: MachineClaims[] = [];

beforeEach(() => {
  scratch = mkdtempSync(path.join(os.tmpdir(), 'iris-claims-'));
  folder = path.join(scratch, 'claims');
  warnings = [];
});
afterEach(() => {
  for (const claims of open.splice(0)) claims.close();
  rmSync(scratch, { recursive: true });
});

function controller(name: string, onChange = () => undefined): MachineClaims {
  const warn = (message: string) => void warnings.push(message);
  const log = { info: () => undefined, warn, error: warn };
  const claims = new MachineClaims({ folder, attemptsFolder: path.join(scratch, name), log, onChange });
  open.push(claims);
  return claims;
}

const onCard = () => launchOf({ command: ['true'], gpu: '1', cpu: 2, memory: '1GB' }, { devices: [card] });

test('what one controller takes, the other sees as used, with whose it is', async () => {
  let changes = 0;
  const ann = controller('ann');
  const ben = controller('ben', () => {
    changes += 1;
  });
  expect(ben.others()).toEqual({ cpuMillicores: 0, memoryBytes: 0, devices: new Map() });
  const launch = onCard();
  expect(ann.take(launch)).toBeNull();
  await eventually(() => changes).toBeGreaterThan(0);
  expect(ben.others()).toEqual({
    cpuMillicores: 2000,
    memoryBytes: 1e9,
    devices: new Map([[card, [me]]]),
  });
  expect(ann.others().devices.size).toBe(0);
  expect(ben.take(onCard())).toBe(
    `${card} is claimed by ${me} for the attempt ${launch.uid} on this machine.`,
  );
  ann.release(launch.uid);
  expect(readdirSync(folder)).toEqual([]);
  expect(ben.take(onCard())).toBeNull();
  expect(warnings).toEqual([]);
});

test('what a controller that is gone for good has left is read once, not for ever', () => {
  const ann = controller('ann');
  const gone = new ClaimsFolder(folder, 'd'.repeat(16), surroundingsHere());
  // No system gives out that number.
  const host = { pid: 2 ** 30, startTicks: 1 };
  gone.putAttempt(
    claimOf('b'.repeat(16), { controller: 'd'.repeat(16), devices: [], host, supervisor: null }),
  );
  expect(readdirSync(folder)).toHaveLength(1);
  expect(ann.others().cpuMillicores).toBe(0);
  expect(readdirSync(folder)).toEqual([]);
});

test('one that gets only some of its cards gives them back', () => {
  const ann = controller('ann');
  const ben = controller('ben');
  ann.take(launchOf({ command: ['true'] }, { devices: ['GPU-2'] }));
  expect(ben.take(launchOf({ command: ['true'] }, { devices: ['GPU-1', 'GPU-2'] }))).toContain(
    'GPU-2 is claimed',
  );
  expect(ann.take(launchOf({ command: ['true'] }, { devices: ['GPU-1'] }))).toBeNull();
});

test('one that fails half-way through its files keeps no card from the next', () => {
  const ann = controller('ann');
  const launch = onCard();
  // Nothing can be put in its place, as nothing can on a full disk.
  mkdirSync(path.join(folder, `attempt-${launch.uid}`, 'in the way'), { recursive: true });
  expect(ann.take(launch)).toBeNull();
  expect(warnings).toHaveLength(1);
  expect(controller('ben').take(onCard())).toContain(launch.uid);
  ann.release(launch.uid);
  expect(ann.take(onCard())).toBeNull();
});

test('a process it runs under is named in all its files', () => {
  const ann = controller('ann');
  const launch = onCard();
  ann.take(launch);
  ann.runsUnder(launch.uid, process.ppid);
  const files = readdirSync(folder);
  expect(files).toHaveLength(2);
  for (const file of files) {
    const claim: unknown = JSON.parse(readFileSync(path.join(folder, file), 'utf8'));
    expect(claim).toMatchObject({
      attempt: launch.uid,
      supervisor: { pid: process.ppid },
      host: { pid: process.pid },
    });
  }
});

test('a folder that is cleaned away is made again, with all that is held', async () => {
  const ann = controller('ann');
  const launch = onCard();
  ann.take(launch);
  ann.runsUnder(launch.uid, process.ppid);
  rmSync(folder, { recursive: true });
  await eventually(() => (existsSync(folder) ? readdirSync(folder).sort() : [])).toEqual([
    `attempt-${launch.uid}`,
    `device-${card}-0`,
  ]);
  expect(controller('ben').take(onCard())).toContain(launch.uid);
  expect(warnings).toEqual([]);
});

test('a folder that is cleaned away is made again', () => {
  const ann = controller('ann');
  rmSync(folder, { recursive: true });
  expect(ann.take(onCard())).toBeNull();
  expect(readdirSync(folder)).toHaveLength(2);
  expect(statSync(folder).mode & 0o7777).toBe(0o1777);
});
