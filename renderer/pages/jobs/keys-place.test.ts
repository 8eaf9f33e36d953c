import { describe, expect, it } from 'vitest';
import { refusal } from '../../../core/contract/errors.js';
import { createStore } from '../../state/store.js';
import { createKeysPlace } from './keys-place.js';
import { emptyStructure, type ListRow, type ListStructure } from './list-structure.js';
import { createSelection } from './selection.js';

const job = (id: string): ListRow => ({ kind: 'job', id, depth: 0, open: false });
const more: ListRow = { kind: 'more', parentId: '/a', remaining: 3, depth: 1 };
const failed: ListRow = { kind: 'failed', parentId: '/a', refusal: refusal('INTERNAL', 'No.'), depth: 1 };
const fetched: ListRow = { kind: 'skeleton', depth: 1 };

function structure(rows: readonly ListRow[]): ListStructure {
  return {
    ...emptyStructure,
    total: rows.length,
    length: rows.length,
    rowAt: (at) => rows[at] ?? fetched,
    lineOf: (id) => rows.findIndex((row) => row.kind === 'job' && row.id === id),
  };
}

function place(rows: readonly ListRow[]) {
  const list = createStore(structure(rows));
  const selection = createSelection();
  const keys = createKeysPlace(list, selection);
  return {
    selection,
    become: (next: readonly ListRow[]) => {
      list.set(structure(next));
    },
    press: (by: 1 | -1, extend = false) => {
      keys.goTo(keys.lineAt(by), by, extend);
      return selection.active();
    },
  };
}

describe('the place of the keys', () => {
  it('follows to a row that is being fetched', () => {
    const { selection, become, press } = place([job('/a'), fetched]);
    press(1);
    expect(press(1)).toBe('/a');
    become([job('/a'), job('/a/b')]);
    expect(selection.active()).toBe('/a/b');
  });

  it.each([
    ['more jobs that nobody has asked for', more],
    ['jobs that could not be read', failed],
  ])('stays where below it are only %s', (_name, last) => {
    const { selection, become, press } = place([job('/a'), job('/a/b'), last]);
    press(1);
    press(1);
    expect(press(1)).toBe('/a/b');
    expect(press(-1)).toBe('/a');
    press(1);
    press(1, true);
    become([job('/a'), job('/a/b'), job('/a/c')]);
    expect([selection.active(), selection.selected()]).toEqual(['/a/b', []]);
  });

  it('selects nothing by itself in a list that was empty', () => {
    const { selection, become, press } = place([]);
    press(1, true);
    become([job('/a')]);
    expect([selection.active(), selection.selected()]).toEqual([null, []]);
  });
});
