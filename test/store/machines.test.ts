/** What was set of machines, on a real database. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Machine } from '../../core/model/entities.js';
import type { Store } from '../../main/store/types.js';
import { changes, makeFolder, openTestStore, startMs, type Folder } from './builders.js';

let folder: Folder;
let store: Store;

beforeEach(() => {
  folder = makeFolder();
  store = openTestStore(folder.database);
});
afterEach(() => {
  store.close();
  folder.remove();
});

const machine = (part: Partial<Machine>): Machine => ({
  id: 'two',
  address: 'ssh://two',
  identity: 'id-of-two',
  scheduling: 'OPEN',
  drainDeadlineMs: null,
  attributes: {},
  taints: [],
  wakeAddress: null,
  addedAtMs: startMs,
  addedBy: 'ann',
  ...part,
});
const put = (part: Partial<Machine>) => {
  const row = machine(part);
  return { id: row.id, machine: row };
};

function read(): readonly (Machine | null)[] {
  store.close();
  store = openTestStore(folder.database);
  return store.loadLive().machines.map((row) => row.machine);
}

it('there are none until one is added', () => {
  expect(store.loadLive().machines).toEqual([]);
});

it.each<Partial<Machine>>([
  {},
  { address: null, identity: null },
  { scheduling: 'CORDONED' },
  { scheduling: 'DRAINING', drainDeadlineMs: startMs + 60_000 },
  { scheduling: 'DRAINED' },
  { attributes: { rack: 'r1', 'cuda-major': 12 } },
  { taints: [{ key: 'dedicated', value: 'ml' }] },
  { wakeAddress: 'aa:bb:cc:00:11:22', addedBy: 'Zoë von Ä' },
])('come back as they were written: %j', (part) => {
  store.commit(changes({ machines: [put(part)] }));
  expect(read()).toEqual([machine(part)]);
});

it('one row a machine: the last one counts, and what was removed is gone', () => {
  store.commit(changes({ machines: [put({}), put({ id: 'three' })] }));
  store.commit(changes({ machines: [put({ scheduling: 'DRAINED' }), { id: 'three', machine: null }] }));
  expect(read()).toEqual([machine({ scheduling: 'DRAINED' })]);
});

it('is written with the change it comes with, or not at all', () => {
  const unwritable = { ...machine({}), addedBy: null as unknown as string };
  expect(() =>
    store.commit(changes({ machines: [put({ id: 'three' }), { id: 'two', machine: unwritable }] })),
  ).toThrow();
  expect(read()).toEqual([]);
});
