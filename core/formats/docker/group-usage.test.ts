import { expect, test } from 'vitest';
import { groupFigures, groupPlace } from './group-usage.js';
import { readStats } from './stats.js';

const id = 'f00dfeed'.repeat(8);

test('finds the groups of a container in both versions, and none of anything else', () => {
  const one = `5:cpu,cpuacct:/docker/${id}\n4:memory:/docker/${id}\n0::/system.slice/docker.service\n`;
  expect(groupPlace(one, id)).toEqual({ version: 1, cpu: `/docker/${id}`, memory: `/docker/${id}` });
  const two = `0::/system.slice/docker-${id}.scope\n`;
  const folder = `/system.slice/docker-${id}.scope`;
  expect(groupPlace(two, id)).toEqual({ version: 2, cpu: folder, memory: folder });
  // A process of this machine that has the number of the far machine's.
  expect(groupPlace(`0::/user.slice/session-2.scope\n`, id)).toBeNull();
  expect(groupPlace('', id)).toBeNull();
});

test('reads processor time, memory without what can be dropped, and its peak', () => {
  const read =
    (files: Readonly<Record<string, string>>) =>
    (controller: string, name: string): string | null =>
      files[`${controller} ${name}`] ?? null;
  const place = { cpu: '/a', memory: '/b' };
  const one = {
    'cpu cpuacct.usage': '2500000000\n',
    'memory memory.usage_in_bytes': '5000\n',
    'memory memory.stat': 'inactive_file 1\ntotal_inactive_file 1000\n',
    'memory memory.max_usage_in_bytes': '9000\n',
  };
  const figures = { cpuSeconds: 2.5, memoryBytes: 4000, peakMemoryBytes: 9000 };
  expect(groupFigures({ version: 1, ...place }, read(one))).toEqual(figures);
  const two = {
    'cpu cpu.stat': 'usage_usec 2500000\nuser_usec 1\n',
    'memory memory.current': '5000\n',
    'memory memory.stat': 'anon 3000\ninactive_file 1000\n',
    'memory memory.peak': '9000\n',
  };
  expect(groupFigures({ version: 2, ...place }, read(two))).toEqual(figures);
  const { 'memory memory.peak': _, ...older } = two;
  expect(groupFigures({ version: 2, ...place }, read(older))).toEqual({ ...figures, peakMemoryBytes: null });
  const nothing = { cpuSeconds: null, memoryBytes: null, peakMemoryBytes: null };
  expect(groupFigures({ version: 2, ...place }, () => null)).toEqual(nothing);
});

test("takes processor time from the Engine's statistics too", () => {
  const sample = readStats({ cpu_stats: { cpu_usage: { total_usage: 1_500_000_000 } } });
  expect(sample).toMatchObject({ cpuSeconds: 1.5, memoryBytes: null });
});
