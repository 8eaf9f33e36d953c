/** A machine that is removed while something runs there, over a real sshd. */
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

const sleepers = () => host.sh('ps ax -o args | grep -c "^[s]leep" || true').trim();
const contact = () => fleet.backend.observe().find(({ id }) => id === 'ws-two')?.contact?.state;

describeLab('a machine that is removed', () => {
  beforeEach(async () => {
    host = await machines.lab.host('ws-two');
    home = await mkdtemp(path.join(os.tmpdir(), 'iris-remove-home-'));
    const quiet = () => undefined;
    fleet = createSshFleet({
      local: new FakeBackend(new FakeMachine()),
      home,
      log: { info: quiet, warn: quiet, error: quiet },
      nowMs: () => Date.now(),
      monotonicMs: () => performance.now(),
      client: { configFile: machines.lab.configFile },
    });
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
    expect(sleepers()).toBe('0');
    expect(host.sh('ps ax -o args | grep -c "^[i]ris-far-hand" || true').trim()).toBe('0');
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
