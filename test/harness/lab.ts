/** Backends on hosts of a lab: real machines as far as SSH, processes and networks go. */
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { performance } from 'node:perf_hooks';
import { describe } from 'vitest';
import { createSshMachine } from '../../main/backends/workstation/ssh/ssh-machine.js';
import type {
  SshMachine,
  SshMachineOptions,
} from '../../main/backends/workstation/ssh/ssh-machine-options.js';
import { engineObstacle } from '../../scripts/lib/engine.mjs';
import { Lab, labObstacle, type LabHost } from '../../scripts/lib/lab-hosts.mjs';
import { BackendProbe } from './backend-probe.js';

const obstacle = labObstacle();

/** Needs a lab: skipped by name where there can be none, which under CI is a failure. */
export const describeLab = obstacle === null || process.env['CI'] === 'true' ? describe : describe.skip;

/** Needs an Engine as well. */
export const describeLabEngine =
  engineObstacle() === null || process.env['CI'] === 'true' ? describeLab : describe.skip;

/** Quick enough to wait for; the proportions are the usual ones. */
export const quickLimits: Partial<SshMachineOptions> = {
  connectTimeoutMs: 1000,
  pingEveryMs: 200,
  silentAfterMs: 2000,
  limits: { lossAfterMs: 4000, lossFailures: 3, firstRetryMs: 200, longestRetryMs: 500 },
};

export interface LabMachines {
  readonly lab: Lab;
  readonly warnings: string[];
  /** A machine on a host, wanting nothing and ready; with `wait: false` only started. */
  open(host: LabHost, more?: Partial<SshMachineOptions> & { readonly wait?: boolean }): Promise<LabProbe>;
  closeProbes(): Promise<void>;
  dispose(): Promise<void>;
}

export class LabProbe extends BackendProbe {
  constructor(readonly machine: SshMachine) {
    super(machine);
  }

  state_(): string {
    return this.machine.observe()[0]?.state ?? 'none';
  }

  contact(): string {
    return this.machine.observe()[0]?.contact?.state ?? 'none';
  }

  healthy(ms = 60_000): Promise<void> {
    return this.until(() => this.state_() === 'HEALTHY', ms);
  }

  /** A machine may be used before its cards have told of themselves: the first call of their tool takes time. */
  withCards(): Promise<void> {
    return this.until(() => (this.machine.observe()[0]?.gpus.length ?? 0) > 0);
  }
}

export async function labMachines(): Promise<LabMachines> {
  const lab = new Lab();
  const home = await mkdtemp(path.join(os.tmpdir(), 'iris-lab-home-'));
  const open: LabProbe[] = [];
  const warnings: string[] = [];
  const note = (message: string): void => {
    warnings.push(message);
  };
  const closeProbes = async (): Promise<void> => {
    for (const probe of open.splice(0)) {
      await probe.machine.close();
      probe.machine.forget();
    }
  };
  return {
    lab,
    warnings,
    open: async (host, { wait = true, ...more } = {}) => {
      const probe = new LabProbe(
        createSshMachine({
          name: host.name,
          address: host.name,
          home,
          log: { info: () => undefined, warn: note, error: note },
          nowMs: () => Date.now(),
          monotonicMs: () => performance.now(),
          client: { configFile: lab.configFile },
          ...more,
        }),
      );
      open.push(probe);
      await probe.machine.start(probe);
      if (!wait) return probe;
      probe.reconcile();
      await probe.healthy();
      return probe;
    },
    closeProbes,
    dispose: async () => {
      await closeProbes();
      await lab.close();
      await rm(home, { recursive: true, force: true });
    },
  };
}
