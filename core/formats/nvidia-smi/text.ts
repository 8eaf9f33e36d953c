/**
 * Reads `nvidia-smi -q`, the indented text. Its keys and depths change between drivers, so only what is found under the names looked
 * for counts and everything else is passed over; the XML is what is asked for.
 */
import { bareCard, noteOf, type NvidiaCard } from './card.js';
import { busIdOf, bytesOf, knownText, numberOf } from './words.js';

/** Null: the text is no such log. */
export function cardsOfText(text: string): readonly NvidiaCard[] | null {
  if (!text.includes('NVSMI LOG')) return null;
  const cards: NvidiaCard[] = [];
  for (const part of text.split(/^(?=GPU [0-9A-F]{8}:)/m).slice(1)) cards.push(readCard(part, cards.length));
  return cards;
}

function readCard(part: string, index: number): NvidiaCard {
  const values = new Map<string, string>();
  const sections: { readonly depth: number; readonly name: string }[] = [];
  for (const line of part.split('\n').slice(1)) {
    const match = /^(\s*)([^:]*?)\s*(?::\s(.*))?$/.exec(line);
    const [, indent = '', name = '', value] = match ?? [];
    if (name === '') continue;
    while ((sections.at(-1)?.depth ?? -1) >= indent.length) sections.pop();
    if (value === undefined) sections.push({ depth: indent.length, name });
    else values.set([...sections.map((section) => section.name), name].join('/'), value.trim());
  }
  const first = (...names: readonly string[]) => names.map((name) => values.get(name)).find(knownText);
  const computeMode = knownText(values.get('Compute Mode'));
  return {
    ...bareCard({
      uuid: knownText(values.get('GPU UUID')),
      index,
      busId: busIdOf(part.slice(0, part.indexOf('\n'))),
      name: knownText(values.get('Product Name')),
    }),
    utilizationPercent: numberOf(values.get('Utilization/Gpu') ?? values.get('Utilization/GPU'), '%'),
    memoryUsedBytes: bytesOf(numberOf(values.get('FB Memory Usage/Used'), 'MiB')),
    memoryTotalBytes: bytesOf(numberOf(values.get('FB Memory Usage/Total'), 'MiB')),
    temperatureCelsius: numberOf(values.get('Temperature/GPU Current Temp'), 'C'),
    powerWatts: numberOf(first('GPU Power Readings/Power Draw', 'Power Readings/Power Draw'), 'W'),
    migEnabled: values.get('MIG Mode/Current') === 'Enabled',
    computeMode,
    note: noteOf([], computeMode),
  };
}
