import { appendFileSync, mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { eventually } from '../../test/harness/eventually.js';
import { capture, NvidiaStub } from '../../test/harness/nvidia-stub.js';
import { onlyCard, readerOf } from '../../test/harness/stub-reader.js';
import { createGpuReader, type GpuReader, type GpuReaderOptions, type GpuReading } from './gpus.js';
import { KernelLog } from './kernel-log.js';

const MiB = 1024 * 1024;
const nobody = () => null;
const [first, second, third, fourth] = [1, 2, 3, 4].map(
  (n) => `GPU-a000000${n}-0000-4000-8000-00000000000${n}`,
);
const k80 = 'k80-x4-minor-number-not-list-order.xml';

let stub: NvidiaStub;
let reader: GpuReader;
let clock: number;

beforeEach(() => {
  clock = 1_000_000;
});
afterEach(() => {
  vi.useRealTimers();
  reader.close?.();
  stub.dispose();
});

function open(name: string, more: Partial<GpuReaderOptions> = {}): GpuReader {
  stub = new NvidiaStub(name);
  reader = readerOf(stub, { nowMs: () => clock, loopMs: 50, ...more });
  return reader;
}

const only = () => onlyCard(reader);
const states = ({ gpus }: GpuReading) => gpus.map(({ state }) => state);

describe('each capture as jobs are given its cards', () => {
  test('four slices of a card, which itself is given to nobody', async () => {
    open('a100-mig-four-instances.xml');
    const uuids = [3, 4, 5, 6].map((id) => `MIG-b000000${id}-0000-5000-8000-000000000000`);
    stub.put(
      'list',
      `GPU 0: NVIDIA A100-SXM4-80GB (UUID: ${first})\n` +
        uuids.map((uuid, at) => `  MIG 1g.20gb     Device  ${at}: (UUID: ${uuid})\n`).join(''),
    );
    const { gpus, note, errorLog } = await reader.read(nobody);
    expect(note).toBeNull();
    expect(errorLog).toBe('not readable here');
    expect(gpus.map(({ uuid }) => uuid)).toEqual(uuids);
    for (const [at, gpu] of gpus.entries()) {
      expect(gpu).toMatchObject({
        name: `NVIDIA A100-SXM4-80GB MIG 1g.20gb (instance ${at + 3})`,
        variant: 'mig-1g.20gb',
        parentUuid: first,
        utilizationPercent: null,
        memoryTotalBytes: 19968 * MiB,
        memoryUsedBytes: 12 * MiB,
        temperatureCelsius: 27,
        state: 'FREE',
      });
    }
    expect(gpus[0]?.note).toBe(`a slice of ${first}, which draws 67.03 W; its own utilization is not told`);
  });

  test('slices whose UUIDs are not told go by their card and instances', async () => {
    open('a100-mig-four-instances.xml');
    const { gpus } = await reader.read(nobody);
    expect(gpus.map(({ uuid }) => uuid)).toEqual([3, 4, 5, 6].map((id) => `MIG-${first}/${id}/0`));
    expect(gpus[0]?.variant).toBe('mig-20gb');
  });

  test('busy although it does nothing at this moment', async () => {
    open('a10g-compute-process.xml');
    expect(await only()).toMatchObject({
      utilizationPercent: 0,
      state: 'BUSY',
      busyByOthers: true,
      stateReason: 'Used by /opt/jobs/job-1 (process 4001, 22 MiB).',
    });
  });

  test.each([
    ['gtx-1070-ti-short-old-schema.xml', { state: 'FREE', powerWatts: null }],
    ['gt-730-all-utilization-na.xml', { state: 'FREE', memoryTotalBytes: null, utilizationPercent: null }],
    ['gtx-1660-ti-named-graphics-device.xml', { state: 'FREE', name: 'Graphics Device' }],
    ['rtx-3060-driver-570.xml', { state: 'FREE', powerWatts: 11.63 }],
    ['rtx-3080-wddm-long-process-names.xml', { state: 'FREE', busyByOthers: false }],
    ['rtx-4000-sff-ada-schema-v13.xml', { state: 'BUSY', memoryUsedBytes: 3534 * MiB }],
    ['table-fan-err.txt', { state: 'FREE', note: expect.stringContaining('fan ERR!') }],
    ['query-text-h100-invalid-slowdown-lines.txt', { state: 'FREE', variant: 'h100' }],
  ])('%s', async (name, expected) => {
    open(name);
    expect(await only()).toMatchObject(expected);
  });

  test('the first two of four are busy; eight of a table are free', async () => {
    open(k80);
    expect(states(await reader.read(nobody))).toEqual(['BUSY', 'BUSY', 'FREE', 'FREE']);
    stub.show(capture('table-h100-x8-idle.txt'));
    const { gpus } = await reader.read(nobody);
    expect(gpus.filter(({ variant, state }) => variant === 'h100' && state === 'FREE')).toHaveLength(8);
  });

  test('a card that has no memory of its own: all of the machine, of which its processes use some', async () => {
    open('table-gb10-memory-not-supported.txt');
    stub.put('apps', capture('csv-gb10-compute-apps.csv'));
    expect(await only()).toMatchObject({
      variant: 'gb10',
      sharesHostMemory: true,
      memoryTotalBytes: os.totalmem(),
      memoryUsedBytes: 19135 * MiB,
      state: 'BUSY',
      note: 'uses the memory of the machine',
    });
  });

  test('a card without memory of its own, no process told of: what is used is unknown, not nothing', async () => {
    open('table-gb10-memory-not-supported.txt');
    expect(await only()).toMatchObject({ memoryTotalBytes: os.totalmem(), memoryUsedBytes: null });
  });

  test('where the whole description cannot be had, what the query tells', async () => {
    open('stdout-failed-to-initialize-nvml.txt');
    stub.put('all', 'Invalid combination of input arguments. Please run nvidia-smi -h for help.\n');
    stub.put('query', capture('csv-mig-insufficient-permissions.csv'));
    expect(await only()).toMatchObject({
      variant: 'a100-80gb',
      temperatureCelsius: 47,
      memoryTotalBytes: null,
      note: expect.stringContaining('[Insufficient Permissions]'),
      state: 'FREE',
    });
  });

  test('the words instead of an answer are told, and cards known before are silent', async () => {
    open('rtx-3060-driver-570.xml');
    await reader.read(nobody);
    stub.show(capture('stdout-failed-to-initialize-nvml.txt'));
    const { gpus, note } = await reader.read(nobody);
    expect(note).toContain('Failed to initialize NVML: Unknown Error: this program has lost its access');
    expect(gpus).toMatchObject([{ state: 'SILENT', utilizationPercent: null }]);
    stub.show(capture('rtx-3060-driver-570.xml'));
    expect(states(await reader.read(nobody))).toEqual(['FREE']);
  });

  test('neighbours by NVLink and memory node', async () => {
    open(k80);
    stub.put(
      'topo',
      [
        '\tGPU0\tGPU1\tGPU2\tGPU3\tCPU Affinity\tNUMA Affinity',
        'GPU0\t X \tNV4\tSYS\tSYS\t0-7\t0',
        'GPU1\tNV4\t X \tSYS\tSYS\t0-7\t0',
        'GPU2\tSYS\tSYS\t X \tPIX\t8-15\t1',
        'GPU3\tSYS\tSYS\tPIX\t X \t8-15\t1',
      ].join('\n'),
    );
    const { gpus } = await reader.read(nobody);
    expect(gpus.map(({ numaNode }) => numaNode)).toEqual([0, 0, 1, 1]);
    expect(gpus.map(({ nvlinkTo }) => nvlinkTo)).toEqual([[second], [first], [], []]);
  });

  test('how cards are joined is asked for a few times where there is no answer, not at each look', async () => {
    open(k80, { timeoutMs: 200 });
    stub.hangAt('topo', true);
    for (let look = 0; look < 6; look += 1)
      await eventually(async () => states(await reader.read(nobody))[0]).toBe('BUSY');
    expect(stub.calls().filter((call) => call === 'topo -m')).toHaveLength(3);
  });
});

describe('one card in trouble', () => {
  test('a lost card hides no other, and comes back when it was well for a while', async () => {
    open(k80, { cleanAfterMs: 60_000 });
    await reader.read(nobody);
    stub.lose('00002DF7:00:00.0');
    const { gpus, note } = await reader.read(nobody);
    expect(gpus.map(({ uuid }) => uuid)).toEqual([first, second, third, fourth]);
    expect(gpus.map(({ index }) => index)).toEqual([0, 1, 2, 3]);
    expect(gpus.map(({ state }) => state)).toEqual(['BUSY', 'SICK', 'FREE', 'FREE']);
    expect(gpus.map(({ powerWatts }) => powerWatts)).toEqual([135.72, null, 32.27, 34.44]);
    expect(gpus[1]?.stateReason).toContain('Unable to determine the device handle for GPU2DF7:00:00.0');
    expect(note).toBe('1 of 4 GPUs is lost to the driver');
    stub.take('fails');
    stub.show(capture(k80));
    expect(states(await reader.read(nobody))[1]).toBe('SICK');
    clock += 60_000;
    expect(states(await reader.read(nobody))[1]).toBe('BUSY');
  });

  test('one that does not answer when it is asked alone is silent, and no other is taken for lost', async () => {
    open(k80, { timeoutMs: 300 });
    // Its time passes once it was asked, not while it starts.
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    await reader.read(nobody);
    stub.lose('00002DF7:00:00.0');
    stub.hangCard('00004968:00:00.0');
    const reading = reader.read(nobody);
    await eventually(() => stub.calls()).toContain('-q -x -i 00004968:00:00.0');
    vi.advanceTimersByTime(300);
    const one = await reading;
    vi.useRealTimers();
    expect(states(one)).toEqual(['BUSY', 'SICK', 'SILENT', 'SILENT']);
    expect(one.gpus[2]?.stateReason).toBe('nvidia-smi did not answer within 0.3 s.');
    expect(one.lost).toEqual(new Set([second]));
    expect(one.note).toBe('1 of 4 GPUs is lost to the driver, 2 of 4 GPUs do not answer');
    // Next time it is asked last.
    await eventually(async () => states(await reader.read(nobody))).toEqual([
      'BUSY',
      'SICK',
      'SILENT',
      'FREE',
    ]);
  });

  test('an answer that ends in the midst is none: the cards it had not come to are not lost', async () => {
    open(k80);
    await reader.read(nobody);
    const text = capture(k80);
    stub.put('all', text.slice(0, text.indexOf('<gpu id="00004968')));
    stub.put('query', 'index, name, pci.bus_id, uuid\n');
    const { gpus, note, lost } = await reader.read(nobody);
    expect(gpus.map(({ state }) => state)).toEqual(['SILENT', 'SILENT', 'SILENT', 'SILENT']);
    expect(note).toBe('nvidia-smi ended in the middle of its answer');
    expect(lost).toBeUndefined();
    stub.put('all', text);
    expect(states(await reader.read(nobody))).toEqual(['BUSY', 'BUSY', 'FREE', 'FREE']);
  });

  test('lost before it was ever seen, the others are found by number', async () => {
    open(k80);
    const alone = cardOf('00001580:00:00.0');
    stub.lose('00002DF7:00:00.0');
    stub.putCard('0', alone);
    stub.putCard('1', stub.answer('all'));
    stub.putCard('2', cardOf('00004968:00:00.0'));
    stub.putCard('3', 'No devices were found\n');
    const { gpus } = await reader.read(nobody);
    expect(gpus.map(({ uuid }) => uuid)).toEqual([first, '00002DF7:00:00.0', third]);
    expect(gpus.map(({ index }) => index)).toEqual([0, 1, 2]);
    expect(gpus.map(({ state }) => state)).toEqual(['BUSY', 'SICK', 'FREE']);
  });

  test('released by hand it is given out again, also after a restart of this program', async () => {
    const folder = mkdtempSync(path.join(os.tmpdir(), 'iris-health-'));
    const healthFile = path.join(folder, 'health');
    try {
      open(k80, { healthFile });
      await reader.read(nobody);
      stub.lose('00004968:00:00.0');
      await reader.read(nobody);
      stub.take('fails');
      stub.show(capture(k80));
      const again = createGpuReader({ nowMs: () => clock, command: stub.command, healthFile });
      expect(states(await again.read(nobody))).toEqual(['BUSY', 'BUSY', 'SICK', 'FREE']);
      expect(again.release?.('GPU-none')).toBe(false);
      expect(again.release?.(third ?? '')).toBe(true);
      again.close?.();
      const third2 = createGpuReader({ nowMs: () => clock, command: stub.command, healthFile });
      expect(states(await third2.read(nobody))).toEqual(['BUSY', 'BUSY', 'FREE', 'FREE']);
      third2.close?.();
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test('new memory errors that could not be corrected, and what the card says of itself', async () => {
    open('a10g-compute-process.xml');
    await reader.read(nobody);
    const text = capture('a10g-compute-process.xml');
    stub.show(text.replace('<dram_uncorrectable>0<', '<dram_uncorrectable>2<'));
    expect(await only()).toMatchObject({
      state: 'SICK',
      eccUncorrected: 2,
      stateReason: '2 new memory errors that could not be corrected.',
    });
    stub.show(text.replace('<remapped_row_failure>No<', '<remapped_row_failure>Yes<'));
    expect(await only()).toMatchObject({ state: 'SICK', stateReason: expect.stringContaining('replaced') });
  });

  test("an error in the kernel's log since the first look", async () => {
    const folder = mkdtempSync(path.join(os.tmpdir(), 'iris-kmsg-'));
    const file = path.join(folder, 'kmsg');
    const line = (code: number, text: string) =>
      `4,1,1,-;NVRM: Xid (PCI:4968:00:00): ${code}, pid=1, ${text}\n`;
    appendFileSync(file, line(79, 'before'));
    try {
      open(k80, { kernelLog: new KernelLog(file) });
      expect((await reader.read(nobody)).errorLog).toBe('read');
      expect(states(await reader.read(nobody))[2]).toBe('FREE');
      appendFileSync(file, line(31, 'a fault of the program'));
      expect(states(await reader.read(nobody))[2]).toBe('FREE');
      appendFileSync(file, line(94, 'Contained memory error'));
      const { gpus } = await reader.read(nobody);
      expect(gpus[2]).toMatchObject({
        state: 'SICK',
        stateReason:
          "The kernel's log has Xid 94 of it: memory error, kept to one program (pid=1, Contained memory error).",
      });
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test('a log that is long at the first look is history to its end, and what comes then is not', async () => {
    const folder = mkdtempSync(path.join(os.tmpdir(), 'iris-kmsg-'));
    const file = path.join(folder, 'kmsg');
    const line = '4,1,1,-;NVRM: Xid (PCI:4968:00:00): 79, pid=1, it went wrong\n';
    const noise = '6,1,1,-;usb 1-1: new device\n';
    // Of a file so much is read at a time as of one record.
    appendFileSync(file, `${noise.repeat(5000)}${line}`);
    try {
      open(k80, { kernelLog: new KernelLog(file, 2) });
      await reader.read(nobody);
      for (let look = 0; look < 5; look += 1) expect(states(await reader.read(nobody))[2]).toBe('FREE');
      // Seen at the next look, also behind more than is read in one go.
      appendFileSync(file, noise.repeat(1500) + line);
      expect(states(await reader.read(nobody))[2]).toBe('SICK');
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

describe('between looks', () => {
  const line = (bus: string, uuid: string | undefined, power: string, memory = 600) =>
    `${bus}, ${uuid}, 50, ${memory}, 60, ${power}, 800, 2500, 0\n`;
  const loop = (power: string, memory = 600) =>
    line('00001580:00:00.0', first, power, memory) + line('00004968:00:00.0', third, '40.00', 0);

  test('figures move, a bad one leaves a gap, and when memory moves it is time to look', async () => {
    open(k80);
    const seen: (number | null)[] = [];
    let looks = 0;
    await reader.read(nobody);
    stub.put('loop', `${loop('100.00')}WARNING: infoROM is corrupted at gpu 0000:15:00.0\n`);
    reader.follow?.(true, {
      reading: ({ gpus }) => seen.push(gpus[0]?.powerWatts ?? null),
      look: () => {
        looks += 1;
      },
    });
    await eventually(() => seen.includes(100)).toBe(true);
    expect(looks).toBe(0);
    stub.put('loop', loop('ERR!'));
    await eventually(() => seen.includes(null)).toBe(true);
    stub.put('loop', loop('101.00', 2000));
    await eventually(() => seen.includes(101) && looks > 0).toBe(true);
    const calls = stub.calls().filter((call) => call.includes('--loop-ms'));
    expect(calls).toEqual([expect.stringContaining('--loop-ms=50')]);
    const { gpus } = await reader.read(nobody);
    expect(gpus[2]).toMatchObject({ uuid: third, state: 'FREE' });
  });

  test('one that falls silent is given up, and no other call is made while it hangs', async () => {
    open(k80, { timeoutMs: 300 });
    await eventually(async () => states(await reader.read(nobody))[2]).toBe('FREE');
    stub.put('loop', loop('100.00'));
    let told = 0;
    const readings: GpuReading[] = [];
    reader.follow?.(true, {
      reading: (reading) => readings.push(reading),
      look: () => {
        told += 1;
      },
    });
    await eventually(() => readings.length > 0).toBe(true);
    stub.put('hang', '');
    await eventually(() => told > 0).toBe(true);
    const { gpus, note } = await reader.read(nobody);
    expect(note).toMatch(/^nvidia-smi (did not answer within 0.3 s|has not answered)/);
    expect(gpus.map(({ state }) => state)).toEqual(['SILENT', 'SILENT', 'SILENT', 'SILENT']);
    stub.take('hang');
    await eventually(async () => states(await reader.read(nobody))[2] === 'FREE').toBe(true);
  });
});

function cardOf(busId: string): string {
  const text = capture(k80);
  const whole = new RegExp(`<gpu id="${busId}">[\\s\\S]*?</gpu>`).exec(text)?.[0] ?? '';
  return whole === '' ? '' : `<?xml version="1.0" ?><nvidia_smi_log>${whole}</nvidia_smi_log>`;
}
