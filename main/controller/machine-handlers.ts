/** The methods about machines and images. */
import { RefusalError, refusal } from '../../core/contract/errors.js';
import type { Backend } from '../backends/backend.js';
import type { MachineService } from './machine-service.js';
import type { Handlers } from './session.js';

export type MachineHandlers = Pick<
  Handlers,
  | 'machine.check'
  | 'machine.add'
  | 'machine.remove'
  | 'machine.change'
  | 'machine.wake'
  | 'machine.history'
  | 'image.list'
  | 'image.pull'
  | 'image.cancel'
  | 'image.remove'
>;

export function createMachineHandlers(service: MachineService, backend: Backend): MachineHandlers {
  const none = (): never => {
    throw new RefusalError(
      refusal(
        'FAILED_PRECONDITION',
        'This controller runs jobs on its own machine only, without containers.',
      ),
    );
  };
  return {
    'machine.check': (params, identity) => service.check(params, identity),
    'machine.add': (params, identity) => service.add(params, identity),
    'machine.remove': (params, identity) => service.remove(params, identity),
    'machine.change': (params, identity) => service.change(params, identity),
    'machine.wake': (params, identity) => service.wake(params.machineId, identity),
    'machine.history': ({ machineId, sinceMs }) =>
      backend.history?.(service.machine(machineId).id, sinceMs) ?? { stepMs: 2000, timesMs: [], series: [] },
    'image.list': () => ({ images: [], pulls: [] }),
    'image.pull': none,
    'image.cancel': none,
    'image.remove': none,
  };
}
