import { expect, test } from 'vitest';
import { plainGpu, type GpuView } from '../../core/contract/gpus.js';
import type { Machine } from '../../core/model/entities.js';
import type { WorkerObservation } from '../backends/backend.js';
import { offerOf } from './machine-offers.js';

const card = (index: number, more: Partial<GpuView> = {}): GpuView => ({
  ...plainGpu,
  processes: [],
  claimedBy: [],
  uuid: `GPU-${index}`,
  index,
  name: 'H100',
  variant: 'h100',
  ...more,
});

const worker = (...gpus: GpuView[]): WorkerObservation => ({
  id: 'here',
  hostname: 'here',
  state: 'HEALTHY',
  cpuMillicores: 4000,
  memoryBytes: 1e9,
  gpus,
  gpuNote: null,
  attributes: {},
  platform: '',
  cpuModel: '',
  cpuCount: 4,
  cpuBusyPercent: null,
  memoryAvailableBytes: 1e9,
  disks: [],
  sampledAtMs: 0,
});

const setBy = (attributes: Machine['attributes']): Machine => ({
  id: 'here',
  address: null,
  identity: null,
  scheduling: 'OPEN',
  drainDeadlineMs: null,
  attributes,
  taints: [],
  wakeAddress: null,
  addedAtMs: 0,
  addedBy: 'ann',
});

const process = { pid: 1, user: 'ben', name: 'p', usedBytes: null, computes: true, attemptUid: null };
const busy: Partial<GpuView> = { state: 'BUSY', busyByOthers: true, processes: [process] };

test('sick and silent cards are given to nobody; what is not known of a card does not matter', () => {
  const { gpus } = offerOf(
    worker(
      card(0),
      card(1, { state: 'SICK' }),
      card(2, { state: 'SILENT' }),
      card(3, { note: 'unknown: all' }),
    ),
    undefined,
  );
  expect(gpus.map(({ usable }) => usable)).toEqual([true, false, false, true]);
  expect(gpus.map(({ kept }) => kept)).toEqual([undefined, true, undefined, undefined]);
});

test('a machine on which the last tasks could not be started is given none, and that is the reason', () => {
  expect(offerOf(worker(), undefined)).toMatchObject({ healthy: true });
  expect(offerOf({ ...worker(), state: 'DEGRADED', startsNothing: true }, undefined)).toMatchObject({
    healthy: false,
    closed: 'here could start none of the last tasks it was given',
  });
});

test.each([
  [undefined, undefined],
  ['READY', undefined],
  ['ABSENT', 'here has no Docker'],
  ['FAILED', 'Docker on here cannot be used'],
  ['UNKNOWN', 'Docker on here was not looked at yet'],
] as const)('a machine whose Docker is %s takes no containers for the reason: %s', (state, reason) => {
  const docker = state === undefined ? undefined : { state, version: null, gpus: false, message: null };
  expect(offerOf({ ...worker(), ...(docker && { docker }) }, undefined).noContainers).toBe(reason);
});

test('cards that others use or claim are avoided, and who it is goes with them', () => {
  const { gpus } = offerOf(worker(card(0, busy), card(1, { claimedBy: ['cat'] }), card(2)), undefined);
  expect(gpus.map(({ busyByOthers, usedBy }) => [busyByOthers, usedBy])).toEqual([
    [true, ['ben']],
    [true, ['cat']],
    [false, undefined],
  ]);
});

test('where that is set, the use by others is ignored, their claims never', () => {
  const row = setBy({ 'busy-gpus': 'ignore' });
  const { gpus } = offerOf(worker(card(0, busy), card(1, { claimedBy: ['cat'] })), row);
  expect(gpus.map(({ busyByOthers }) => busyByOthers)).toEqual([false, true]);
});

test("the user's own order of cards goes before neighbourhoods; those not named come last", () => {
  const cards = [0, 1, 2, 3].map((index) =>
    card(index, { numaNode: index % 2, nvlinkTo: ['GPU-0', 'GPU-1'] }),
  );
  const plain = offerOf(worker(...cards), undefined).gpus;
  expect(plain.map(({ index, numaNode }) => [index, numaNode])).toEqual([
    [0, 0],
    [1, 1],
    [2, 0],
    [3, 1],
  ]);
  const { gpus } = offerOf(worker(...cards), setBy({ 'gpu-order': '3, GPU-1' }));
  const order = [...gpus].sort((left, right) => left.index - right.index).map(({ uuid }) => uuid);
  expect(order).toEqual(['GPU-3', 'GPU-1', 'GPU-0', 'GPU-2']);
  expect(gpus.every((gpu) => gpu.numaNode === undefined && gpu.linkGroup === undefined)).toBe(true);
});

test("what others' attempts have of the machine is not offered", () => {
  const others = { cpuMillicores: 1000, memoryBytes: 5 };
  expect(offerOf({ ...worker(), others }, undefined).others).toEqual(others);
});
