/** Folders laid out as the kernel lays them out, in both versions of control groups. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createGroups, groupMembers, readGroupUsage, type GroupRoots } from './control-groups.js';
import { outcomeOf, type EndFacts } from './outcome.js';

const uid = '00000000000000aa';
let root: string;
beforeEach(() => {
  root = mkdtempSync(path.join(os.tmpdir(), 'iris-groups-'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function lay(folder: string, files: Readonly<Record<string, string>>): string {
  mkdirSync(folder, { recursive: true });
  for (const [name, text] of Object.entries(files)) writeFileSync(path.join(folder, name), text);
  return folder;
}
const read = (folder: string, name: string) => readFileSync(path.join(folder, name), 'utf8');

const events = (kills: number, limitMet = kills) =>
  `low 0\nhigh 0\nmax ${limitMet}\noom ${limitMet}\noom_kill ${kills}\noom_group_kill 0\n`;
const control = (kills: number) => `oom_kill_disable 0\nunder_oom 0\noom_kill ${kills}\n`;

describe('what a group used', () => {
  test('version 2: its peak, and how many the kernel ended for want of memory', () => {
    const folder = lay(path.join(root, 'a'), {
      'memory.peak': '33554432\n',
      'memory.current': '4096\n',
      'memory.events': events(2),
    });
    expect(readGroupUsage([folder])).toEqual({ peakMemoryBytes: 33_554_432, outOfMemoryKills: 2 });
  });

  test('version 2: a limit that was met without an end is no end', () => {
    const folder = lay(path.join(root, 'a'), { 'memory.peak': '10\n', 'memory.events': events(0, 7) });
    expect(readGroupUsage([folder]).outOfMemoryKills).toBe(0);
  });

  test('version 2 of a kernel that keeps no peak', () => {
    const folder = lay(path.join(root, 'a'), { 'memory.current': '4096\n', 'memory.events': events(1) });
    expect(readGroupUsage([folder])).toEqual({ peakMemoryBytes: null, outOfMemoryKills: 1 });
  });

  test('version 1: of the memory controller, beside the folder of the processors', () => {
    const memory = lay(path.join(root, 'memory'), {
      'memory.max_usage_in_bytes': '67108864\n',
      'memory.oom_control': control(1),
    });
    const cpu = lay(path.join(root, 'cpu'), { 'cpu.shares': '1024\n' });
    expect(readGroupUsage([memory, cpu])).toEqual({ peakMemoryBytes: 67_108_864, outOfMemoryKills: 1 });
  });

  test('nothing can be said of one that is gone', () => {
    expect(readGroupUsage([path.join(root, 'none')])).toEqual({ peakMemoryBytes: null, outOfMemoryKills: 0 });
  });
});

describe('limits', () => {
  test('version 2: no swap beside the limit, one end for all, a weight for the processors', () => {
    const roots: GroupRoots = { version: 2, memory: root, cpu: root };
    const [expected = ''] = createGroups(roots, uid, { memoryBytes: null, cpuMillicores: null });
    expect(expected).toBe('');
    const [folder = ''] = createGroups(roots, uid, { memoryBytes: 1, cpuMillicores: null });
    lay(folder, { 'memory.swap.max': 'max\n', 'memory.oom.group': '0\n', 'cpu.weight': '100\n' });
    expect(createGroups(roots, uid, { memoryBytes: 64e6, cpuMillicores: 2500 })).toEqual([folder]);
    const values = ['memory.max', 'memory.swap.max', 'memory.oom.group', 'cpu.weight'];
    // A control file takes what is written as a whole, a plain one keeps what was longer.
    expect(values.map((name) => Number.parseInt(read(folder, name), 10))).toEqual([64_000_000, 0, 1, 250]);
  });

  test('version 1: in the folders of both controllers', () => {
    const roots: GroupRoots = {
      version: 1,
      memory: lay(path.join(root, 'memory'), {}),
      cpu: lay(path.join(root, 'cpu'), {}),
    };
    const wanted = { memoryBytes: 64e6, cpuMillicores: 500 };
    const folders = createGroups(roots, uid, wanted);
    expect(folders).toHaveLength(2);
    const [memory = '', cpu = ''] = folders;
    lay(cpu, { 'cpu.shares': '1024' });
    createGroups(roots, uid, wanted);
    expect([read(memory, 'memory.limit_in_bytes'), read(cpu, 'cpu.shares').slice(0, 3)]).toEqual([
      '64000000',
      '512',
    ]);
  });

  test('members are told once, whatever folders they are in', () => {
    const one = lay(path.join(root, 'one'), { 'cgroup.procs': '12\n34\n' });
    const two = lay(path.join(root, 'two'), { 'cgroup.procs': '34\n0\n' });
    expect(groupMembers([one, two])).toEqual([12, 34]);
  });
});

describe.each([
  ['version 2', 'memory.events', events],
  ['version 1', 'memory.oom_control', control],
])('an end by SIGKILL in %s', (_, name, text) => {
  const endWith = (kills: number) => {
    const { outOfMemoryKills } = readGroupUsage([lay(path.join(root, 'a'), { [name]: text(kills) })]);
    const facts: EndFacts = {
      code: 137,
      timedOut: false,
      stop: null,
      memory: outOfMemoryKills > 0 ? { limitBytes: 32e6, measured: false } : null,
      timeLimitMs: null,
      fullDisk: null,
      program: 'train',
      otherwise: { code: 'UNKNOWN', message: '' },
    };
    return outcomeOf(facts).cause?.code;
  };

  test('is one for want of memory when the group says so, else somebody sent it', () => {
    expect([endWith(1), endWith(0)]).toEqual(['MEMORY_LIMIT', 'EXIT_OR_SIGNAL']);
  });
});
