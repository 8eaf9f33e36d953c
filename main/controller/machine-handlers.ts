/** The methods about machines and images. */
import { RefusalError, refusal } from '../../core/contract/errors.js';
import type { MachineView } from '../../core/contract/machines.js';
import type { Backend, ImageControl } from '../backends/backend.js';
import { mayManage, type MachineService } from './machine-service.js';
import type { Handlers } from './session.js';

export type MachineHandlers = Pick<
  Handlers,
  | 'machine.check'
  | 'machine.add'
  | 'machine.remove'
  | 'machine.change'
  | 'machine.connect'
  | 'machine.wake'
  | 'machine.history'
  | 'image.list'
  | 'image.pull'
  | 'image.cancel'
  | 'image.remove'
  | 'cache.list'
  | 'cache.measure'
  | 'cache.empty'
>;

type Machines = Pick<
  MachineService,
  'check' | 'add' | 'remove' | 'change' | 'connect' | 'wake' | 'isDone' | 'recordEmptied'
> & {
  readonly machine: (machineId: string) => Pick<MachineView, 'id'>;
};

export function createMachineHandlers(
  service: Machines,
  backend: Pick<Backend, 'observe' | 'images' | 'history'>,
): MachineHandlers {
  const images = (machineId: string): ImageControl => {
    const control = backend.images?.(service.machine(machineId).id) ?? null;
    if (control !== null) return control;
    throw new RefusalError(
      refusal('FAILED_PRECONDITION', `Images cannot be looked after on ${machineId}: it runs no containers.`),
    );
  };
  const controls = (): readonly ImageControl[] =>
    backend.observe().flatMap(({ id }) => backend.images?.(id) ?? []);
  return {
    'machine.check': (params, identity) => service.check(params, identity),
    'machine.add': (params, identity) => service.add(params, identity),
    'machine.remove': (params, identity) => service.remove(params, identity),
    'machine.change': (params, identity) => service.change(params, identity),
    'machine.connect': (params, identity) => service.connect(params.machineId, identity),
    'machine.wake': (params, identity) => service.wake(params.machineId, identity),
    'machine.history': ({ machineId, sinceMs }) =>
      backend.history?.(service.machine(machineId).id, sinceMs) ?? { stepMs: 2000, timesMs: [], series: [] },
    async 'image.list'() {
      const all = controls();
      // A machine that does not answer hides no other's images.
      const lists = await Promise.all(all.map((control) => control.list().catch(() => [])));
      return { images: lists.flat(), pulls: all.flatMap((control) => [...control.pulls()]) };
    },
    async 'image.pull'({ machineId, image }, identity) {
      mayManage(identity, 'pull images');
      await images(machineId).pull(image);
      return {};
    },
    'image.cancel'({ machineId, image }, identity) {
      mayManage(identity, 'end the pull of images');
      const control = images(machineId);
      if (!control.pulls().some((pull) => pull.image === image && pull.state === 'PULLING'))
        throw new RefusalError(refusal('NOT_FOUND', `${image} is not being pulled on ${machineId}.`));
      control.cancel(image);
      return {};
    },
    async 'image.remove'({ machineId, imageId }, identity) {
      mayManage(identity, 'remove images');
      await images(machineId).remove(imageId);
      return {};
    },
    'cache.list': () => ({ machines: controls().map(({ caches }) => caches.view()) }),
    'cache.measure': ({ machineId }) => images(machineId).caches.measure(),
    async 'cache.empty'({ requestId, machineId, names }, identity) {
      mayManage(identity, 'empty caches');
      const { caches } = images(machineId);
      const { id } = service.machine(machineId);
      // Asked again, after its answer was lost.
      if (service.isDone(requestId)) return caches.view();
      const before = new Map(caches.view().caches.map(({ name, bytes }) => [name, bytes]));
      const emptied = await caches.empty([...new Set(names)]);
      if (emptied.length > 0) {
        const known = emptied.flatMap((name) => before.get(name) ?? []);
        const bytes = known.length === 0 ? null : known.reduce((sum, each) => sum + each, 0);
        await service.recordEmptied({ requestId, identity, machineId: id, names: emptied, bytes });
      }
      return caches.view();
    },
  };
}
