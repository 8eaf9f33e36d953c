/** A whole controller in the test's own process that runs jobs on machines of a lab, and none on its own. */
import { randomUUID } from 'node:crypto';
import type { MachineView } from '../../core/contract/machines.js';
import { startHost } from '../../main/controller/host.js';
import { resolveHome } from '../../main/home.js';
import type { LabHost } from '../../scripts/lib/lab-hosts.mjs';
import { connectClient, type TestClient } from './client.js';
import { makeHomeRoot } from './host-process.js';
import type { LabMachines } from './lab.js';

export interface LabController {
  readonly client: TestClient;
  /** Adds it by its name there, and returns once it is in contact. */
  add(lab: LabHost): Promise<void>;
  machine(id: string): Promise<MachineView | undefined>;
  /** Returns once the machine is as wanted. */
  machineWhen(id: string, wanted: (machine: MachineView) => boolean): Promise<void>;
  dispose(): Promise<void>;
}

export async function labController({ lab: { configFile } }: LabMachines): Promise<LabController> {
  const { root, remove } = await makeHomeRoot();
  process.env['IRIS_SSH_CONFIG'] = configFile;
  const home = resolveHome({ flag: root });
  const host = await startHost({ home, hostKind: 'headless', appVersion: '0', runtime: 'a test' });
  const client = await connectClient(home.socket);
  const all = async () => (await client.call('machine.list', {})).machines;
  const change = { kind: 'cordon' } as const;
  const [own] = await all();
  await client.call('machine.change', { requestId: randomUUID(), machineId: own?.id ?? '', change });
  return {
    client,
    add: async ({ name }) => {
      await client.call('machine.add', { requestId: randomUUID(), name, address: `ssh://${name}` });
      await client.call('machine.connect', { machineId: name });
    },
    machine: async (id) => (await all()).find((each) => each.id === id),
    machineWhen: (id, wanted) =>
      client.until('overview', {}, (value) => {
        const { machines } = value as { readonly machines: readonly MachineView[] };
        return machines.some((each) => each.id === id && wanted(each));
      }),
    dispose: async () => {
      delete process.env['IRIS_SSH_CONFIG'];
      client.close();
      await host.stop('the test is over');
      await remove();
    },
  };
}
