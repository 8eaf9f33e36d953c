/** Reads `nvidia-smi topo -m`: how cards are joined, and the memory node each sits beside. */

export interface CardTopology {
  /** Indexes of the cards an NVLink goes to. */
  readonly nvlinkTo: readonly number[];
  readonly numaNode: number | null;
}

/** Headings may be underlined. */
const style = new RegExp(`${String.fromCharCode(27)}\\[[0-9;]*m`, 'g');

/** By index of the card; empty when the text is no such matrix. */
export function parseTopology(text: string): ReadonlyMap<number, CardTopology> {
  const lines = text.replaceAll(style, '').split('\n');
  const heading = lines.findIndex((line) => /^\s*GPU0(\s|$)/.test(line));
  const found = new Map<number, CardTopology>();
  if (heading < 0) return found;
  // The first column has no heading.
  const columns = ['', ...cells(lines[heading] ?? '')];
  for (const line of lines.slice(heading + 1)) {
    if (line.trim() === '') break;
    const fields = cells(line);
    const index = /^GPU(\d+)$/.exec(fields[0] ?? '')?.[1];
    if (index === undefined) continue;
    const nvlinkTo = columns.flatMap((column, at) => {
      const card = /^GPU(\d+)$/.exec(column)?.[1];
      return card !== undefined && /^NV\d+$/.test(fields[at] ?? '') ? [Number(card)] : [];
    });
    const numa = fields[columns.indexOf('NUMA Affinity')] ?? '';
    found.set(Number(index), { nvlinkTo, numaNode: /^\d+$/.test(numa) ? Number(numa) : null });
  }
  return found;
}

/** Parted by tabs; where those were lost, by two blanks or more, as headings are of several words. */
function cells(line: string): string[] {
  const separator = line.includes('\t') ? /\t/ : / {2,}/;
  return line
    .trim()
    .split(separator)
    .map((cell) => cell.trim());
}
