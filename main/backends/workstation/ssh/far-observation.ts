/** A machine reached by SSH as the controller sees it: while it is not in contact, what was known of it. */
import type { Contact, DockerState } from '../../../../core/contract/machines.js';
import type { JobSpec } from '../../../../core/contract/job-request.js';
import { infeasibleFields } from '../../../../core/scheduling/feasible.js';
import type { WorkerObservation } from '../../backend.js';
import { attributesOf } from '../worker-watch.js';
import { formatSshAddress, type SshAddress } from './address.js';
import type { FarMachine } from './far-machine.js';
import type { MachineFacts } from './machine-memory.js';
import type { SshFailure } from './ssh-failure.js';

const lookedAtFirst = 'It answers. What runs there and its devices are looked at before it is used.';

export interface FarState {
  readonly name: string;
  readonly address: SshAddress;
  /** Null: it was never in contact. */
  readonly facts: MachineFacts | null;
  readonly machine: FarMachine;
  /** New attempts may be placed there. */
  readonly ready: boolean;
  readonly lost: boolean;
  readonly contact: Contact;
  readonly docker: DockerState;
  readonly clockSkewMs: number | null;
  readonly sampledAtMs: number;
}

export function observationOf(state: FarState): WorkerObservation {
  const { facts, machine, ready } = state;
  const gpus = machine.gpus();
  const hostname = facts?.hostname ?? state.address.host;
  const { cpuMillicores, memoryBytes } = machine.others;
  return {
    id: state.name,
    hostname,
    state: ready ? 'HEALTHY' : state.lost ? 'DEAD' : 'DEGRADED',
    cpuMillicores: (facts?.cpuCount ?? 0) * 1000,
    memoryBytes: facts?.memoryBytes ?? 0,
    gpus,
    gpuNote: machine.gpuNote(),
    attributes: attributesOf(hostname, gpus, machine.errorLog),
    platform: facts?.platform ?? 'not known yet',
    cpuModel: facts?.cpuModel ?? 'not known yet',
    cpuCount: facts?.cpuCount ?? 0,
    cpuBusyPercent: ready ? machine.cpuBusyPercent : null,
    diskRates: ready ? machine.diskRates : null,
    memoryAvailableBytes: machine.memoryAvailableBytes,
    disks: machine.disks,
    sampledAtMs: state.sampledAtMs,
    address: formatSshAddress(state.address),
    contact: contactOf(state),
    clockSkewMs: state.clockSkewMs,
    bootId: facts?.bootId ?? null,
    docker: state.docker,
    ...(cpuMillicores === 0 && memoryBytes === 0 ? {} : { others: { cpuMillicores, memoryBytes } }),
  };
}

/** It answers, and is in use only once it is known what runs there and how its cards are. */
function contactOf({ contact, ready, lost }: FarState): Contact {
  if (ready || lost || contact.state !== 'CONNECTED') return contact;
  return { ...contact, state: 'CONNECTING', message: lookedAtFirst };
}

/** One sentence why it could never run there. */
export function infeasibleOn(
  name: string,
  spec: JobSpec,
  workers: readonly WorkerObservation[],
): string | null {
  const fields = infeasibleFields(spec, workers);
  if (fields.length === 0) return null;
  const said = fields.map(
    ({ field, value, expected }) => `${field}: ${value} asked for, there is ${expected}`,
  );
  return `${name} could never run it. ${said.join('; ')}.`;
}

export function folderUnusable(why: string): SshFailure {
  const message = `Its attempts folder cannot be used: ${why}.`;
  return { kind: 'other', message, advice: 'Is the disk there full, or the home folder read-only?' };
}

/** When who answers is not who was added: an address may have gone to another machine. */
export function foreignIdentity(
  name: string,
  address: SshAddress,
  expected: string | null,
  now: MachineFacts,
): SshFailure | null {
  if (expected === null || expected === '' || expected === now.machineId) return null;
  const message = `${formatSshAddress(address)} is another machine (${now.hostname}, ${now.machineId}) than the ${name} that was added (${expected}), so nothing is sent to it.`;
  return { kind: 'other', message, advice: 'Mend its address, or remove and add it anew.' };
}
