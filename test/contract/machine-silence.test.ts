/** What is said of attempts a backend is silent about, when the machine they are on is away. */
import { randomUUID } from 'node:crypto';
import { afterEach, test } from 'vitest';
import type { MachineView } from '../../core/contract/machines.js';
import { eventually } from '../harness/eventually.js';
import { connectedWorker, fleetHost, type FleetHost } from '../harness/fake-fleet.js';
import { lastAttempt, shell, submit, summaryWhen } from '../harness/host-jobs.js';

let host: FleetHost;

afterEach(() => host.dispose());

/** The overview says that of the machine `two`. */
async function seen(contact: MachineView['contact']['state']): Promise<void> {
  await host.client.until('overview', {}, (value) => {
    const { machines } = value as { machines: readonly MachineView[] };
    return machines.some((each) => each.id === 'two' && each.contact.state === contact);
  });
}

test('a machine that is away answers for nothing: only those that are there are said to be silent', async () => {
  host = await fleetHost({ backendPatience: { callMs: 5000, attemptMs: 300, retryMs: 50 } });
  host.fleet.show(connectedWorker('two'));
  const asked = { requestId: randomUUID(), name: 'two', address: 'ssh://two' };
  await host.client.call('machine.add', asked);
  await seen('CONNECTED');
  host.fleet.idle = true;
  const started = async (machineId: string): Promise<string> => {
    const job = await submit(host.client, shell('true', { machine: machineId }));
    await summaryWhen(host.client, job, ({ taskCounts }) => taskCounts.ASSIGNED === 1);
    return (await lastAttempt(host.client, job)).uid;
  };
  await started('two');
  const contact = { state: 'UNREACHABLE', sinceMs: 1, lastContactMs: 1, message: 'It is away.' } as const;
  host.fleet.show(connectedWorker('two', { state: 'DEGRADED', contact }));
  await seen('UNREACHABLE');
  const here = await started('w1');
  const health = async () => (await host.client.call('status', {})).health;
  await eventually(health).toBe(
    `The backend fake has said nothing of attempt ${here}, which it was asked to start.`,
  );
});
