/** Machines and images of the fake host. */
import type { MethodName, MethodResult, ParsedParams } from '../../core/contract/api.js';
import { RefusalError, refusal } from '../../core/contract/errors.js';
import type { FakeHost } from './fake-host.js';

type Handlers = { [M in MethodName]: (params: ParsedParams<M>) => MethodResult<M> };

export function fakeMachineHandlers(
  host: FakeHost,
): Pick<Handlers, Extract<MethodName, `machine.${string}` | `image.${string}`>> {
  const none = (): never => {
    throw new RefusalError(refusal('FAILED_PRECONDITION', 'The fake host has no such machine.'));
  };
  return {
    'machine.list': () => ({ machines: [...host.machines] }),
    'machine.check': none,
    'machine.add': none,
    'machine.remove': none,
    'machine.change': none,
    'machine.wake': none,
    'machine.history': () => ({ stepMs: 2000, timesMs: [], series: [] }),
    'image.list': () => ({ images: [], pulls: [] }),
    'image.pull': none,
    'image.cancel': none,
    'image.remove': none,
  };
}
