import { expect, test } from 'vitest';
import { RefusalError } from '../../core/contract/errors.js';
import type { ImageControl } from '../backends/backend.js';
import { createMachineHandlers } from './machine-handlers.js';
import type { Identity } from './session.js';

const unasked = (): never => {
  throw new Error('nobody asks for this here');
};

function imagesOf(asked: string[]) {
  const note = (what: string): Promise<void> => {
    asked.push(what);
    return Promise.resolve();
  };
  const control: ImageControl = {
    list: () => Promise.resolve([]),
    pulls: () => [],
    pull: (image) => note(`pull ${image}`),
    cancel: (image) => void note(`cancel ${image}`),
    remove: (imageId) => note(`remove ${imageId}`),
    watch: () => unasked,
  };
  const machines = {
    ...{ check: unasked, add: unasked, remove: unasked, change: unasked, connect: unasked, wake: unasked },
    machine: (id: string) => ({ id }),
  };
  return createMachineHandlers(machines, { observe: () => [], images: () => control });
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
