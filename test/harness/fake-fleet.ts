/** A host over a fleet without machines: they answer as a test says, and attempts are records of one fake machine. */
import path from 'node:path';
import type { MachineCheck } from '../../core/contract/machines.js';
import type { BackendListener, WorkerObservation } from '../../main/backends/backend.js';
import { startHost, type Host, type HostOptions } from '../../main/controller/host.js';
import type { FleetMember, MachineFleet, MachineLook } from '../../main/controller/machine-service.js';
import { resolveHome } from '../../main/home.js';
import { connectClient, type TestClient } from './client.js';
import { FakeBackend, FakeMachine, fakeWorker } from './fake-backend.js';
import { makeHomeRoot } from './host-process.js';

export function connectedWorker(id: string, more: Partial<WorkerObservation> = {}): WorkerObservation {
  return {
    ...fakeWorker,
    id,
    hostname: id,
    address: `ssh://${id}`,
    contact: { state: 'CONNECTED', sinceMs: 1, lastContactMs: 1, message: null },
    ...more,
  };
}

const reached: MachineCheck = {
  step: 'reach',
  outcome: 'OK',
  message: 'It answers.',
  advice: null,
  fingerprint: null,
};

export class FakeFleet extends FakeBackend {
  /** What was asked of the fleet, in order. */
  readonly asked: string[] = [];
  readonly members = new Map<string, FleetMember>();
  /** What is found at an address; a usable machine of that name unless told. */
  looks = new Map<string, MachineLook>();
  /** How machines look once added; absent: nothing is told of it. */
  readonly seen = new Map<string, WorkerObservation>();
  /** Why machines cannot be connected to; null: they can. */
  failure: { readonly message: string; readonly isUnanswered: boolean } | null = null;
  private told: BackendListener | null = null;

  constructor(machine = new FakeMachine()) {
    super(machine);
  }

  override async start(listener: BackendListener): Promise<void> {
    await super.start(listener);
    this.told = listener;
  }

  override observe(): readonly WorkerObservation[] {
    const others = [...this.members.keys()].flatMap((id) => this.seen.get(id) ?? []);
    return [...super.observe(), ...others];
  }

  /** As the host uses it. */
  readonly machines: MachineFleet = {
    check: (address, acceptKey) => {
      this.asked.push(`check ${address}${acceptKey === null ? '' : ` ${acceptKey}`}`);
      const usable = { checks: [reached], usable: true, identity: `id of ${address}` };
      return Promise.resolve(this.looks.get(address) ?? usable);
    },
    add: (machine) => {
      if (this.members.has(machine.id)) return;
      this.asked.push(`add ${machine.id} ${machine.address}`);
      this.members.set(machine.id, machine);
      this.tellWorkers();
    },
    remove: (id) => {
      this.asked.push(`remove ${id}`);
      this.members.delete(id);
      this.tellWorkers();
    },
    connect: () => Promise.resolve(this.failure),
  };

  /** From now on the machine looks like that. */
  show(worker: WorkerObservation): void {
    this.seen.set(worker.id, worker);
    this.tellWorkers();
  }

  private tellWorkers(): void {
    setImmediate(() => this.told?.workers(this.observe()));
  }
}

export interface FleetHost {
  readonly fleet: FakeFleet;
  readonly client: TestClient;
  readonly root: string;
  /** A new host over the same folder, with a new fleet. */
  restart(fleet?: FakeFleet): Promise<FleetHost>;
  dispose(): Promise<void>;
}

const patience = { callMs: 5000, attemptMs: 60_000, retryMs: 50 };

export async function fleetHost(
  more: Partial<HostOptions> = {},
  fleet = new FakeFleet(),
): Promise<FleetHost> {
  const { root, remove } = await makeHomeRoot();
  return await over(root, remove, fleet, more);
}

async function over(
  root: string,
  remove: () => Promise<void>,
  fleet: FakeFleet,
  more: Partial<HostOptions>,
): Promise<FleetHost> {
  const home = resolveHome({ flag: root });
  const host: Host = await startHost({
    home,
    hostKind: 'headless',
    appVersion: '0.0.0-test',
    runtime: 'a test',
    makeBackend: () => fleet,
    fleet: fleet.machines,
    backendPatience: patience,
    ...more,
  });
  const client = await connectClient(home.socket);
  const stop = async (): Promise<void> => {
    client.close();
    await host.stop('the test is over');
  };
  return {
    fleet,
    client,
    root: path.resolve(root),
    restart: async (next = new FakeFleet()) => {
      await stop();
      return await over(root, remove, next, more);
    },
    dispose: async () => {
      await stop();
      await remove();
    },
  };
}
