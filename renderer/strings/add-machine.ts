/** Strings of the 'Add a workstation' dialog. */
import type { MachineCheck } from '../../core/contract/machines.js';

export const stepWords: Readonly<Record<MachineCheck['step'], string>> = {
  reach: 'Reach it',
  'host-key': 'Host key',
  login: 'Log in',
  shell: 'Shell',
  'attempts-folder': 'Folder for tasks',
  docker: 'Docker',
  gpus: 'GPUs',
  disk: 'Disk',
  clock: 'Clock',
};

export const outcomeWords: Readonly<Record<MachineCheck['outcome'], string>> = {
  OK: 'Fine',
  WARNING: 'Usable',
  FAILED: 'Failed',
  SKIPPED: 'Not tried',
};

export const addMachine = {
  title: 'Add a workstation',
  intro:
    'Any machine you can log in to by SSH. Your own ssh is used, with its aliases, keys, agent and jump hosts. Nothing is installed there.',
  address: 'Address',
  addressExample: 'ws-2, ann@ws-2.lab:2222, or an alias of ~/.ssh/config',
  check: 'Check',
  checkAgain: 'Check again',
  checking: (address: string): string => `Looking at ${address}`,
  steps: 'What was looked at',
  pending: 'Looking',
  failed: (message: string): string => `It could not be checked. ${message}`,
  notAdded: (message: string): string => `Not added. ${message}`,
  usable: 'It can be added.',
  notUsable: 'It cannot be added yet: what failed has to be put right first.',
  fingerprint: 'Fingerprint',
  acceptKey: (host: string): string => `I compared it: this is the key of ${host}`,
  accept: 'Accept the key and check again',
  name: 'Name',
  nameHint: 'Jobs name it so; it cannot be changed later.',
  nameTaken: (name: string): string => `There is a machine ${name} already.`,
  add: (name: string): string => (name === '' ? 'Add' : `Add ${name}`),
  added: (name: string): string => `${name} was added. Jobs that fit are placed on it from now on.`,
  wrong: (value: string, expected: string): string =>
    value === '' ? `Expected ${expected}.` : `${value}: expected ${expected}.`,
} as const;
