/** The processor weight of a real attempt, where this system has control groups to give one with. */
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { findGroupRoots } from '../../main/backends/workstation/process/control-groups.js';
import { launchOf, type BackendProbe } from '../harness/backend-probe.js';
import { eventually, livingOf, processBackends, type ProcessBackends } from '../harness/process-backend.js';

const roots = findGroupRoots();
let backends: ProcessBackends;
let probe: BackendProbe;

beforeEach(async () => {
  backends = await processBackends();
  probe = await backends.open();
});
afterEach(() => backends.dispose());

const groupOf = (uid: string) => path.join(roots.cpu ?? '', `iris-${uid}`);
const read = (uid: string, name: string) => readFileSync(path.join(groupOf(uid), name), 'utf8');

test.skipIf(roots.cpu === null)(
  `an attempt that lives on has its weight with all its processes, and nothing is left of it${roots.cpu === null ? ' (left out: no control of processors here)' : ''}`,
  async () => {
    const launch = launchOf({ command: ['sh', '-c', 'sleep 300 & sleep 301; true'], cpu: 2 });
    probe.run(launch);
    await probe.state(launch.uid, 'RUNNING');
    // The supervisor, the shell and both commands.
    await eventually(() => livingOf(backends.folder).length === 4, 'all of it runs');
    const inside = () =>
      existsSync(groupOf(launch.uid))
        ? read(launch.uid, 'cgroup.procs').split('\n').filter(Boolean).map(Number).sort()
        : [];
    const living = [...livingOf(backends.folder)].sort();
    await eventually(() => JSON.stringify(inside()) === JSON.stringify(living), 'all of it has its weight');
    if (roots.version === 1) expect(read(launch.uid, 'cpu.shares').trim()).toBe('2048');
    else expect(read(launch.uid, 'cpu.weight').trim()).toBe('200');
    probe.stop(launch.uid, { graceMs: 1000 });
    expect((await probe.over(launch.uid)).state).toBe('KILLED');
    expect(existsSync(groupOf(launch.uid))).toBe(false);
    expect(backends.warnings).toEqual([]);
  },
);
