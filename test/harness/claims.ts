/** A claim as a living controller of somebody makes it: what a test does not say of it is that of this process. */
import type { Claim } from '../../main/backends/workstation/claims/claim-file.js';
import { identityOf, surroundingsHere } from '../../main/backends/workstation/claims/liveness.js';

export function claimOf(attempt: string, more: Partial<Claim> = {}): Claim {
  const here = surroundingsHere();
  return {
    version: 1,
    owner: 'somebody',
    controller: 'b'.repeat(16),
    attempt,
    devices: [],
    cpuMillicores: 1000,
    memoryBytes: 1e9,
    bootId: here.bootId,
    pidNamespace: here.pidNamespace,
    host: identityOf(process.pid),
    supervisor: null,
    container: false,
    ...more,
  };
}
