/** Reads `nvidia-smi --query-gpu=... --format=csv`, with or without header and units, and `--query-compute-apps`. */
import { bareCard, noteOf, type NvidiaCard, type NvidiaProcess } from './card.js';
import { brokenWord, busIdOf, bytesOf, knownText, looseNumberOf } from './words.js';

/** What is asked of the cards every other second, in this order. */
export const sampleColumns = [
  'pci.bus_id',
  'uuid',
  'utilization.gpu',
  'memory.used',
  'temperature.gpu',
  'power.draw',
  'clocks.sm',
  'clocks.mem',
  'ecc.errors.uncorrected.volatile.total',
] as const;

/** What is asked when the whole description cannot be had. */
export const cardColumns = [
  'index',
  'name',
  ...sampleColumns,
  'memory.total',
  'fan.speed',
  'power.limit',
  'compute_mode',
] as const;

/** One row a line, by column. A header names the columns itself, units and all; without one they are those that were asked for. */
export function parseQuery(text: string, asked: readonly string[]): ReadonlyMap<string, string>[] {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const first = cells(lines[0] ?? '').map(columnName);
  const headed = first.length > 0 && first.every((cell) => /^[a-z_]+(\.[a-z_]+)*$/.test(cell));
  const columns = headed ? first : asked;
  return (headed ? lines.slice(1) : lines).map((line) => {
    const row = new Map<string, string>();
    for (const [at, cell] of cells(line).entries()) {
      const column = columns[at];
      if (column !== undefined) row.set(column, cell);
    }
    return row;
  });
}

function cells(line: string): string[] {
  return line.split(',').map((cell) => cell.trim());
}

/** `memory.total [MiB]` is `memory.total`; the product's name is a column called `name` or `gpu_name`. */
function columnName(cell: string): string {
  const name = cell.replace(/\s*\[[^\]]*\]$/, '');
  return name.startsWith('gpu_') ? name.slice(4) : name;
}

export function cardsOfQuery(text: string, asked: readonly string[]): readonly NvidiaCard[] {
  return parseQuery(text, asked).map(cardOfRow);
}

function cardOfRow(row: ReadonlyMap<string, string>, place: number): NvidiaCard {
  const unknown: string[] = [];
  const value = (label: string, column: string, unit: string): number | null => {
    const raw = row.get(column);
    const result = looseNumberOf(raw, unit);
    if (result === null && raw !== undefined) unknown.push(`${label} ${raw}`);
    return result;
  };
  const computeMode = knownText(row.get('compute_mode'));
  const fan = row.get('fan.speed');
  const noFan = fan === undefined || /^\[?N\/A\]?$/.test(fan);
  const card = {
    ...bareCard({
      uuid: knownText(row.get('uuid')),
      index: looseNumberOf(row.get('index'), '') ?? place,
      busId: busIdOf(row.get('pci.bus_id') ?? ''),
      name: knownText(row.get('name')),
    }),
    utilizationPercent: value('utilization', 'utilization.gpu', '%'),
    memoryUsedBytes: bytesOf(value('memory used', 'memory.used', 'MiB')),
    memoryTotalBytes: bytesOf(value('memory total', 'memory.total', 'MiB')),
    temperatureCelsius: value('temperature', 'temperature.gpu', 'C'),
    powerWatts: value('power', 'power.draw', 'W'),
    powerLimitWatts: looseNumberOf(row.get('power.limit'), 'W'),
    fanPercent: noFan ? null : value('fan', 'fan.speed', '%'),
    clockMhz: looseNumberOf(row.get('clocks.sm'), 'MHz'),
    memoryClockMhz: looseNumberOf(row.get('clocks.mem'), 'MHz'),
    eccUncorrected: looseNumberOf(row.get('ecc.errors.uncorrected.volatile.total'), ''),
    computeMode,
  };
  return { ...card, note: noteOf(unknown, computeMode) };
}

/** What moves from one moment to the next. */
export interface NvidiaSample {
  readonly busId: string | null;
  readonly uuid: string | null;
  readonly utilizationPercent: number | null;
  readonly memoryUsedBytes: number | null;
  readonly temperatureCelsius: number | null;
  readonly powerWatts: number | null;
  readonly clockMhz: number | null;
  readonly memoryClockMhz: number | null;
  readonly eccUncorrected: number | null;
  /** The tool's word when the card is lost to it or has to be reset; null while it can be used. */
  readonly lost: string | null;
}

/** One line of a query for `sampleColumns`; null for a line that is none. */
export function parseSampleLine(line: string): NvidiaSample | null {
  const row = cells(line);
  if (row.length !== sampleColumns.length) return null;
  const [bus = '', uuid, use, memory, temperature, power, clock, memoryClock, ecc] = row;
  const busId = busIdOf(bus);
  if (busId === null && knownText(uuid) === null) return null;
  return {
    busId,
    uuid: knownText(uuid),
    utilizationPercent: looseNumberOf(use, '%'),
    memoryUsedBytes: bytesOf(looseNumberOf(memory, 'MiB')),
    temperatureCelsius: looseNumberOf(temperature, 'C'),
    powerWatts: looseNumberOf(power, 'W'),
    clockMhz: looseNumberOf(clock, 'MHz'),
    memoryClockMhz: looseNumberOf(memoryClock, 'MHz'),
    eccUncorrected: looseNumberOf(ecc, ''),
    lost: row.find((cell) => brokenWord(cell) !== null) ?? null,
  };
}

export const processColumns = ['gpu_uuid', 'pid', 'process_name', 'used_gpu_memory'] as const;

/** By the card they compute on. The name is what is left between the others: it may hold commas. */
export function parseComputeApps(text: string): { readonly uuid: string; readonly process: NvidiaProcess }[] {
  return text.split('\n').flatMap((line) => {
    const match = /^\s*([^,\s]+),\s*(\d+),\s*(.*),\s*([^,]+)$/.exec(line);
    if (match === null) return [];
    const [, uuid = '', pid = '', name = '', used = ''] = match;
    const usedBytes = bytesOf(looseNumberOf(used.trim(), 'MiB'));
    const process = { pid: Number(pid), type: 'C', name, usedBytes, computes: true, gpuInstanceId: null };
    return [{ uuid, process }];
  });
}
