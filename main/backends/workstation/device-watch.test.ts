import { expect, test } from 'vitest';
import { plainGpu, type GpuView } from '../../../core/contract/gpus.js';
import { launchOf } from '../../../test/harness/backend-probe.js';
import { DeviceWatch } from './device-watch.js';
import { newEntry } from './process/attempt-entry.js';

const card = 'GPU-1';

type User = readonly [pid: number, usedBytes: number];

function gpu(users: readonly User[], uuid = card): GpuView {
  const processes = users.map(([pid, usedBytes]) => ({
    pid,
    usedBytes,
    user: 'ben',
    name: 'python',
    computes: true,
    attemptUid: null,
  }));
  return { ...plainGpu, uuid, index: 0, name: 'H100', variant: 'h100', processes, claimedBy: [] };
}

test('who computes on a held card is told once, not each time it uses more or less', () => {
  const said: string[] = [];
  const watch = new DeviceWatch({
    monotonicMs: () => 0,
    isAlive: () => true,
    warn: (_, { code, message }) => said.push(`${code}: ${message}`),
    lose: () => undefined,
  });
  const entry = newEntry('a', '', launchOf({ command: ['true'], gpu: '2' }, { devices: [card, 'GPU-2'] }));
  entry.phase = 'running';
  watch.add(entry, [gpu([[3, 1e6]])]);
  const look = (...users: User[]) => watch.look([gpu(users)], new Set());
  look([3, 5e6]);
  expect(said).toEqual([]);
  for (let used = 1; used <= 50; used += 1) look([3, 1e6], [4001, used * 20e6]);
  expect(said).toHaveLength(1);
  expect(said[0]).toContain(
    'GPU_INTRUDER: Other processes compute on its GPU H100 (GPU-1): python of ben (process 4001',
  );
  look([4001, 1e9], [4002, 1e9]);
  expect(said).toHaveLength(2);
  expect(said[1]).toContain('process 4002');
  look([4002, 2e9]);
  expect(said).toHaveLength(2);
  // On another of its cards it is news.
  for (let used = 1; used <= 5; used += 1)
    watch.look([gpu([[4002, 1e9]]), gpu([[4002, used]], 'GPU-2')], new Set());
  expect(said).toHaveLength(3);
  expect(said[2]).toContain('its GPU H100 (GPU-2): python of ben (process 4002');
});
