/** Reads `nvidia-smi -q -x`. A value the tool cannot give costs that value only, never the card. */
import { XMLParser } from 'fast-xml-parser';
import {
  bareCard,
  noteOf,
  type NvidiaCard,
  type NvidiaProcess,
  type NvidiaReading,
  type NvidiaSlice,
} from './card.js';
import { failureSentence } from './failures.js';
import { child, list, textAt, textOf, type Node } from './tree.js';
import { brokenWord, busIdOf, bytesOf, knownText, numberOf } from './words.js';

const parser = new XMLParser({
  ignoreAttributes: false,
  attributeNamePrefix: '@',
  parseTagValue: false,
  isArray: (name) => name === 'gpu' || name === 'process_info' || name === 'mig_device',
});

export const cutShort = 'nvidia-smi ended in the middle of its answer';

/** The tool says this beside its answer, and so in the midst of it wherever both are read as one. */
const warnings = /WARNING: infoROM is corrupted at gpu [0-9A-Fa-f:.]+\r?\n?/g;

/** Of a line by itself. */
export function isWarning(line: string): boolean {
  return line !== '' && `${line}\n`.replace(warnings, '').trim() === '';
}

/** XML without its end: what the tool had not come to yet is not there, and may be there for all that. */
export function isCutShort(answer: string): boolean {
  const text = answer.replaceAll(warnings, '');
  return text.includes('<?xml') && !text.includes('</nvidia_smi_log>');
}

export function parseNvidiaSmi(answer: string): NvidiaReading {
  const text = answer.replaceAll(warnings, '');
  // Warnings may come before the document.
  const start = text.indexOf('<?xml');
  if (start < 0) return { ok: false, reason: failureSentence(text) };
  let document: Node;
  try {
    // The parser's answer is untyped; the readers of a tree take nothing for granted.
    document = parser.parse(text.slice(start)) as Node;
  } catch (error) {
    return {
      ok: false,
      reason: `nvidia-smi gave no readable XML: ${error instanceof Error ? error.message : 'unknown'}`,
    };
  }
  const log = child(document, 'nvidia_smi_log');
  if (log === undefined) return { ok: false, reason: 'nvidia-smi gave XML without nvidia_smi_log' };
  if (isCutShort(text)) return { ok: false, reason: cutShort };
  return {
    ok: true,
    driverVersion: knownText(textAt(log, 'driver_version')),
    cards: list(log, 'gpu').map(readCard),
  };
}

function readCard(gpu: Node, index: number): NvidiaCard {
  const unknown: string[] = [];
  const bare = bareCard({
    uuid: knownText(textAt(gpu, 'uuid')),
    index,
    busId: busIdOf(textAt(gpu, '@id') ?? textAt(gpu, 'pci', 'pci_bus_id') ?? ''),
    name: knownText(textAt(gpu, 'product_name')),
  });
  const value = (label: string, raw: string | undefined, unit: string): number | null => {
    const result = numberOf(raw, unit);
    if (result === null) unknown.push(raw === undefined ? `${label} not reported` : `${label} ${raw}`);
    return result;
  };
  const migEnabled = textAt(gpu, 'mig_mode', 'current_mig') === 'Enabled';
  const computeMode = knownText(textAt(gpu, 'compute_mode'));
  const fan = textAt(gpu, 'fan_speed');
  const card = {
    ...bare,
    utilizationPercent: value('utilization', textAt(gpu, 'utilization', 'gpu_util'), '%'),
    memoryUsedBytes: bytesOf(value('memory used', textAt(gpu, 'fb_memory_usage', 'used'), 'MiB')),
    memoryTotalBytes: bytesOf(value('memory total', textAt(gpu, 'fb_memory_usage', 'total'), 'MiB')),
    temperatureCelsius: value('temperature', textAt(gpu, 'temperature', 'gpu_temp'), 'C'),
    powerWatts: value('power', powerText(gpu), 'W'),
    powerLimitWatts: firstNumber(gpu, powerSections, powerLimits, 'W'),
    // Cards cooled by the case have none.
    fanPercent: fan === undefined || fan === 'N/A' ? null : value('fan', fan, '%'),
    clockMhz: numberOf(textAt(gpu, 'clocks', 'sm_clock') ?? textAt(gpu, 'clocks', 'graphics_clock'), 'MHz'),
    memoryClockMhz: numberOf(textAt(gpu, 'clocks', 'mem_clock'), 'MHz'),
    eccUncorrected: uncorrectedErrors(child(child(gpu, 'ecc_errors'), 'volatile')),
    trouble: troubleOf(gpu, unknown),
    computeMode,
    migEnabled,
    slices: list(child(gpu, 'mig_devices'), 'mig_device').flatMap(readSlice),
    processes: list(child(gpu, 'processes'), 'process_info').flatMap((info) => readProcess(info, gpu)),
  };
  return { ...card, note: noteOf(unknown, computeMode) };
}

