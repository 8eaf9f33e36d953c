import { expect, test } from 'vitest';
import { RefusalError } from '../../core/contract/errors.js';
import type { ImagePull } from '../../core/contract/machines.js';
import type { ImageControl } from '../backends/backend.js';
import { fakeWorker } from '../../test/harness/fake-backend.js';
import { fakeCachesOf, fakeSizes } from '../../test/harness/fake-caches.js';
import { createMachineHandlers } from './machine-handlers.js';
import type { MachineService } from './machine-service.js';
import type { Identity } from './session.js';

const unasked = (): never => {
  throw new Error('nobody asks for this here');
};

const measured = fakeCachesOf('here', {
  state: 'MEASURED',
  measuredAtMs: 5,
  caches: fakeSizes({ uv: 3072, hf: 1024, cargo: 512 }),
});

const pullOf = (image: string, state: ImagePull['state']): ImagePull => ({
  ...{ machineId: 'here', image, state, message: null, startedAtMs: 5 },
  ...{ totalBytes: null, doneBytes: 0, layers: 0, layersDone: 0 },
});

function imagesOf(asked: string[], done: ReadonlySet<string> = new Set()) {
  const note = (what: string): Promise<void> => {
    asked.push(what);
    return Promise.resolve();
  };
  const control: ImageControl = {
    list: () => Promise.resolve([]),
    pulls: () => [pullOf('tool:1', 'PULLING'), pullOf('tool:2', 'DONE')],
    pull: (image) => note(`pull ${image}`),
    cancel: (image) => void note(`cancel ${image}`),
    remove: (imageId) => note(`remove ${imageId}`),
    watch: () => unasked,
    caches: {
      view: () => measured,
      measure: () => note('measure').then(() => measured),
      // One of them is a link.
      empty: (names) => note(`empty ${names.join(' ')}`).then(() => names.filter((name) => name !== 'cargo')),
    },
  };
  const machines = {
    ...{ check: unasked, add: unasked, remove: unasked, change: unasked, connect: unasked, wake: unasked },
    machine: (id: string) => ({ id: id.toLowerCase() }),
    isDone: (requestId: string) => done.has(requestId),
    recordEmptied: ({ requestId: _, identity, ...what }: Parameters<MachineService['recordEmptied']>[0]) =>
      note(`${identity.user} ${JSON.stringify(what)}`),
  };
  const observe = () => [{ ...fakeWorker, id: 'here' }];
  return createMachineHandlers(machines, { observe, images: () => control });
}

const image = { machineId: 'here', image: 'tool:1' };
const acts: readonly [string, string, (handlers: ReturnType<typeof imagesOf>, who: Identity) => unknown][] = [
  ['pull tool:1', 'pull images', (handlers, who) => handlers['image.pull'](image, who)],
  ['cancel tool:1', 'end the pull of images', (handlers, who) => handlers['image.cancel'](image, who)],
  [
    'remove sha256:1',
    'remove images',
    (handlers, who) => handlers['image.remove']({ machineId: 'here', imageId: 'sha256:1' }, who),
  ],
];

const emptying = { requestId: 'request-1', machineId: 'Here' } as const;

test('caches are looked at by anybody, and emptied by who administers the cluster', async () => {
  const asked: string[] = [];
  const handlers = imagesOf(asked);
  const eve = { user: 'eve' };
  expect(await handlers['cache.list']({}, eve)).toEqual({ machines: [measured] });
  expect(await handlers['cache.measure']({ machineId: 'here' }, eve)).toEqual(measured);
  await expect(
    Promise.resolve().then(() => handlers['cache.empty']({ ...emptying, names: ['uv'] }, eve)),
  ).rejects.toMatchObject({ refusal: { code: 'PERMISSION_DENIED' } });
  expect(asked).toEqual(['measure']);
});

test('an emptying is recorded with what was emptied, and what that took by the last measurement', async () => {
  const asked: string[] = [];
  const ann = { user: 'ann', mayManage: true };
  await imagesOf(asked)['cache.empty']({ ...emptying, names: ['uv', 'hf', 'uv', 'cargo'] }, ann);
  const record = { machineId: 'here', names: ['uv', 'hf'], bytes: 4096 };
  expect(asked).toEqual(['empty uv hf cargo', `ann ${JSON.stringify(record)}`]);
});

test('an emptying of nothing leaves no record, and one that was answered before is not done again', async () => {
  const asked: string[] = [];
  const ann = { user: 'ann', mayManage: true };
  await imagesOf(asked)['cache.empty']({ ...emptying, names: ['cargo'] }, ann);
  await imagesOf(asked, new Set(['request-1']))['cache.empty']({ ...emptying, names: ['uv'] }, ann);
  expect(asked).toEqual(['empty cargo']);
});

test.each(acts)('%s is for who administers the cluster', async (what, named, act) => {
  const asked: string[] = [];
  const handlers = imagesOf(asked);
  const refused = await Promise.resolve()
    .then(() => act(handlers, { user: 'eve' }))
    .catch((error: unknown) => (error instanceof RefusalError ? error.refusal : null));
  expect(refused).toMatchObject({ code: 'PERMISSION_DENIED' });
  expect(refused).toHaveProperty('message', expect.stringContaining(`eve may not ${named}`));
  expect(asked).toEqual([]);
  await act(handlers, { user: 'ann', mayManage: true });
  expect(asked).toEqual([what]);
});

test.each(['tool:2', 'tool:3'])('a pull of %s that does not run is not ended', async (name) => {
  const asked: string[] = [];
  const ending = Promise.resolve().then(() =>
    imagesOf(asked)['image.cancel']({ machineId: 'here', image: name }, { user: 'ann', mayManage: true }),
  );
  await expect(ending).rejects.toMatchObject({
    refusal: { code: 'NOT_FOUND', message: `${name} is not being pulled on here.` },
  });
  expect(asked).toEqual([]);
});
