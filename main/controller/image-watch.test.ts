import { expect, test } from 'vitest';
import type { ImagePull } from '../../core/contract/machines.js';
import type { ImageControl, ImageNewsKind, WorkerObservation } from '../backends/backend.js';
import { fakeWorker } from '../../test/harness/fake-backend.js';
import { noCaches } from '../../test/harness/fake-caches.js';
import { ImageWatch } from './image-watch.js';

type What = ImageNewsKind;

/** Images of one machine, whose changes a test tells. */
class Told implements ImageControl {
  readonly watchers = new Set<(what: What) => void>();
  fetches: ImagePull[] = [];
  caches = noCaches;
  list = () => Promise.resolve([]);
  pulls = () => this.fetches;
  pull = () => Promise.resolve();
  cancel = () => undefined;
  remove = () => Promise.resolve();

  watch(changed: (what: What) => void): () => void {
    this.watchers.add(changed);
    return () => this.watchers.delete(changed);
  }

  tell(what: What): void {
    for (const watcher of this.watchers) watcher(what);
  }
}

function lab() {
  const machines = new Map<string, Told>();
  let told = 0;
  const observe = (): readonly WorkerObservation[] =>
    [...machines.keys()].map((id) => ({ ...fakeWorker, id }));
  const watch = new ImageWatch({ observe, images: (id) => machines.get(id) ?? null }, () => {
    told += 1;
  });
  return { machines, watch, told: () => told };
}

const pull: ImagePull = {
  machineId: 'one',
  image: 'tool:1',
  state: 'PULLING',
  totalBytes: 10,
  doneBytes: 4,
  layers: 2,
  layersDone: 1,
  message: null,
  startedAtMs: 5,
};

test('every machine is watched while somebody listens, also one that comes later', () => {
  const { machines, watch, told } = lab();
  const [one, two] = [new Told(), new Told()];
  machines.set('one', one);
  watch.machinesChanged();
  expect(one.watchers.size).toBe(0);
  watch.listen(true);
  machines.set('two', two);
  watch.machinesChanged();
  watch.machinesChanged();
  expect([one.watchers.size, two.watchers.size]).toEqual([1, 1]);
  one.fetches = [pull];
  one.tell('pulls');
  expect(told()).toBe(1);
  expect(watch.news()).toEqual({ changes: 0, cacheChanges: 0, pulls: [pull] });
  two.tell('images');
  expect(watch.news().changes).toBe(1);
  one.tell('caches');
  expect(watch.news()).toMatchObject({ changes: 1, cacheChanges: 1 });
  watch.listen(false);
  expect([one.watchers.size, two.watchers.size]).toEqual([0, 0]);
});

test('a machine that goes takes its images with it, which counts as a change', () => {
  const { machines, watch, told } = lab();
  const one = new Told();
  machines.set('one', one);
  watch.listen(true);
  const before = watch.news().changes;
  machines.delete('one');
  watch.machinesChanged();
  expect(one.watchers.size).toBe(0);
  expect(watch.news().changes).toBe(before + 1);
  expect(told()).toBe(1);
});
