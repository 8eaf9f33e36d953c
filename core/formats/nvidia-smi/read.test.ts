import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { parseCardsList } from './cards-list.js';
import { cardsOfQuery, parseComputeApps, parseSampleLine, sampleColumns } from './csv.js';
import { failureSentence, lostCardOf } from './failures.js';
import { readNvidiaSmi } from './read.js';
import { parseTopology } from './topology.js';
import { parseXid, seriousXid } from './xid.js';

const folder = path.resolve(import.meta.dirname, '../../../test/fixtures/nvidia-smi');
const fixture = (name: string) => readFileSync(path.join(folder, name), 'utf8');
const MiB = 1024 * 1024;

function cards(text: string) {
  const reading = readNvidiaSmi(text);
  if (!reading.ok) throw new Error(reading.reason);
  return reading.cards;
}

describe('answers to queries', () => {
  test('a card whose memory may not be looked at is there, its memory unknown and not 0', () => {
    const [card, ...more] = cardsOfQuery(fixture('csv-mig-insufficient-permissions.csv'), []);
    expect(more).toEqual([]);
    expect(card).toMatchObject({
      name: 'NVIDIA A100-SXM4-80GB',
      variant: 'a100-80gb',
      temperatureCelsius: 47,
      utilizationPercent: null,
      memoryUsedBytes: null,
      memoryTotalBytes: null,
      note: 'unknown: utilization [N/A], memory used [Insufficient Permissions], memory total [Insufficient Permissions]',
    });
  });

  test('eight cards, of which one has a fan that is not known', () => {
    const found = cardsOfQuery(fixture('csv-one-fan-unknown-error.csv'), [
      ...['name', 'utilization.gpu', 'utilization.memory', 'temperature.gpu', 'power.draw', 'power.limit'],
      ...['fan.speed', 'pstate', 'clocks.sm', 'clocks.mem', 'power.max_limit', 'power.default_limit'],
    ]);
    expect(found.map(({ index }) => index)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    expect(found.map(({ fanPercent }) => fanPercent)).toEqual([null, 60, 83, 65, 77, 71, 83, 71]);
    expect(found.map(({ utilizationPercent }) => utilizationPercent)).toEqual([
      53, 78, 63, 75, 69, 73, 67, 83,
    ]);
    expect(found[0]).toMatchObject({ powerWatts: 123, clockMhz: 1746, note: 'unknown: fan [Unknown Error]' });
    expect(found.slice(1).map(({ note }) => note)).toEqual(Array.from({ length: 7 }, () => null));
  });

  test('an old card tells its temperature and its fan only', () => {
    const [card] = cardsOfQuery(fixture('csv-not-supported-gtx-770.csv'), [
      ...['name', 'utilization.gpu', 'utilization.memory', 'temperature.gpu', 'power.draw', 'power.limit'],
      ...['fan.speed', 'pstate', 'clocks.sm', 'clocks.mem', 'power.max_limit', 'power.default_limit'],
    ]);
    expect(card).toMatchObject({
      variant: 'gtx-770',
      temperatureCelsius: 52,
      fanPercent: 52,
      utilizationPercent: null,
      powerWatts: null,
      clockMhz: null,
    });
  });

  test('memory that is shared with the host: unknown in the query, told by the processes', () => {
    const asked = ['memory.used', 'memory.total', 'utilization.memory'];
    expect(cardsOfQuery(fixture('csv-gb10-unified-memory-na.csv'), asked)).toMatchObject([
      { memoryUsedBytes: null, memoryTotalBytes: null },
    ]);
    expect(parseComputeApps(fixture('csv-gb10-compute-apps.csv'))).toEqual([
      {
        uuid: 'GPU-a0000001-0000-4000-8000-000000000001',
        process: {
          pid: 4001,
          type: 'C',
          name: '/opt/jobs/job-1',
          usedBytes: 19135 * MiB,
          computes: true,
          gpuInstanceId: null,
        },
      },
    ]);
  });

  test('names of processes may hold commas', () => {
    expect(parseComputeApps('GPU-1, 7, python train.py --gpus=0,1, 12 MiB\n')[0]?.process).toMatchObject({
      pid: 7,
      name: 'python train.py --gpus=0,1',
      usedBytes: 12 * MiB,
    });
  });

  test('two cards are two rows, whatever is asked', () => {
    expect(cardsOfQuery('16380\n5\n', ['memory.total']).map((card) => card.memoryTotalBytes)).toEqual([
      16380 * MiB,
      5 * MiB,
    ]);
  });

  test('a sample: a bad word costs one value, a lost card says so, a line cut short is none', () => {
    const good = '00000000:01:00.0, GPU-1, 97, 22000, 71, 301.20, 1800, 9501, 0';
    expect(sampleColumns).toHaveLength(9);
    expect(parseSampleLine(good)).toEqual({
      busId: '00000000:01:00.0',
      uuid: 'GPU-1',
      utilizationPercent: 97,
      memoryUsedBytes: 22000 * MiB,
      temperatureCelsius: 71,
      powerWatts: 301.2,
      clockMhz: 1800,
      memoryClockMhz: 9501,
      eccUncorrected: 0,
      lost: null,
    });
    expect(parseSampleLine(good.replace('301.20', 'ERR!'))).toMatchObject({
      powerWatts: null,
      clockMhz: 1800,
    });
    expect(parseSampleLine(good.replace('97', '[GPU is lost]'))?.lost).toBe('[GPU is lost]');
    expect(parseSampleLine(good.replace('97', '[GPU requires reset]'))?.lost).toBe('[GPU requires reset]');
    expect(parseSampleLine(good.slice(0, 30))).toBeNull();
    expect(parseSampleLine('Unable to determine the device handle')).toBeNull();
  });
});

describe('tables and text', () => {
  test('a fan that cannot be read, and a mode that lets one process in', () => {
    expect(cards(fixture('table-fan-err.txt'))).toMatchObject([
      {
        uuid: '00000000:01:00.0',
        name: 'NVIDIA GeForce ...',
        temperatureCelsius: 38,
        powerWatts: 49,
        powerLimitWatts: 450,
        memoryUsedBytes: 2021 * MiB,
        memoryTotalBytes: 23028 * MiB,
        utilizationPercent: 0,
        computeMode: 'E. Process',
        note: 'in exclusive-process mode: one process at a time; unknown: fan ERR!',
      },
    ]);
  });

  test('a card without memory of its own', () => {
    expect(cards(fixture('table-gb10-memory-not-supported.txt'))).toMatchObject([
      {
        uuid: '0000000F:01:00.0',
        variant: 'gb10',
        sharesHostMemory: true,
        temperatureCelsius: 41,
        powerWatts: 11,
        powerLimitWatts: null,
        memoryUsedBytes: null,
        memoryTotalBytes: null,
        utilizationPercent: 0,
        note: 'unknown: memory used Not Supported, memory total Not Supported',
      },
    ]);
  });

  test('eight idle cards', () => {
    const found = cards(fixture('table-h100-x8-idle.txt'));
    expect(found).toHaveLength(8);
    expect(new Set(found.map(({ variant }) => variant))).toEqual(new Set(['h100']));
    expect(found.map(({ busId }) => busId?.slice(9, 11))).toEqual([
      '19',
      '3B',
      '4C',
      '5D',
      '9B',
      'BB',
      'CB',
      'DB',
    ]);
    expect(found.map(({ powerWatts }) => powerWatts)).toEqual([72, 74, 70, 72, 73, 74, 73, 72]);
    expect(found.every(({ note, processes }) => note === null && processes.length === 0)).toBe(true);
  });

  test('a log whose keys have moved is read past them', () => {
    expect(cards(fixture('query-text-h100-invalid-slowdown-lines.txt'))).toMatchObject([
      {
        uuid: 'GPU-a0000001-0000-4000-8000-000000000001',
        busId: '00000000:53:00.0',
        variant: 'h100',
        migEnabled: false,
      },
    ]);
  });
});

describe('what the tool says instead', () => {
  test('the card because of which nothing is told', () => {
    expect(lostCardOf(fixture('stdout-device-handle-unknown-error.txt'))).toBe('00000000:CF:00.0');
    expect(lostCardOf('No devices were found')).toBeNull();
  });

  test.each([
    [
      fixture('stdout-failed-to-initialize-nvml.txt'),
      /^Failed to initialize NVML: Unknown Error: .*start the container/,
    ],
    [
      'Failed to initialize NVML: Driver/library version mismatch\nNVML library version: 550.54',
      /restart the machine/,
    ],
    ["NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure", /not loaded/],
    ['', /^nvidia-smi printed nothing$/],
    ['something new', /^something new$/],
  ])('%j says what to do', (text, sentence) => {
    expect(failureSentence(text)).toMatch(sentence);
  });
});

describe('names of slices, how cards are joined, errors in the kernel log', () => {
  test('slices have their UUIDs in the list alone', () => {
    const text = [
      'GPU 0: NVIDIA A100-SXM4-80GB (UUID: GPU-a0000001-0000-4000-8000-000000000001)',
      '  MIG 1g.10gb     Device  0: (UUID: MIG-b0000001-0000-5000-8000-000000000001)',
      '  MIG 3g.40gb     Device  1: (UUID: MIG-b0000002-0000-5000-8000-000000000002)',
      'GPU 1: NVIDIA T4 (UUID: GPU-a0000002-0000-4000-8000-000000000002)',
    ].join('\n');
    const [first, second] = parseCardsList(text);
    expect(first?.slices).toEqual([
      { profile: '1g.10gb', index: 0, uuid: 'MIG-b0000001-0000-5000-8000-000000000001' },
      { profile: '3g.40gb', index: 1, uuid: 'MIG-b0000002-0000-5000-8000-000000000002' },
    ]);
    expect(second).toMatchObject({ index: 1, name: 'NVIDIA T4', slices: [] });
  });

  test('two pairs of cards on two memory nodes', () => {
    const text = [
      '\tGPU0\tGPU1\tGPU2\tGPU3\tNIC0\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID',
      'GPU0\t X \tNV12\tSYS\tSYS\tPXB\t0-31\t0\t\tN/A',
      'GPU1\tNV12\t X \tSYS\tSYS\tPXB\t0-31\t0\t\tN/A',
      'GPU2\tSYS\tSYS\t X \tNV4\tSYS\t32-63\t1\t\tN/A',
      'GPU3\tSYS\tSYS\tNV4\t X \tSYS\t32-63\t1\t\tN/A',
      'NIC0\tPXB\tPXB\tSYS\tSYS\t X \t\t',
      '',
      'Legend:',
    ].join('\n');
    expect([...parseTopology(text)]).toEqual([
      [0, { nvlinkTo: [1], numaNode: 0 }],
      [1, { nvlinkTo: [0], numaNode: 0 }],
      [2, { nvlinkTo: [3], numaNode: 1 }],
      [3, { nvlinkTo: [2], numaNode: 1 }],
    ]);
    expect(parseTopology('Invalid combination of input arguments').size).toBe(0);
    const single = `\tGPU0\tCPU Affinity\tNUMA Affinity\nGPU0\t X \t0-15\t\tN/A`;
    expect(parseTopology(single).get(0)).toEqual({ nvlinkTo: [], numaNode: null });
  });

  test('an error of a card, and one of a program that ran on it', () => {
    const line = 'NVRM: Xid (PCI:0000:cf:00): 79, pid=4001, name=python, GPU has fallen off the bus.';
    const xid = parseXid(`6,900,123456,-;${line}`);
    expect(xid).toEqual({
      busId: '00000000:CF:00.0',
      code: 79,
      detail: 'pid=4001, name=python, GPU has fallen off the bus.',
    });
    expect(xid === null ? null : seriousXid(xid)).toBe('the card has fallen off the bus');
    expect(seriousXid({ busId: '', code: 31, detail: '' })).toBeNull();
    expect(parseXid('usb 1-1: new device')).toBeNull();
  });
});
