import { describe, expect, it } from 'vitest';
import { buildStructure, type ChildList, type ListRow, type StructureInput } from './list-structure.js';

const list = (ids: string[], total = ids.length): ChildList => ({ ids, total, loading: false, error: null });

interface Given extends Omit<Partial<StructureInput>, 'slots'> {
  readonly slots?: readonly (string | undefined)[];
}

function input(part: Given): StructureInput {
  const slots = part.slots ?? ['a', 'b', 'c', 'd'];
  return {
    total: slots.length,
    indexOf: new Map(slots.flatMap((id, index) => (id === undefined ? [] : [[id, index]]))),
    children: new Map(),
    expanded: new Set(),
    error: null,
    flat: false,
    ...part,
    slots: { at: (index) => slots[index] },
  };
}

function words(rows: readonly ListRow[]): string[] {
  return rows.map((row) => (row.kind === 'job' ? `${' '.repeat(row.depth)}${row.id}` : row.kind));
}

function all(given: Given): string[] {
  const structure = buildStructure(input(given));
  return words(Array.from({ length: structure.length }, (_item, line) => structure.rowAt(line)));
}

describe('list structure', () => {
  it('puts opened children under their parents, at every depth', () => {
    expect(
      all({
        children: new Map([
          ['b', list(['b1', 'b2'])],
          ['b1', list(['b1x'])],
          ['d', list(['d1'])],
        ]),
        expanded: new Set(['d', 'b', 'b1']),
      }),
    ).toEqual(['a', 'b', ' b1', '  b1x', ' b2', 'c', 'd', ' d1']);
  });

  it('shows a skeleton while children are fetched and a line when there are more', () => {
    expect(
      all({ expanded: new Set(['a']), children: new Map([['a', { ...list([]), total: null }]]) }),
    ).toEqual(['a', 'skeleton', 'b', 'c', 'd']);
    expect(all({ expanded: new Set(['c']), children: new Map([['c', list(['c1'], 7)]]) })).toEqual([
      'a',
      'b',
      'c',
      ' c1',
      'more',
      'd',
    ]);
  });

  it('shows skeletons for what is not fetched and no tree when flat', () => {
    expect(all({ slots: ['a', undefined, 'c'], total: 5 })).toEqual([
      'a',
      'skeleton',
      'c',
      'skeleton',
      'skeleton',
    ]);
    expect(all({ flat: true, expanded: new Set(['a']), children: new Map([['a', list(['a1'])]]) })).toEqual([
      'a',
      'b',
      'c',
      'd',
    ]);
  });

  it('finds the line of every job and the root job of every line', () => {
    const structure = buildStructure(
      input({
        children: new Map([
          ['a', list(['a1', 'a2', 'a3'])],
          ['c', list(['c1'])],
        ]),
        expanded: new Set(['a', 'c']),
      }),
    );
    expect(['a', 'a1', 'a3', 'b', 'c', 'c1', 'd', 'none'].map((id) => structure.lineOf(id))).toEqual([
      0, 1, 3, 4, 5, 6, 7, -1,
    ]);
    expect([0, 1, 2, 3, 4, 5, 6, 7].map((line) => structure.rootIndexAt(line))).toEqual([
      0, 0, 0, 0, 1, 2, 2, 3,
    ]);
  });
});
