/** Reads the table that nvidia-smi prints when it is asked for nothing, for where there is nothing better. It holds no UUIDs. */
import { bareCard, noteOf, type NvidiaCard } from './card.js';
import { busIdOf, bytesOf, knownText, numberOf } from './words.js';

/** Null: the text is no such table. */
export function cardsOfTable(text: string): readonly NvidiaCard[] | null {
  if (!/^\|\s*NVIDIA-SMI\s/m.test(text)) return null;
  const cards: NvidiaCard[] = [];
  const lines = text.split('\n');
  for (const [at, line] of lines.entries()) {
    const [names, place] = columns(line);
    const head = /^(\d+)\s+(.+?)\s+(On|Off|N\/A)$/.exec(names ?? '');
    const busId = busIdOf(place ?? '');
    if (head === null || busId === null) continue;
    cards.push(readCard({ index: Number(head[1]), name: head[2] ?? '', busId }, lines[at + 1] ?? ''));
  }
  return cards;
}

function columns(line: string): string[] {
  return line
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim());
}

/** `ERR!   38C    P5    49W / 450W |   2021MiB / 23028MiB |      0%   E. Process` */
function readCard(names: { index: number; name: string; busId: string }, line: string): NvidiaCard {
  const [state = '', memory = '', work = ''] = columns(line);
  const [fan = '', temperature = '', , ...power] = state.split(/\s+/);
  const [draw = '', limit = ''] = power.join(' ').split('/');
  const [used = '', total = ''] = memory.split('/');
  const [, use = '', computeMode = ''] = /^(\S+)\s+(.+)$/.exec(work) ?? [];
  const unknown: string[] = [];
  const value = (label: string, raw: string, unit: string): number | null => {
    const result = numberOf(raw.trim(), unit);
    if (result === null) unknown.push(`${label} ${raw.trim() === '' ? 'not reported' : raw.trim()}`);
    return result;
  };
  const mode = knownText(computeMode);
  const card = {
    ...bareCard({ uuid: null, ...names }),
    fanPercent: fan === 'N/A' ? null : value('fan', fan, '%'),
    temperatureCelsius: value('temperature', temperature, 'C'),
    powerWatts: value('power', draw, 'W'),
    powerLimitWatts: numberOf(limit.trim(), 'W'),
    memoryUsedBytes: bytesOf(value('memory used', used, 'MiB')),
    memoryTotalBytes: bytesOf(value('memory total', total === '' ? used : total, 'MiB')),
    utilizationPercent: value('utilization', use, '%'),
    computeMode: mode,
  };
  return { ...card, note: noteOf(unknown, mode) };
}
