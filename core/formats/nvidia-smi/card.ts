/** What the tool tells of a card, whatever form it was asked for; null: it gives no such value, `note` says why. */
import { gpuVariantOf } from '../gpu-variants.js';

export interface NvidiaProcess {
  readonly pid: number;
  /** C computes, G draws, C+G both, as the tool has it. */
  readonly type: string;
  readonly name: string;
  readonly usedBytes: number | null;
  /** False: it only draws the desktop. */
  readonly computes: boolean;
  /** Of the slice it runs in. */
  readonly gpuInstanceId: number | null;
}

/** A MIG slice; its UUID is in the list the tool prints for `-L` only. */
export interface NvidiaSlice {
  readonly index: number;
  readonly gpuInstanceId: number | null;
  readonly computeInstanceId: number | null;
  readonly memoryUsedBytes: number | null;
  readonly memoryTotalBytes: number | null;
  readonly eccUncorrected: number | null;
}

export interface NvidiaCard {
  /** What jobs are given: `GPU-...`, or the bus address of a card too old to have one. */
  readonly uuid: string;
  /** Position in the tool's list, which is bus order; never the minor number of /dev/nvidiaN. */
  readonly index: number;
  readonly busId: string | null;
  readonly name: string;
  readonly variant: string;
  readonly utilizationPercent: number | null;
  readonly memoryUsedBytes: number | null;
  readonly memoryTotalBytes: number | null;
  readonly temperatureCelsius: number | null;
  readonly powerWatts: number | null;
  readonly powerLimitWatts: number | null;
  readonly fanPercent: number | null;
  readonly clockMhz: number | null;
  readonly memoryClockMhz: number | null;
  /** Memory errors that could not be corrected, since the driver was loaded. */
  readonly eccUncorrected: number | null;
  /** What the card itself says needs a reset or a repair; one sentence. */
  readonly trouble: string | null;
  readonly computeMode: string | null;
  readonly migEnabled: boolean;
  readonly slices: readonly NvidiaSlice[];
  /** It has no memory of its own. */
  readonly sharesHostMemory: boolean;
  readonly processes: readonly NvidiaProcess[];
  /** Which values are unknown and the tool's own word for each; null when all are known. */
  readonly note: string | null;
}

export type NvidiaReading =
  | { readonly ok: true; readonly driverVersion: string | null; readonly cards: readonly NvidiaCard[] }
  | { readonly ok: false; readonly reason: string };

const nothingKnown = {
  utilizationPercent: null,
  memoryUsedBytes: null,
  memoryTotalBytes: null,
  temperatureCelsius: null,
  powerWatts: null,
  powerLimitWatts: null,
  fanPercent: null,
  clockMhz: null,
  memoryClockMhz: null,
  eccUncorrected: null,
  trouble: null,
  computeMode: null,
  migEnabled: false,
  slices: [],
  processes: [],
  note: null,
} as const;

export interface CardNames {
  readonly uuid: string | null;
  readonly index: number;
  readonly busId: string | null;
  readonly name: string | null;
}

/** A card of which nothing but its names is known; without a UUID it is named by its place on the bus. */
export function bareCard({ uuid, index, busId, name }: CardNames): NvidiaCard {
  const shown = name ?? 'unknown card';
  return {
    ...nothingKnown,
    uuid: uuid ?? busId ?? `index ${index}`,
    index,
    busId,
    name: shown,
    variant: gpuVariantOf(shown),
    sharesHostMemory: usesHostMemory(shown),
  };
}

/** Chips that sit beside the processor on one memory; the tool has no word of its own for it. */
function usesHostMemory(name: string): boolean {
  return /\b(GB10|Orin|Thor|Xavier|Tegra)\b/i.test(name);
}

/** Sentences about a card joined into its note. */
export function noteOf(unknown: readonly string[], computeMode: string | null): string | null {
  const parts = [
    ...(isExclusive(computeMode) ? ['in exclusive-process mode: one process at a time'] : []),
    ...(computeMode === 'Prohibited' ? ['in prohibited mode: nothing can compute on it'] : []),
    ...(unknown.length === 0 ? [] : [`unknown: ${unknown.join(', ')}`]),
  ];
  return parts.length === 0 ? null : parts.join('; ');
}

function isExclusive(computeMode: string | null): boolean {
  return computeMode !== null && /^(E\. Process|Exclusive_?\s?Process)$/i.test(computeMode);
}
