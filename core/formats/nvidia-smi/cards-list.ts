/** Reads `nvidia-smi -L`, the only place where MIG slices have their UUIDs. */

export interface ListedSlice {
  /** `1g.10gb` */
  readonly profile: string;
  readonly index: number;
  readonly uuid: string;
}

export interface ListedCard {
  readonly index: number;
  readonly name: string;
  readonly uuid: string;
  readonly slices: readonly ListedSlice[];
}

export function parseCardsList(text: string): readonly ListedCard[] {
  const cards: { index: number; name: string; uuid: string; slices: ListedSlice[] }[] = [];
  for (const line of text.split('\n')) {
    const card = /^GPU (\d+): (.*) \(UUID: (GPU-[^)\s]+)\)/.exec(line);
    if (card !== null) {
      const [, index = '', name = '', uuid = ''] = card;
      cards.push({ index: Number(index), name, uuid, slices: [] });
      continue;
    }
    const slice = /^\s+MIG\s+(\S+)\s+Device\s+(\d+):\s+\(UUID: (MIG-[^)\s]+)\)/.exec(line);
    if (slice === null) continue;
    const [, profile = '', index = '', uuid = ''] = slice;
    cards.at(-1)?.slices.push({ profile, index: Number(index), uuid });
  }
  return cards;
}
