/** Plain folders stand for control groups here: what is written where is the same. */
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { launchOf } from '../../../../test/harness/backend-probe.js';
import { newEntry, type AttemptEntry } from './attempt-entry.js';
import type { GroupRoots } from './control-groups.js';
import { giveWeight, limitsAtStart } from './processor-weight.js';

let scratch: string;
let root: string;
let warnings: string[];

beforeEach(() => {
  scratch = mkdtempSync(path.join(os.tmpdir(), 'iris-weight-'));
  root = path.join(scratch, 'groups');
  mkdirSync(root);
  warnings = [];
});
afterEach(() => {
  rmSync(scratch, { recursive: true, force: true });
});

const rootsOf = (version: 1 | 2): GroupRoots => ({ version, memory: null, cpu: root });

function entryOf(cpu: number | undefined, phase: AttemptEntry['phase'] = 'running'): AttemptEntry {
  const launch = launchOf({ command: ['true'], ...(cpu === undefined ? {} : { cpu }) });
  const folder = path.join(scratch, launch.uid);
  mkdirSync(folder);
  const entry = newEntry(launch.uid, folder, launch);
  entry.phase = phase;
  return entry;
}

/** The system makes a group's files with the group. */
function makeGroup(entry: AttemptEntry): string {
  const folder = path.join(root, `iris-${entry.uid}`);
  mkdirSync(folder);
  for (const name of ['cpu.shares', 'cpu.weight', 'cgroup.procs']) writeFileSync(path.join(folder, name), '');
  return folder;
}

/** Members that are there at the first look, and have been moved by the second. */
function membersOnce(...pids: readonly number[]): () => Promise<readonly { readonly pid: number }[]> {
  let looks = 0;
  return () => Promise.resolve((looks += 1) === 1 ? pids.map((pid) => ({ pid })) : []);
}

async function give(entry: AttemptEntry, roots: GroupRoots, members = membersOnce(101, 102)): Promise<void> {
  const warn = (text: string, detail?: object) => void warnings.push(`${text} ${JSON.stringify(detail)}`);
  await giveWeight(entry, roots, members, { info: () => undefined, warn, error: warn });
}

describe('a running attempt that asked for processors', () => {
  test.each([
    [1, 2, 'cpu.shares', '2048'],
    [1, 0.5, 'cpu.shares', '512'],
    [1, 0.001, 'cpu.shares', '2'],
    [1, 1000, 'cpu.shares', '262144'],
    [2, 2, 'cpu.weight', '200'],
    [2, 0.001, 'cpu.weight', '1'],
    [2, 2000, 'cpu.weight', '10000'],
  ] as const)('version %s, %s cores: %s is %s', async (version, cpu, file, weight) => {
    const entry = entryOf(cpu);
    const folder = makeGroup(entry);
    await give(entry, rootsOf(version));
    expect(readFileSync(path.join(folder, file), 'utf8')).toBe(weight);
    expect(readFileSync(path.join(folder, 'cgroup.procs'), 'utf8')).toBe('101102');
    expect(entry.groups).toEqual([folder]);
    // For whoever adopts it.
    expect(JSON.parse(readFileSync(path.join(entry.folder, 'groups'), 'utf8'))).toEqual([folder]);
    expect(warnings).toEqual([]);
  });

  test('has its group once, beside the one it was started in', async () => {
    const entry = entryOf(2);
    const folder = makeGroup(entry);
    entry.groups = ['/started/in'];
    await give(entry, rootsOf(1));
    expect(entry.groups).toEqual(['/started/in', folder]);
    await give(entry, rootsOf(1), membersOnce(103));
    expect(entry.groups).toEqual(['/started/in', folder]);
    expect(readFileSync(path.join(folder, 'cgroup.procs'), 'utf8')).toBe('101102');
  });

  test('that ends while its processes are moved is left alone from then on', async () => {
    const entry = entryOf(2);
    const folder = makeGroup(entry);
    let looks = 0;
    await give(entry, rootsOf(1), () => {
      looks += 1;
      entry.phase = 'ending';
      return Promise.resolve([{ pid: 101 }]);
    });
    expect(looks).toBe(1);
    expect(entry.groups).toEqual([folder]);
  });
});

test.each([
  ['asked for none', undefined, 'running'],
  ['is not running any more', 2, 'ending'],
] as const)('one that %s gets none', async (_, cpu, phase) => {
  const entry = entryOf(cpu, phase);
  await give(entry, rootsOf(1));
  expect(readdirSync(root)).toEqual([]);
  expect(entry.groups).toEqual([]);
});

test('where there is no control of processors there is no weight, and no complaint', async () => {
  const entry = entryOf(2);
  await give(entry, { version: 1, memory: root, cpu: null });
  expect(readdirSync(root)).toEqual([]);
  expect(warnings).toEqual([]);
});

test('a group that cannot be made is told of, and the attempt goes on', async () => {
  const entry = entryOf(2);
  await give(entry, { version: 1, memory: null, cpu: path.join(root, 'gone') });
  expect(warnings).toHaveLength(1);
  expect(warnings[0]).toContain('could not be given its processor weight');
  expect(warnings[0]).toContain(entry.uid);
});

test.each([
  [1, 5, 2000, null],
  [1, null, 2000, null],
  [2, 5, 2000, 2000],
  [2, null, 2000, null],
] as const)(
  'a start in version %s with %s bytes and %s millicores asked: weight at once %s',
  (version, memoryBytes, cpuMillicores, atStart) => {
    expect(limitsAtStart(rootsOf(version), { memoryBytes, cpuMillicores })).toEqual({
      memoryBytes,
      cpuMillicores: atStart,
    });
  },
);
