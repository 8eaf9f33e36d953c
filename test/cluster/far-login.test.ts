/** What a machine reached by SSH makes of its login: what its tasks find, and what is said where it cannot be used. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import type { LabHost } from '../../scripts/lib/lab-hosts.mjs';
import { launchOf } from '../harness/backend-probe.js';
import { describeLab, labMachines, quickLimits, type LabMachines } from '../harness/lab.js';

let machines: LabMachines;
let host: LabHost;

describeLab('a login on a workstation by SSH', () => {
  beforeAll(async () => {
    machines = await labMachines();
  });
  afterAll(() => machines.dispose());
  beforeEach(async () => {
    host = await machines.lab.host('ws-login');
  });
  afterEach(async () => {
    await machines.closeProbes();
    await machines.lab.remove(host);
    vi.unstubAllEnvs();
  });

  test('gives its tasks its own locale, and nothing of the one here', async () => {
    for (const name of ['LANG', 'LANGUAGE', 'LC_ALL', 'LC_TIME']) vi.stubEnv(name, 'de_DE.UTF-8');
    const probe = await machines.open(host, quickLimits);
    const launch = launchOf({ command: ['sh', '-c', 'env | grep -E "^(LANG|LC_)" || echo none'] });
    probe.run(launch);
    expect(await probe.over(launch.uid)).toMatchObject({ state: 'SUCCEEDED' });
    expect(await probe.text(launch.uid)).toBe('none\n');
  });
});
