/** The cards of a machine reached by SSH, from what nvidia-smi printed there. */
import type { GpuView } from '../../../../core/contract/gpus.js';
import { noCardsNote } from '../../../../core/formats/display-vendors.js';
import { parseCardsList } from '../../../../core/formats/nvidia-smi/cards-list.js';
import { readNvidiaSmi } from '../../../../core/formats/nvidia-smi/read.js';
import { viewsOf } from '../../../machine/gpu-views.js';

export interface FarGpus {
  readonly gpus: readonly GpuView[];
  readonly note: string | null;
}

/** A process on a card, as the far hand sees it. */
export interface FarGpuProcess {
  /** Attempt of ours; null: somebody else's. */
  readonly attemptUid: string | null;
  readonly user: string | null;
}

export interface GpuText {
  /** `late` when the tool did not answer. */
  readonly outcome: string;
  /** What it printed for -q -x, a line `--listed--`, and what for -L; where there is no such tool as `absentVendors` reads it. */
  readonly text: string;
  readonly processes: ReadonlyMap<number, FarGpuProcess>;
  readonly hostMemoryBytes: number;
}

/** `absent`, and who made what displays or computes there. Null: the tool is installed, and this is what it printed. */
export function absentVendors(text: string): readonly string[] | null {
  const [first, ...vendors] = text.trim().split(/\s+/);
  return first === 'absent' && vendors.every((each) => /^0x[0-9a-f]+$/.test(each)) ? vendors : null;
}

/** What was known stays listed when nothing can be read. */
export function readGpus({ outcome, text, processes, hostMemoryBytes }: GpuText, known: FarGpus): FarGpus {
  if (outcome === 'late') return silent(known, 'nvidia-smi did not answer within 20 s');
  const vendors = absentVendors(text);
  if (vendors !== null) return { gpus: [], note: noCardsNote(vendors) };
  const [whole = '', list = ''] = text.split('\n--listed--\n');
  const reading = readNvidiaSmi(whole);
  if (!reading.ok) return silent(known, reading.reason);
  const around = {
    attemptOf: (pid: number) => processes.get(pid)?.attemptUid ?? null,
    userOf: (pid: number) => processes.get(pid)?.user ?? null,
    hostMemoryBytes,
    listed: parseCardsList(list),
    topology: null,
    cards: reading.cards,
  };
  const gpus = reading.cards.flatMap((card) => viewsOf(card, around));
  return { gpus, note: gpus.length === 0 ? 'nvidia-smi lists no cards' : null };
}

function silent(known: FarGpus, reason: string): FarGpus {
  const gpus = known.gpus.map((card) => ({
    ...card,
    utilizationPercent: null,
    memoryUsedBytes: null,
    temperatureCelsius: null,
    powerWatts: null,
    state: 'SILENT' as const,
    stateReason: reason,
  }));
  return { gpus, note: reason };
}
