/** The fake that other tests inject faults with keeps the port's rules as long as it is not told to break them. */
import { FakeBackend, FakeMachine } from '../harness/fake-backend.js';
import { BackendProbe } from '../harness/backend-probe.js';
import { backendConformance } from './conformance.js';

backendConformance('the fake', async () => {
  const machine = new FakeMachine('processes');
  const open = async () => {
    const probe = new BackendProbe(new FakeBackend(machine));
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
