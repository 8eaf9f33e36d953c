/** A machine that is removed while something runs there, over a real sshd. */
import { readdirSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { performance } from 'node:perf_hooks';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { createSshFleet, type SshFleet } from '../../main/backends/workstation/ssh-fleet.js';
import type { LabHost } from '../../scripts/lib/lab-hosts.mjs';
import { BackendProbe, launchOf } from '../harness/backend-probe.js';
import { FakeBackend, FakeMachine } from '../harness/fake-backend.js';
import { describeLab, labMachines, type LabMachines } from '../harness/lab.js';
import { eventually } from '../harness/process-backend.js';

let machines: LabMachines;
let host: LabHost;
let home: string;
let fleet: SshFleet;
let probe: BackendProbe;

beforeAll(async () => {
  machines = await labMachines();
});
afterAll(() => machines.dispose());

/** What its log holds. */
const said: string[] = [];

function makeFleet(): SshFleet {
  const note = (message: string) => void said.push(message);
  return createSshFleet({
    local: new FakeBackend(new FakeMachine()),
    home,
    log: { info: note, warn: note, error: note },
    nowMs: () => Date.now(),
    monotonicMs: () => performance.now(),
    client: { configFile: machines.lab.configFile },
    sayAfterMs: 200,
  });
}

const leaving = () => readdirSync(home).filter((name) => name.startsWith('leaving-'));
const sleepers = () => host.sh('ps ax -o args | grep -c "^[s]leep" || true').trim();
const contact = () => fleet.backend.observe().find(({ id }) => id === 'ws-two')?.contact?.state;

describeLab('a machine that is removed', () => {
  beforeEach(async () => {
    host = await machines.lab.host('ws-two');
    home = await mkdtemp(path.join(os.tmpdir(), 'iris-remove-home-'));
    said.length = 0;
    fleet = makeFleet();
    probe = new BackendProbe(fleet.backend);
    await fleet.backend.start(probe);
    fleet.machines.add({ id: 'ws-two', address: 'ws-two', identity: null });
    probe.reconcile();
    await probe.until(() => contact() === 'CONNECTED');
  });
  afterEach(async () => {
    await fleet.backend.close();
    await machines.lab.remove(host);
    await rm(home, { recursive: true, force: true });
  });

  async function running(script: string) {
    const launch = launchOf({ command: ['sh', '-c', script] }, { workerId: 'ws-two' });
    probe.run(launch);
    await probe.state(launch.uid, 'RUNNING');
    return launch;
  }

  test('stops what runs there, by force what does not heed the signal', async () => {
    await running('exec sleep 300');
    await running('trap "" TERM; sleep 300 & setsid sleep 300 & wait; wait; sleep 300');
    await eventually(() => sleepers() === '3', 'all live');
    expect(await fleet.machines.remove('ws-two')).toBeNull();
    expect(leaving()).toEqual([]);
    expect(sleepers()).toBe('0');
    expect(host.sh('ps ax -o args | grep -c "^[i]ris-far-hand" || true').trim()).toBe('0');
  });

  test('what the end of the controller interrupts is said and finished after its next start', async () => {
    await running('trap "" TERM; sleep 300 & wait; wait; sleep 300');
    await eventually(() => sleepers() === '1', 'it lives');
    const removal = fleet.machines.remove('ws-two');
    await fleet.backend.close();
    await removal;
    expect(leaving()).toEqual(['leaving-ws-two.json']);
    expect(sleepers()).toBe('1');
    host.cut();
    fleet = makeFleet();
    fleet.machines.resume();
    const warning = 'A removed machine may go on with tasks: it is not in contact';
    await eventually(() => said.includes(warning), 'that is said');
    host.mend();
    await eventually(() => leaving().length === 0, 'it is finished', 60_000);
    expect(sleepers()).toBe('0');
    expect(said).toContain('The removal of a machine was finished');
    await fleet.machines.close();
  });

  test('one that is added anew meanwhile is not taken apart', async () => {
    const launch = await running('trap "" TERM; sleep 300 & wait; wait; sleep 300');
    const removal = fleet.machines.remove('ws-two');
    await fleet.backend.close();
    await removal;
    fleet = makeFleet();
    probe = new BackendProbe(fleet.backend);
    await fleet.backend.start(probe);
    fleet.machines.add({ id: 'ws-two', address: 'ws-two', identity: null });
    fleet.machines.resume();
    expect(leaving()).toEqual([]);
    probe.want({ kind: 'keep', uid: launch.uid, launch });
    await probe.state(launch.uid, 'RUNNING');
    expect(sleepers()).toBe('1');
  });

  test('says what it cannot stop where the machine is cut off', async () => {
    const launch = await running('exec sleep 300');
    host.cut();
    await eventually(() => contact() !== 'CONNECTED', 'it is seen to be cut off', 60_000);
    expect(await fleet.machines.remove('ws-two')).toBe(
      `ws-two is not in contact, so what runs there could not be stopped: ${launch.taskId}.`,
    );
    expect(await fleet.machines.removal('ws-two')).toContain(launch.taskId);
    expect(sleepers()).toBe('1');
  });
});
