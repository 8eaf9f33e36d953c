import { expect, test } from 'vitest';
import { worker } from './test-cluster.js';
import { Groupings } from './group-changes.js';
import { WorkerTable } from './worker-table.js';

function racks(): WorkerTable {
  const named = [
    ['w-1', 'a'],
    ['w-2', 'b'],
    ['w-3', 'a'],
  ] as const;
  return new WorkerTable(
    named.map(([id, rack]) => worker(id, { attributes: { rack } })),
    null,
  );
}

test('who has read that a group changed is told when it changes again', () => {
  const table = racks();
  const groupings = new Groupings();
  const { changed, versions } = groupings.by('rack', table);
  groupings.note(2);
  const read = changed.length;
  groupings.note(0);
  expect(changed.slice(read)).toEqual([0]);
  groupings.note(1);
  expect(changed.slice(read)).toEqual([0, 1]);
  expect([...versions]).toEqual([2, 1]);
});

test('a new pass begins with nothing changed, and versions go on', () => {
  const table = racks();
  const groupings = new Groupings();
  const { changed, versions } = groupings.by('rack', table);
  groupings.note(1);
  groupings.begin();
  expect(changed).toEqual([]);
  groupings.note(1);
  expect(changed).toEqual([1]);
  expect([...versions]).toEqual([0, 2]);
});

test('other machines make other groups', () => {
  const groupings = new Groupings();
  const table = racks();
  const before = groupings.by('rack', table);
  expect(groupings.by('rack', table)).toBe(before);
  expect(groupings.by('rack', racks())).not.toBe(before);
});
