/** The methods about machines and images. */
import { RefusalError, refusal } from '../../core/contract/errors.js';
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

export function createMachineHandlers(): MachineHandlers {
  const none = (): never => {
    throw new RefusalError(
      refusal(
        'FAILED_PRECONDITION',
        'This controller runs jobs on its own machine only, without containers.',
      ),
    );
  };
  return {
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
