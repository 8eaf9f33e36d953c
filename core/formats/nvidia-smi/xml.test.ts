import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import type { NvidiaCard } from './card.js';
import { isCutShort, parseNvidiaSmi } from './xml.js';

const folder = path.resolve(import.meta.dirname, '../../../test/fixtures/nvidia-smi');
const MiB = 1024 * 1024;

function cards(file: string): readonly NvidiaCard[] {
  const reading = parseNvidiaSmi(readFileSync(path.join(folder, file), 'utf8'));
  if (!reading.ok) throw new Error(reading.reason);
  return reading.cards;
}

function only(file: string): NvidiaCard {
  const [card, ...more] = cards(file);
  if (card === undefined || more.length > 0) throw new Error(`${file} holds ${more.length + 1} cards`);
  return card;
}

describe('captures of real machines', () => {
  test('every capture gives at least one card with a name, a variant and an identity', () => {
    const files = readdirSync(folder).filter((file) => file.endsWith('.xml'));
    expect(files.length).toBeGreaterThanOrEqual(9);
    for (const file of files) {
      for (const card of cards(file)) {
        expect(card.name, file).not.toBe('unknown card');
        expect(card.variant, file).toMatch(/^[a-z0-9.-]+$/);
        expect(card.uuid, file).toMatch(/^GPU-[0-9a-f-]{36}$/);
      }
    }
  });

  test('MIG on: one card, its use unknown and not 0, its memory not added up with the slices', () => {
    const card = only('a100-mig-four-instances.xml');
    expect(card).toMatchObject({
      name: 'NVIDIA A100-SXM4-80GB',
      variant: 'a100-80gb',
      migEnabled: true,
      utilizationPercent: null,
      memoryTotalBytes: 81920 * MiB,
      memoryUsedBytes: 50 * MiB,
      temperatureCelsius: 27,
      powerWatts: 67.03,
    });
    expect(card.note).toBe('unknown: utilization N/A');
    expect(card.slices.map(({ gpuInstanceId }) => gpuInstanceId)).toEqual([3, 4, 5, 6]);
    for (const slice of card.slices)
      expect(slice).toMatchObject({
        computeInstanceId: 0,
        memoryTotalBytes: 19968 * MiB,
        memoryUsedBytes: 12 * MiB,
        eccUncorrected: 0,
      });
  });

  test('a process that draws on a card without a screen uses it, 22 MiB of it, however idle it is', () => {
    const card = only('a10g-compute-process.xml');
    expect(card).toMatchObject({
      utilizationPercent: 0,
      memoryUsedBytes: 22 * MiB,
      powerWatts: 25.58,
      note: null,
    });
    expect(card.processes).toEqual([
      {
        pid: 4001,
        type: 'G',
        name: '/opt/jobs/job-1',
        usedBytes: 22 * MiB,
        computes: true,
        gpuInstanceId: null,
      },
    ]);
  });

  test('an old short log: what is missing is unknown, the card is usable', () => {
    expect(only('gtx-1070-ti-short-old-schema.xml')).toMatchObject({
      busId: '00000000:01:00.0',
      variant: 'gtx-1070-ti',
      memoryTotalBytes: 4096 * MiB,
      memoryUsedBytes: 42 * MiB,
      utilizationPercent: 0,
      temperatureCelsius: 39,
      powerWatts: null,
      processes: [],
      note: 'unknown: power N/A',
    });
  });

  test('no memory section and every use N/A: the card is listed, all measures unknown', () => {
    expect(only('gt-730-all-utilization-na.xml')).toMatchObject({
      variant: 'gt-730',
      utilizationPercent: null,
      memoryUsedBytes: null,
      memoryTotalBytes: null,
      temperatureCelsius: null,
      powerWatts: null,
    });
  });

  test('the index is the place in the list, whatever the minor numbers are', () => {
    const found = cards('k80-x4-minor-number-not-list-order.xml');
    expect(found.map((card) => card.index)).toEqual([0, 1, 2, 3]);
    expect(new Set(found.map((card) => card.uuid)).size).toBe(4);
    expect(found.map((card) => card.utilizationPercent)).toEqual([99, 99, 0, 0]);
    expect(found.map((card) => card.powerWatts)).toEqual([135.72, 139.71, 32.27, 34.44]);
  });

  test('a driver that splits power into instant and average: the instant one', () => {
    expect(only('rtx-3060-driver-570.xml')).toMatchObject({ powerWatts: 11.63, migEnabled: false });
    expect(only('rtx-4000-sff-ada-schema-v13.xml')).toMatchObject({
      variant: 'rtx-4000-sff-ada',
      memoryUsedBytes: 3534 * MiB,
      powerWatts: 8.44,
    });
  });

  test('names of processes may hold anything', () => {
    const card = only('rtx-3080-wddm-long-process-names.xml');
    expect(card.processes.map(({ type }) => type)).toEqual(['G', 'G', 'G', 'G', 'G']);
    expect(card.processes.some(({ computes }) => computes)).toBe(false);
    expect(card.processes[2]?.name).toContain('--type=gpu-process --crashpad-handler-pid=4099');
  });

  test('a driver older than the card does not know its name', () => {
    expect(only('gtx-1660-ti-named-graphics-device.xml')).toMatchObject({
      name: 'Graphics Device',
      variant: 'graphics-device',
    });
  });
});

