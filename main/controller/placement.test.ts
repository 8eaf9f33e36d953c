import { expect, test } from 'vitest';
import { World } from '../../core/model/test-world.js';
import type { WorkerObservation } from '../backends/backend.js';
import { Placement } from './placement.js';
import { PortRange } from './ports.js';

const machine: WorkerObservation = {
  id: 'w1',
  hostname: 'w1',
  state: 'HEALTHY',
  cpuMillicores: 1_000_000,
  memoryBytes: 2 ** 42,
  gpus: [],
  gpuNote: null,
  attributes: {},
  platform: 'linux',
  cpuModel: 'one',
  cpuCount: 1000,
  cpuBusyPercent: null,
  memoryAvailableBytes: 2 ** 42,
  disks: [],
  sampledAtMs: 0,
};

class NoPorts extends PortRange {
  override allot() {
    return null;
  }
}

test('a decision of which nothing can be carried out is not made again at once', () => {
  const world = new World();
  // More than one round places, and none of them gets what it needs.
  world.submit({ replicas: 600, cpu: 1, memory: 1, ports: ['http'] });
  const placement = new Placement(world.state);
  placement.load([machine]);
  let moved = 0;
  const { changes, more } = placement.place({
    nowMs: world.nowMs,
    backendId: 'local',
    fresh: { uid: () => 'u', suffix: () => 's' },
    ports: new NoPorts(),
    moved: () => (moved += 1),
    record: null,
  });
  expect([moved, changes.tasks.length, more]).toEqual([500, 0, false]);
});