const powerSections = ['gpu_power_readings', 'power_readings'];
const powerLimits = ['current_power_limit', 'enforced_power_limit', 'power_limit'];

/** Names by driver: `power_draw`, then `instant_power_draw` beside an average; the section's name changed as well. */
function powerText(gpu: Node): string | undefined {
  let word: string | undefined;
  for (const section of powerSections) {
    for (const name of ['instant_power_draw', 'power_draw', 'average_power_draw']) {
      const text = textAt(gpu, section, name);
      if (numberOf(text, 'W') !== null) return text;
      word ??= text;
    }
  }
  return word;
}

function firstNumber(gpu: Node, sections: readonly string[], names: readonly string[], unit: string) {
  for (const section of sections) {
    for (const name of names) {
      const value = numberOf(textAt(gpu, section, name), unit);
      if (value !== null) return value;
    }
  }
  return null;
}

/** Older drivers have one total of double bit errors, newer ones a count for each memory and kind. */
function uncorrectedErrors(counts: Node | undefined): number | null {
  const total = numberOf(textAt(counts, 'double_bit', 'total'), '');
  if (total !== null) return total;
  const parts = ['sram_uncorrectable', 'sram_uncorrectable_parity', 'sram_uncorrectable_secded']
    .concat('dram_uncorrectable')
    .map((name) => numberOf(textAt(counts, name), ''))
    .filter((count) => count !== null);
  return parts.length === 0 ? null : parts.reduce((sum, count) => sum + count, 0);
}

/** Asked of the card each time: it is the probe by which one that was in trouble is found well again. */
function troubleOf(gpu: Node, unknown: readonly string[]): string | null {
  const rows = child(gpu, 'remapped_rows');
  if (textAt(rows, 'remapped_row_failure') === 'Yes')
    return 'It ran out of spare memory rows for faulty ones: it has to be replaced.';
  if (textAt(gpu, 'gpu_reset_status', 'reset_required') === 'Yes') return resetNeeded;
  const action = recoveryTrouble(knownText(textAt(gpu, 'gpu_recovery_action')));
  if (action !== null) return action;
  if (textAt(rows, 'remapped_row_pending') === 'Yes')
    return 'A faulty memory row waits to be replaced by a spare one: reset the card or restart the machine.';
  const word = unknown.map(brokenWord).find((each) => each !== null) ?? null;
  return word === null ? null : `nvidia-smi says of it: ${word}.`;
}

const resetNeeded = 'It has to be reset.';

/** Since driver 570 in place of `reset_required`. NVIDIA asks for no new work on a card with any of them (nvidia-smi, GPU Recovery Action). */
function recoveryTrouble(action: string | null): string | null {
  switch (action) {
    case null:
    case 'None':
      return null;
    case 'Reset':
      return resetNeeded;
    case 'Reboot':
      return 'Its machine has to be started anew.';
    default:
      return `Its driver asks for this before it is given new work: ${action}.`;
  }
}

function readSlice(device: Node): readonly NvidiaSlice[] {
  // Without slices the section holds the word None.
  if (typeof device === 'string') return [];
  const count = (name: string) => numberOf(textAt(device, name), '');
  return [
    {
      index: count('index') ?? 0,
      gpuInstanceId: count('gpu_instance_id'),
      computeInstanceId: count('compute_instance_id'),
      memoryUsedBytes: bytesOf(numberOf(textAt(device, 'fb_memory_usage', 'used'), 'MiB')),
      memoryTotalBytes: bytesOf(numberOf(textAt(device, 'fb_memory_usage', 'total'), 'MiB')),
      eccUncorrected: uncorrectedErrors(child(child(device, 'ecc_error_count'), 'volatile_count')),
    },
  ];
}

function readProcess(info: Node, gpu: Node): readonly NvidiaProcess[] {
  const pid = Number(textOf(child(info, 'pid')));
  if (!Number.isInteger(pid) || pid <= 0) return [];
  const type = textAt(info, 'type') ?? 'unknown';
  const name = textAt(info, 'process_name') ?? 'unknown';
  return [
    {
      pid,
      type,
      name,
      usedBytes: bytesOf(numberOf(textAt(info, 'used_memory'), 'MiB')),
      computes: type.includes('C') || (type === 'G' && rendersUnseen(name, gpu)),
      gpuInstanceId: numberOf(textAt(info, 'gpu_instance_id'), ''),
    },
  ];
}

const displayServers =
  /(^|\/)(Xorg|X|Xwayland|gnome-shell|kwin\w*|plasmashell|mutter|weston|sway|Hyprland|compiz|xfwm4|cinnamon|gdm\S*|sddm\S*|lightdm\S*)(\s|$)/i;

/** A program that draws on a card without a screen computes pictures; the desktop opens every card there is, and only opens it. */
function rendersUnseen(name: string, gpu: Node): boolean {
  return (
    textAt(gpu, 'display_active') === 'Disabled' &&
    textAt(gpu, 'driver_model', 'current_dm') !== 'WDDM' &&
    !displayServers.test(name)
  );
}
