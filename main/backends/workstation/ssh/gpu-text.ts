/** The cards of a machine reached by SSH, from what nvidia-smi printed there. */
import type { GpuView } from '../../../../core/contract/gpus.js';
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
  /** What it printed for -q -x, a line `--listed--`, and what for -L; `absent` where there is no such tool. */
  readonly text: string;
  readonly processes: ReadonlyMap<number, FarGpuProcess>;
  readonly hostMemoryBytes: number;
}

/** What was known stays listed when nothing can be read. */
export function readGpus({ outcome, text, processes, hostMemoryBytes }: GpuText, known: FarGpus): FarGpus {
  if (outcome === 'late') return silent(known, 'nvidia-smi did not answer within 10 s');
  if (text.trim() === 'absent') return { gpus: [], note: 'nvidia-smi is not installed' };
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
