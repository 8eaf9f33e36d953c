import { afterAll, beforeAll } from 'vitest';
import { backendConformance } from '../backends/conformance.js';
import { describeLab, labMachines, type LabMachines } from '../harness/lab.js';
import type { LabHost } from '../../scripts/lib/lab-hosts.mjs';

describeLab('in a lab', () => {
  let machines: LabMachines;
  let host: LabHost;
  beforeAll(async () => {
    machines = await labMachines();
    host = await machines.lab.host('ws-two');
  });
  afterAll(() => machines.dispose());

  backendConformance('a workstation by SSH', async () => {
    const probe = await machines.open(host);
    const open = [probe];
    return {
      probe,
      reopen: async () => {
        await probe.machine.close();
        const next = await machines.open(host, { wait: false });
        open.push(next);
        return next;
      },
      dispose: async () => {
        for (const each of open) await each.machine.close();
      },
    };
  });
});
