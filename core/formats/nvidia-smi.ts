/** Reads `nvidia-smi -q -x`. A value the tool cannot give costs that value only, never the card. */
import { XMLParser } from 'fast-xml-parser';
import { gpuVariantOf } from './gpu-variants.js';

export interface NvidiaProcess {
  readonly pid: number;
  /** C computes, G draws, C+G both, as the tool has it. */
  readonly type: string;
  readonly name: string;
  readonly usedBytes: number | null;
}

export interface NvidiaCard {
  /** What jobs are given: `GPU-...`, or the bus address of a card too old to have one. */
  readonly uuid: string;
  /** Position in the tool's list, which is bus order; never the minor number of /dev/nvidiaN. */
  readonly index: number;
  readonly busId: string;
  readonly name: string;
  readonly variant: string;
  readonly utilizationPercent: number | null;
  readonly memoryUsedBytes: number | null;
  readonly memoryTotalBytes: number | null;
  readonly temperatureCelsius: number | null;
  readonly powerWatts: number | null;
  readonly computeMode: string | null;
  readonly migEnabled: boolean;
  readonly processes: readonly NvidiaProcess[];
  /** Which values are unknown and the tool's own word for each; null when all are known. */
  readonly note: string | null;
}

export type NvidiaReading =
  | { readonly ok: true; readonly driverVersion: string | null; readonly cards: readonly NvidiaCard[] }
  | { readonly ok: false; readonly reason: string };

/** A part of the document: text or named parts; nothing is assumed of what a newer driver may add. */
type Node = string | { readonly [name: string]: Node | readonly Node[] };

const parser = new XMLParser({
  ignoreAttributes: false,
  attributeNamePrefix: '@',
  parseTagValue: false,
  isArray: (name) => name === 'gpu' || name === 'process_info' || name === 'mig_device',
});

export function parseNvidiaSmi(text: string): NvidiaReading {
  // Warnings may come before the document.
  const start = text.indexOf('<?xml');
  if (start < 0) return { ok: false, reason: firstLine(text) };
  let document: Node;
  try {
    // The parser's answer is untyped; `child` below takes nothing for granted.
    document = parser.parse(text.slice(start)) as Node;
  } catch (error) {
    return {
      ok: false,
      reason: `nvidia-smi gave no readable XML: ${error instanceof Error ? error.message : 'unknown'}`,
    };
  }
  const log = child(document, 'nvidia_smi_log');
  if (log === undefined) return { ok: false, reason: 'nvidia-smi gave XML without nvidia_smi_log' };
  return {
    ok: true,
    driverVersion: known(textOf(child(log, 'driver_version'))),
    cards: list(log, 'gpu').map(readCard),
  };
}

function readCard(gpu: Node, index: number): NvidiaCard {
  const unknown: string[] = [];
  const busId = textOf(child(gpu, '@id')) ?? textOf(path(gpu, 'pci', 'pci_bus_id')) ?? `index ${index}`;
  const name = known(textOf(child(gpu, 'product_name'))) ?? 'unknown card';
  const value = <T>(label: string, raw: string | undefined, read: (text: string) => T | null): T | null => {
    const result = raw === undefined ? null : read(raw);
    if (result === null) unknown.push(raw === undefined ? `${label} not reported` : `${label} ${raw}`);
    return result;
  };
  const memory = child(gpu, 'fb_memory_usage');
  const migEnabled = textOf(path(gpu, 'mig_mode', 'current_mig')) === 'Enabled';
  const card = {
    uuid: known(textOf(child(gpu, 'uuid'))) ?? busId,
    index,
    busId,
    name,
    variant: gpuVariantOf(name),
    utilizationPercent: value('utilization', textOf(path(gpu, 'utilization', 'gpu_util')), (text) =>
      number(text, '%'),
    ),
    memoryUsedBytes: value('memory used', textOf(child(memory, 'used')), mebibytes),
    memoryTotalBytes: value('memory total', textOf(child(memory, 'total')), mebibytes),
    temperatureCelsius: value('temperature', textOf(path(gpu, 'temperature', 'gpu_temp')), (text) =>
      number(text, 'C'),
    ),
    powerWatts: value('power', powerText(gpu), (text) => number(text, 'W')),
    computeMode: known(textOf(child(gpu, 'compute_mode'))),
    migEnabled,
    processes: list(child(gpu, 'processes'), 'process_info').flatMap(readProcess),
  };
  const note = [
    ...(migEnabled ? ['divided into MIG slices'] : []),
    ...(unknown.length === 0 ? [] : [`unknown: ${unknown.join(', ')}`]),
  ];
  return { ...card, note: note.length === 0 ? null : note.join('; ') };
}

/** Names by driver: `power_draw`, then `instant_power_draw` beside an average; the section's name changed as well. */
function powerText(gpu: Node): string | undefined {
  let word: string | undefined;
  for (const section of ['gpu_power_readings', 'power_readings']) {
    for (const name of ['instant_power_draw', 'power_draw', 'average_power_draw']) {
      const text = textOf(path(gpu, section, name));
      if (text !== undefined && number(text, 'W') !== null) return text;
      word ??= text;
    }
  }
  return word;
}

function readProcess(info: Node): readonly NvidiaProcess[] {
  const pid = Number(textOf(child(info, 'pid')));
  if (!Number.isInteger(pid) || pid <= 0) return [];
  return [
    {
      pid,
      type: textOf(child(info, 'type')) ?? 'unknown',
      name: textOf(child(info, 'process_name')) ?? 'unknown',
      usedBytes: mebibytes(textOf(child(info, 'used_memory')) ?? ''),
    },
  ];
}

/** Only a whole number with its unit is a value; every other word (N/A, ERR!, [Not Supported] ...) means unknown. */
function number(text: string, unit: string): number | null {
  const match = /^(-?\d+(?:\.\d+)?)\s*(\S*)$/.exec(text);
  return match !== null && match[2] === unit ? Number(match[1]) : null;
}

function mebibytes(text: string): number | null {
  const value = number(text, 'MiB');
  return value === null ? null : value * 1024 * 1024;
}

function known(text: string | undefined): string | null {
  return text === undefined || text === '' || /^\[?(N\/A|Not Supported|Unknown Error|ERR!)\]?$/i.test(text)
    ? null
    : text;
}

function child(node: Node | undefined, name: string): Node | undefined {
  if (node === undefined || typeof node === 'string') return undefined;
  const found = node[name];
  return found === undefined || typeof found === 'string' || !isList(found) ? found : found[0];
}

function list(node: Node | undefined, name: string): readonly Node[] {
  if (node === undefined || typeof node === 'string') return [];
  const found = node[name];
  if (found === undefined) return [];
  return typeof found === 'string' || !isList(found) ? [found] : found;
}

function isList(value: Node | readonly Node[]): value is readonly Node[] {
  return Array.isArray(value);
}

function path(node: Node, ...names: readonly string[]): Node | undefined {
  return names.reduce<Node | undefined>((at, name) => child(at, name), node);
}

function textOf(node: Node | undefined): string | undefined {
  return typeof node === 'string' ? node.trim() : undefined;
}

function firstLine(text: string): string {
  const line = text.trim().split('\n')[0] ?? '';
  return line === '' ? 'nvidia-smi printed nothing' : line.slice(0, 300);
}
