/** A working folder on a file system that does not answer: its task waits alone, everything else on the machine goes on. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { LabHost } from '../../scripts/lib/lab-hosts.mjs';
import { launchOf } from '../harness/backend-probe.js';
import { eventually } from '../harness/eventually.js';
import { hangingFolder, hangingObstacle, type HangingFolder } from '../harness/hanging-folder.js';
import { describeLab, labMachines, quickLimits, type LabMachines } from '../harness/lab.js';

let machines: LabMachines;
let host: LabHost;
let hangs: HangingFolder;

const describeHanging = hangingObstacle === null ? describeLab : describeLab.skip;

describeHanging('a folder that hangs on a workstation by SSH', () => {
  beforeAll(async () => {
    machines = await labMachines();
  });
  afterAll(() => machines.dispose());
  beforeEach(async () => {
    host = await machines.lab.host('ws-hangs');
    host.sh('mkdir /root/hangs');
    hangs = await hangingFolder('/root/hangs', host.inside);
  });
  afterEach(async () => {
    await machines.closeProbes();
    await hangs.release();
    await machines.lab.remove(host);
  });

  test('holds up no other task there, and its own can be stopped', async () => {
    const probe = await machines.open(host, quickLimits);
    const stuck = launchOf({ command: ['touch', '/root/ran'], workingDirectory: '/root/hangs' });
    const other = launchOf({ command: ['sleep', '3'] });
    probe.want({ kind: 'run', launch: stuck }, { kind: 'run', launch: other });
    // Longer than a machine may be silent.
    expect(await probe.over(other.uid)).toMatchObject({ state: 'SUCCEEDED' });
    expect(machines.warnings).toEqual([]);
    expect(probe.last(stuck.uid)).toBeUndefined();
    probe.stop(stuck.uid);
    expect(await probe.over(stuck.uid)).toMatchObject({ state: 'KILLED', startedAtMs: null });
    await hangs.release();
    const next = launchOf({ command: ['ls', '/root'] });
    probe.run(next);
    expect(await probe.over(next.uid)).toMatchObject({ state: 'SUCCEEDED' });
    expect(await probe.text(next.uid)).toBe('hangs\n');
  });

  test('runs nothing when it answers after the connection was lost', async () => {
    const probe = await machines.open(host, quickLimits);
    const program = launchOf({ command: ['sh', '-c', 'touch /root/ran'], workingDirectory: '/root/hangs' });
    probe.run(program);
    // It is asked after the start, so it is answered when that waits.
    await probe.backend.readLog(program.uid, 'out', 0, 1);
    await probe.machine.close();
    await hangs.release();
    const again = await machines.open(host, quickLimits);
    const next = launchOf({ command: ['ls', '/root'] });
    again.run(next);
    expect(await again.over(next.uid)).toMatchObject({ state: 'SUCCEEDED' });
    expect(await again.text(next.uid)).toBe('hangs\n');
    await eventually(() => host.sh('ps ax -o args | grep -c "^[i]ris-far-hand"').trim()).toBe('1');
  });
});