describe('what is no document', () => {
  test('the words of the tool are the reason', () => {
    const text = readFileSync(path.join(folder, 'stdout-device-handle-unknown-error.txt'), 'utf8');
    expect(parseNvidiaSmi(text)).toEqual({ ok: false, reason: text.trim() });
  });
  test('nothing at all', () => {
    expect(parseNvidiaSmi('')).toEqual({ ok: false, reason: 'nvidia-smi printed nothing' });
  });
  test('XML of something else, and XML cut short', () => {
    expect(parseNvidiaSmi('<?xml version="1.0"?><html/>').ok).toBe(false);
    const whole = readFileSync(path.join(folder, 'rtx-3060-driver-570.xml'), 'utf8');
    for (let length = 0; length < whole.length; length += 501) {
      expect(() => parseNvidiaSmi(whole.slice(0, length))).not.toThrow();
    }
  });
});

test('a warning of the driver anywhere in the answer costs nothing', () => {
  const whole = readFileSync(path.join(folder, 'rtx-3060-driver-570.xml'), 'utf8');
  const warning = 'WARNING: infoROM is corrupted at gpu 0000:02:00.0\n';
  const read = parseNvidiaSmi(whole);
  expect(read.ok).toBe(true);
  const end = whole.indexOf('</nvidia_smi_log>') + 5;
  for (const at of [0, 700, whole.indexOf('<gpu ') + 3, whole.indexOf('GPU-') + 8, end, whole.length]) {
    const answer = whole.slice(0, at) + warning + whole.slice(at);
    expect([parseNvidiaSmi(answer), isCutShort(answer)]).toEqual([read, false]);
  }
});

