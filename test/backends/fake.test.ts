/** The fakes that other tests inject faults with keep the port's rules as long as they are not told to break them. */
import type { Backend } from '../../main/backends/backend.js';
import { RoundBackend } from '../bench/children/round-backend.js';
import { BackendProbe } from '../harness/backend-probe.js';
import { FakeBackend, FakeMachine, fakeWorker } from '../harness/fake-backend.js';
import { FakeFleet } from '../harness/fake-fleet.js';
import { toldBackend } from '../harness/told-backend.js';
import { backendConformance } from './conformance.js';

const nothing = { started: () => undefined, wanted: () => undefined };
const fakes: Readonly<Record<string, (machine: FakeMachine) => Backend>> = {
  'the fake': (machine) => new FakeBackend(machine),
  'the fake of many machines': (machine) => new RoundBackend([fakeWorker], { machine }),
  'the fake fleet': (machine) => new FakeFleet(machine),
  'the fake that is told, once it may do what it is asked,': (machine) => {
    const backend = toldBackend(nothing, machine);
    backend.idle = false;
    return backend;
  },
};

for (const [name, make] of Object.entries(fakes))
  backendConformance(name, async () => {
    const machine = new FakeMachine('processes');
    const open = async () => {
      const probe = new BackendProbe(make(machine));
      await probe.backend.start(probe);
      return probe;
    };
    const probe = await open();
    return {
      probe,
      reopen: async () => {
        await probe.backend.close();
        return open();
      },
      dispose: () => {
        machine.clear();
        return Promise.resolve();
      },
    };
  });
