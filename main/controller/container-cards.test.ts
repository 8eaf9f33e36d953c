import { expect, test } from 'vitest';
import type { DockerState } from '../../core/contract/machines.js';
import { specOf } from '../../core/model/test-world.js';
import { cards, worker } from '../../core/scheduling/test-cluster.js';
import { containerCardsWarning } from './container-cards.js';

const docker = (gpus: boolean): DockerState => ({ state: 'READY', version: '28.1', gpus, message: null });
const machine = (id: string, gpus: boolean, count = 1) => ({
  ...worker(id, { gpus: cards(count) }),
  docker: docker(gpus),
});
const warn = (request: Parameters<typeof specOf>[0], ...machines: ReturnType<typeof machine>[]) =>
  containerCardsWarning(specOf({ image: 'a:1', gpu: 1, ...request }), machines);

test('no runtime on the only machine is said before, with what to do', () => {
  expect(warn({}, machine('a', false))).toBe(
    'Docker on a shows no way to give GPUs to containers (no NVIDIA runtime is installed, and no CDI device of a card): there it would fail to start. Run it without an image, or install the NVIDIA container toolkit there (irisctl docker check).',
  );
});

test('of several machines those without are named, and only where the job could come to', () => {
  const all = [machine('a', false), machine('b', true), machine('c', false), machine('d', false, 0)];
  expect(warn({}, ...all)).toMatch(/^Docker on a, c shows no way .* Name another machine, or install/);
  expect(warn({ machine: 'B' }, ...all)).toBeNull();
  expect(warn({ machine: 'C' }, ...all)).toMatch(/^Docker on c shows .* Run it without an image/);
  const many = Array.from({ length: 7 }, (_, at) => machine(`m${at}`, false));
  expect(warn({}, ...many)).toMatch(/^Docker on m0, m1, m2, m3, m4 and 2 more machines shows/);
});

test('what asks for no container, no card, or an Engine nobody has looked at is not warned', () => {
  expect(warn({ image: undefined }, machine('a', false))).toBeNull();
  expect(warn({ gpu: 0 }, machine('a', false))).toBeNull();
  expect(warn({}, machine('a', true))).toBeNull();
  const unknown = { ...machine('a', false), docker: { ...docker(false), state: 'UNKNOWN' } as const };
  expect(warn({}, unknown)).toBeNull();
});