describe('what else a card tells', () => {
  test('limits, clocks, errors, and no trouble', () => {
    expect(only('a10g-compute-process.xml')).toMatchObject({
      powerLimitWatts: 300,
      clockMhz: 210,
      memoryClockMhz: 405,
      eccUncorrected: 0,
      trouble: null,
    });
    expect(only('rtx-3060-driver-570.xml')).toMatchObject({ powerLimitWatts: 170, eccUncorrected: null });
    expect(only('rtx-4000-sff-ada-schema-v13.xml').processes.map(({ computes }) => computes)).toEqual([
      false,
      false,
      true,
      true,
    ]);
  });

  test('a desktop that opened a card without a screen does not use it', () => {
    const text = readFileSync(path.join(folder, 'a10g-compute-process.xml'), 'utf8');
    const reading = parseNvidiaSmi(text.replace('/opt/jobs/job-1', '/usr/lib/xorg/Xorg'));
    expect(reading.ok && reading.cards[0]?.processes[0]?.computes).toBe(false);
  });

  test('rows that wait to be replaced, and rows that cannot be', () => {
    const text = readFileSync(path.join(folder, 'a10g-compute-process.xml'), 'utf8');
    const trouble = (name: string) => {
      const reading = parseNvidiaSmi(text.replace(`<${name}>No<`, `<${name}>Yes<`));
      return reading.ok ? reading.cards[0]?.trouble : undefined;
    };
    expect(trouble('remapped_row_pending')).toContain('restart the machine');
    expect(trouble('remapped_row_failure')).toContain('replaced');
  });

  test.each([
    ['rtx-3060-driver-570.xml', 'None', null],
    ['rtx-3060-driver-570.xml', 'N/A', null],
    ['rtx-4000-sff-ada-schema-v13.xml', 'Reset', 'It has to be reset.'],
    ['rtx-3060-driver-570.xml', 'Reset', 'It has to be reset.'],
    ['rtx-3060-driver-570.xml', 'Reboot', 'Its machine has to be started anew.'],
    ['rtx-3060-driver-570.xml', 'Drain P2P', expect.stringContaining('new work: Drain P2P.')],
    ['rtx-3060-driver-570.xml', 'Drain and Reset', expect.stringContaining('new work: Drain and Reset.')],
  ])('what the driver of %s asks for: %s', (name, action, trouble) => {
    const text = readFileSync(path.join(folder, name), 'utf8');
    const asked = '<gpu_recovery_action>None<';
    expect(text).toContain(asked);
    const reading = parseNvidiaSmi(text.replace(asked, `<gpu_recovery_action>${action}<`));
    expect(reading.ok && reading.cards[0]?.trouble).toEqual(trouble);
  });

  test.each(['GPU requires reset', '[GPU is lost]'])('a card with %s in the place of a figure', (word) => {
    const text = readFileSync(path.join(folder, 'a10g-compute-process.xml'), 'utf8');
    const reading = parseNvidiaSmi(text.replace(/<gpu_util>[^<]*</, `<gpu_util>${word}<`));
    expect(reading.ok && reading.cards[0]).toMatchObject({
      utilizationPercent: null,
      trouble: `nvidia-smi says of it: ${word.replace(/[[\]]/g, '')}.`,
    });
  });

  test('without a UUID a card is named by its place on the bus', () => {
    const text = readFileSync(path.join(folder, 'gtx-1070-ti-short-old-schema.xml'), 'utf8');
    const reading = parseNvidiaSmi(text.replace(/<uuid>.*<\/uuid>/, ''));
    expect(reading.ok && reading.cards[0]?.uuid).toBe('00000000:01:00.0');
  });
});

describe('one bad value costs that value only', () => {
  const one = (power: string, use = '7 %') =>
    parseNvidiaSmi(
      `<?xml version="1.0"?><nvidia_smi_log><gpu id="0:1:0"><product_name>NVIDIA H100 PCIe</product_name><uuid>GPU-1</uuid>
       <utilization><gpu_util>${use}</gpu_util></utilization><fb_memory_usage><used>1 MiB</used><total>2 MiB</total></fb_memory_usage>
       <temperature><gpu_temp>30 C</gpu_temp></temperature><power_readings><power_draw>${power}</power_draw></power_readings></gpu></nvidia_smi_log>`,
    );
  test('power good, ERR!, good again', () => {
    const seen = ['50.00 W', 'ERR!', '51.00 W'].map((text) => {
      const reading = one(text);
      return reading.ok
        ? reading.cards.map(({ powerWatts, utilizationPercent }) => [powerWatts, utilizationPercent])
        : [];
    });
    expect(seen).toEqual([[[50, 7]], [[null, 7]], [[51, 7]]]);
  });
  test.each([
    'N/A',
    '[N/A]',
    '[Not Supported]',
    'Not Supported',
    '[Unknown Error]',
    'ERR!',
    'Unknown',
    '[Insufficient Permissions]',
    '',
    '12',
    '1e3 %',
  ])('use %s is unknown', (word) => {
    const reading = one('50.00 W', word);
    expect(reading.ok && reading.cards[0]).toMatchObject({ utilizationPercent: null, powerWatts: 50 });
  });
});
