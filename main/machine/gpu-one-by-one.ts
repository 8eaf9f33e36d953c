/** Cards asked for one by one: while one is lost the tool tells nothing at all, except about a card it is asked for by name. */
import {
  bareCard,
  type CardNames,
  type NvidiaCard,
  type NvidiaSlice,
} from '../../core/formats/nvidia-smi/card.js';
import { lostCardOf } from '../../core/formats/nvidia-smi/failures.js';
import { readNvidiaSmi } from '../../core/formats/nvidia-smi/read.js';
import { cutShort, isCutShort } from '../../core/formats/nvidia-smi/xml.js';
import type { CardsTool } from './nvidia-tool.js';

export interface OneByOne {
  readonly found: readonly NvidiaCard[];
  /** By place on the bus: why. */
  readonly lost: ReadonlyMap<string, string>;
  /** Nothing can be said of these, not even that they are lost: they, or the tool, did not answer this time. */
  readonly unheard: ReadonlyMap<string, string>;
}

const mostCards = 16;

/** `lostBusId`: the one because of which the tool told nothing. `known`: places on the bus, those that answer last at the end. */
export async function askOneByOne(
  tool: CardsTool,
  lostBusId: string,
  reason: string,
  known: readonly string[],
): Promise<OneByOne> {
  const lost = new Map([[lostBusId, reason]]);
  const unheard = new Map<string, string>();
  const found: NvidiaCard[] = [];
  const ids = known.length > 0 ? known : Array.from({ length: mostCards }, (_, index) => String(index));
  for (const id of ids) {
    if (lost.has(id)) continue;
    const answer = await tool.run(['-q', '-x', '-i', id]);
    if (answer.kind !== 'text' || isCutShort(answer.text)) {
      // Nobody knows how many more there are.
      if (known.length === 0) break;
      unheard.set(id, answer.kind === 'failed' ? answer.reason : cutShort);
      continue;
    }
    const reading = readNvidiaSmi(answer.text);
    const [card] = reading.ok ? reading.cards : [];
    const also = lostCardOf(answer.text);
    if (card !== undefined) found.push(card);
    else if (also !== null) lost.set(also, reading.ok ? 'It does not answer.' : reading.reason);
    else if (known.length > 0) lost.set(id, reading.ok ? 'It is not listed any more.' : reading.reason);
    // Beyond the last card.
    else break;
  }
  return { found, lost, unheard };
}

/** What is left of one that does not answer any more: its name, and its slices, as it is those that attempts hold. */
export function lostCard(before: CardNames & Partial<Pick<NvidiaCard, 'migEnabled' | 'slices'>>): NvidiaCard {
  const { uuid, index, busId, name, migEnabled = false, slices = [] } = before;
  const unmeasured = (slice: NvidiaSlice): NvidiaSlice => ({
    ...slice,
    memoryUsedBytes: null,
    eccUncorrected: null,
  });
  const bare = bareCard({ uuid, index, busId, name });
  return { ...bare, migEnabled, slices: slices.map(unmeasured), note: 'lost' };
}

/** Asked for one by one, each says of itself that it is the first. */
export function byBus(left: NvidiaCard, right: NvidiaCard): number {
  if (left.busId === null || right.busId === null) return left.index - right.index;
  return left.busId < right.busId ? -1 : left.busId > right.busId ? 1 : 0;
}

export function troubleNote(lost: number, unheard: number, all: number): string | null {
  const parts = [
    ...(lost === 0 ? [] : [`${lost} of ${all} GPUs ${lost === 1 ? 'is' : 'are'} lost to the driver`]),
    ...(unheard === 0 ? [] : [`${unheard} of ${all} GPUs ${unheard === 1 ? 'does' : 'do'} not answer`]),
  ];
  return parts.length === 0 ? null : parts.join(', ');
}
