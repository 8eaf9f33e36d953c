import { expect, test } from 'vitest';
import type { MachineView } from '../../core/contract/machines.js';
import { refusalOf } from '../../test/harness/host-jobs.js';
import type { Controller } from './controller.js';
import { MachineService, type MachineServiceParts } from './machine-service.js';

test('a card given back to jobs once is so for who asks again because the answer was lost', async () => {
  const receipts = new Set<string>();
  let state = 'SICK';
  let released = 0;
  const controller = {
    memory: { receipt: (requestId: string) => (receipts.has(requestId) ? null : undefined) },
    enqueue: ({ requestId }: { requestId: string }) => Promise.resolve(void receipts.add(requestId)),
  } as unknown as Controller;
  const service = new MachineService({
    controller,
    fleet: null,
    identity: null,
    machines: () => [{ id: 'w1', gpus: [{ uuid: 'GPU-1', state }] } as unknown as MachineView],
    backend: {
      releaseGpu: () => {
        released += 1;
        state = 'FREE';
        return true;
      },
    } as unknown as MachineServiceParts['backend'],
  });
  const change = { kind: 'release-gpu', uuid: 'GPU-1' } as const;
  const ask = (requestId: string) =>
    service.change({ requestId, machineId: 'w1', change }, { user: 'ann', mayManage: true });
  const first = await ask('one');
  expect(await ask('one')).toEqual(first);
  expect(released).toBe(1);
  expect((await refusalOf(ask('two'))).code).toBe('FAILED_PRECONDITION');
  // The host ended before it gave the card back.
  state = 'SICK';
  expect((await ask('one')).gpus).toMatchObject([{ state: 'FREE' }]);
  expect(released).toBe(2);
});
