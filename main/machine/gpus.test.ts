import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { performance } from 'node:perf_hooks';
import { expect, test } from 'vitest';
import { createGpuReader } from './gpus.js';
import { fuseMountType, networkFileSystem } from './file-system.js';

const fixture = (name: string) => path.resolve(import.meta.dirname, '../../test/fixtures/nvidia-smi', name);
const nowMs = () => Date.now();
const nobody = () => null;

test.each([
  [[], 'nvidia-smi is not installed'],
  [[['0x020000', '0x10de']], 'nvidia-smi is not installed'],
  [
    [
      ['0x030000', '0x8086'],
      ['0x038000', '0x1002'],
    ],
    'nvidia-smi is not installed; there are AMD graphics, but jobs can be given NVIDIA cards only',
  ],
  [
    [
      ['0x030000', '0x1002'],
      ['0x030200', '0x10de'],
    ],
    'nvidia-smi is not installed, and there is an NVIDIA card: install its driver, which brings the program',
  ],
])('a machine without the tool has no cards and says why (%j)', async (devices, note) => {
  const bus = mkdtempSync(path.join(os.tmpdir(), 'iris-bus-'));
  try {
    for (const [at, [classCode = '', vendor = '']] of devices.entries()) {
      mkdirSync(path.join(bus, String(at)));
      writeFileSync(path.join(bus, String(at), 'class'), `${classCode}\n`);
      writeFileSync(path.join(bus, String(at), 'vendor'), `${vendor}\n`);
    }
    const reader = createGpuReader({ nowMs, command: 'no-such-nvidia-smi', bus });
    expect(await reader.read(nobody)).toEqual({ gpus: [], processes: [], note });
  } finally {
    rmSync(bus, { recursive: true });
  }
});

test('a card is busy by others when a process that computes is not ours', async () => {
  const reader = createGpuReader({
    nowMs,
    command: 'cat',
    args: [fixture('rtx-4000-sff-ada-schema-v13.xml')],
  });
  const [card] = (await reader.read(nobody)).gpus;
  expect(card).toMatchObject({ variant: 'rtx-4000-sff-ada', busyByOthers: true });
  expect((await reader.read(() => 'a1')).gpus[0]?.busyByOthers).toBe(false);
});

test('processes that compute are told with their card, and who asks at once shares one call', async () => {
  const file = path.join(mkdtempSync(path.join(os.tmpdir(), 'iris-gpus-')), 'calls');
  const capture = fixture('rtx-4000-sff-ada-schema-v13.xml');
  try {
    const reader = createGpuReader({
      nowMs,
      command: 'sh',
      args: ['-c', `echo call >>${file}; exec cat ${capture}`],
    });
    const readings = await Promise.all([reader.read(nobody), reader.read(nobody)]);
    const mebibyte = 1024 * 1024;
    const uuid = 'GPU-a0000001-0000-4000-8000-000000000001';
    for (const reading of readings) {
      expect(reading.processes).toEqual([
        { uuid, pid: 4003, name: '/opt/jobs/job-3', usedBytes: 160 * mebibyte },
        { uuid, pid: 4004, name: '/opt/jobs/job-4', usedBytes: 183 * mebibyte },
      ]);
    }
    expect(readFileSync(file, 'utf8')).toBe('call\n');
  } finally {
    rmSync(path.dirname(file), { recursive: true });
  }
});

test('a desktop that only draws leaves its card free', async () => {
  const reader = createGpuReader({
    nowMs,
    command: 'cat',
    args: [fixture('rtx-3080-wddm-long-process-names.xml')],
  });
  expect((await reader.read(nobody)).gpus[0]?.busyByOthers).toBe(false);
});

test('a tool that never answers is given up in time', async () => {
  const reader = createGpuReader({
    nowMs,
    command: 'sh',
    args: ['-c', 'trap "" TERM; while :; do sleep 0.05; done'],
    timeoutMs: 200,
  });
  const begin = performance.now();
  const reading = await reader.read(nobody);
  expect(performance.now() - begin).toBeLessThan(5000);
  expect(reading.note).toBe('nvidia-smi did not answer within 0.2 s');
});

test('a local path is no network file system; the type of a mount is that of the longest mount point', () => {
  expect(networkFileSystem('/')).toBeNull();
  const mounts = '1 0 0:1 / / rw - ext4 /dev/a rw\n2 1 0:2 / /mnt/my\\040lab rw - fuse.sshfs host:/ rw\n';
  expect(fuseMountType('/mnt/my lab/x', mounts)).toBe('fuse.sshfs');
  expect(fuseMountType('/mnt/mine', mounts)).toBe('ext4');
});
