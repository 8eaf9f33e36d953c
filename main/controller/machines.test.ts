import { expect, test } from 'vitest';
import type { DockerState } from '../../core/contract/machines.js';
import type { WorkerObservation } from '../backends/backend.js';
import { machineViews } from './machines.js';

const disk = { mountPoint: '/', purpose: 'system', totalBytes: 1e12, freeBytes: 4e11 };
const worker: WorkerObservation = {
  id: 'here',
  hostname: 'here',
  state: 'HEALTHY',
  cpuMillicores: 4000,
  memoryBytes: 1e9,
  gpus: [],
  gpuNote: null,
  attributes: {},
  platform: '',
  cpuModel: '',
  cpuCount: 4,
  cpuBusyPercent: null,
  memoryAvailableBytes: 1e9,
  disks: [disk],
  sampledAtMs: 0,
};
const nothing = { unfinishedAttempts: () => [], machine: () => undefined, machines: () => [] };

function disksWith(storage: DockerState['storage']) {
  const docker: DockerState = { state: 'READY', version: '1', gpus: false, message: null, storage };
  return machineViews([{ ...worker, docker }], nothing)[0]?.disks;
}

test('where Docker keeps its data is a disk of the machine, once', () => {
  expect(disksWith(null)).toEqual([disk]);
  expect(disksWith({ path: '/var/lib/docker', totalBytes: 1e12, freeBytes: 4.001e11 })).toEqual([disk]);
  const own = { totalBytes: 2e12, freeBytes: 1e11 };
  expect(disksWith({ path: '/docker', ...own })).toEqual([
    disk,
    { mountPoint: '/docker', purpose: 'images and containers of Docker', ...own },
  ]);
});
