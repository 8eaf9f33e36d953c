/**
 * Looks at a machine step by step before it is added: what is there, and what to do about each thing that is not as it must be.
 * Nothing is kept of it but a host key that was accepted.
 */
import { machineCheckSteps, type MachineCheck } from '../../../../core/contract/machines.js';
import { formatSize } from '../../../../core/formats/sizes.js';
import { formatSshAddress, parseSshAddress } from './address.js';
import type { AskDesk } from './ask-desk.js';
import { Asking } from './asking.js';
import { messageOf } from '../process/error-code.js';
import { helloMs } from './far-connection.js';
import { openFarLink } from './far-link.js';
import { disksOf, dockerOf, FarMachine, helloOf, type FarHello } from './far-machine.js';
import type { FarWord } from './far-words.js';
import { gpuNames } from './gpu-names.js';
import { acceptHostKey, showHostKey, type ShownKey } from './host-keys.js';
import { controllerId, ownKnownHosts } from './machine-memory.js';
import { socketFolder, userKnownHosts, type SshClient, type SshCommandOptions } from './ssh-command.js';
import type { SshFailure } from './ssh-failure.js';

export interface CheckOptions {
  readonly address: string;
  /** Fingerprint its unknown or changed host key must have to be accepted; null: none is. */
  readonly acceptKey: string | null;
  readonly home: string;
  readonly nowMs: () => number;
  readonly monotonicMs: () => number;
  readonly client?: SshClient | undefined;
  readonly connectTimeoutMs?: number | undefined;
  /** Where what the client asks is answered; absent: nowhere. */
  readonly desk?: AskDesk | undefined;
  /** It is connected to at once when it is usable: what was answered for this look counts for that as well. */
  readonly willConnect?: boolean | undefined;
}

export interface MachineLook {
  readonly checks: readonly MachineCheck[];
  readonly usable: boolean;
  /** The machine's own id; null: not known. */
  readonly identity: string | null;
}

type Step = MachineCheck['step'];

/** A disk with less is no place for logs and working folders. */
const leastFreeBytes = 1e9;
const mostSkewMs = 5000;
const lookWithinMs = 15_000;

export async function checkMachine(options: CheckOptions): Promise<MachineLook> {
  const checks = new Map<Step, MachineCheck>();
  const note = (
    step: Step,
    outcome: MachineCheck['outcome'],
    message: string,
    advice: string | null = null,
    fingerprint: string | null = null,
    code?: MachineCheck['code'],
  ): void => {
    checks.set(step, {
      step,
      outcome,
      message,
      advice,
      fingerprint,
      ...(code === undefined ? {} : { code }),
    });
  };
  const identity = await look(options, note);
  const failed = machineCheckSteps.find((step) => checks.get(step)?.outcome === 'FAILED');
  for (const step of machineCheckSteps)
    if (!checks.has(step))
      note(
        step,
        'SKIPPED',
        `Not looked at: ${failed === undefined ? 'an earlier step' : firstWords[failed]} comes first.`,
      );
  return {
    checks: machineCheckSteps.flatMap((step) => checks.get(step) ?? []),
    usable: failed === undefined,
    identity,
  };
}

/** What has to be put right before the others are looked at. */
const firstWords: Readonly<Record<Step, string>> = {
  reach: 'reaching it',
  'host-key': 'its host key',
  login: 'the login',
  shell: 'a shell',
  'attempts-folder': 'a folder for tasks',
  docker: 'Docker',
  gpus: 'its GPUs',
  disk: 'room on its disk',
  clock: 'its clock',
};

type Note = (
  step: Step,
  outcome: MachineCheck['outcome'],
  message: string,
  advice?: string | null,
  fingerprint?: string | null,
  code?: MachineCheck['code'],
) => void;

async function look(options: CheckOptions, note: Note): Promise<string | null> {
  const address = parseSshAddress(options.address);
  const { client = {}, home } = options;
  const host = formatSshAddress(address).replace(/^ssh:\/\//, '');
  const known = await userKnownHosts(client, address).catch(messageOf);
  if (typeof known === 'string') {
    const advice = 'Does ~/.ssh/config run a program that takes long? Check it once more.';
    note('reach', 'FAILED', `The SSH client here is slow: ${known}.`, advice);
    return null;
  }
  const ssh: SshCommandOptions = {
    client,
    address,
    knownHosts: [...known, ownKnownHosts(home)],
    connectTimeoutMs: options.connectTimeoutMs ?? 10_000,
    aliveEveryMs: 5000,
  };
  // One look, several logins: nobody is asked twice.
  const answers = new Map<string, string>();
  const ask = (): Promise<Asking | null> =>
    options.desk === undefined
      ? Promise.resolve(null)
      : Asking.begin({
          desk: options.desk,
          client,
          subject: { address, machine: null },
          folder: socketFolder(home),
          before: answers,
        });
  const key = await showHostKey(ssh, await ask());
  if ('kind' in key) {
    note('reach', 'FAILED', key.message, key.advice, null, codeOf(key));
    return null;
  }
  note('reach', 'OK', `${host} answers.`);
  let found = await meet(options, ssh, await ask());
  if (isFailure(found) && isKeyFailure(found)) {
    if (options.acceptKey !== key.fingerprint) {
      noteKey(note, found, key, options.acceptKey);
      return null;
    }
    acceptHostKey(home, key);
    found = await meet(options, ssh, await ask());
  }
  if (isFailure(found)) {
    noteFailure(note, found, key);
    return null;
  }
  note('host-key', 'OK', `Its host key is known (${key.fingerprint}).`, null, key.fingerprint);
  noteFound(note, host, found);
  if (options.willConnect === true) options.desk?.handOver(address, answers);
  return found.hello.facts.machineId === '' ? null : found.hello.facts.machineId;
}

function isKeyFailure(failure: SshFailure): boolean {
  return failure.kind === 'unknown-key' || failure.kind === 'changed-key';
}

function noteKey(note: Note, failure: SshFailure, key: ShownKey, accepted: string | null): void {
  const other = accepted === null ? '' : ` It is not ${accepted}, which was to be accepted.`;
  const message = `${failure.message} It shows ${key.fingerprint}.${other}`;
  note('host-key', 'FAILED', message, failure.advice, key.fingerprint);
}

function codeOf({ unanswered }: SshFailure): MachineCheck['code'] {
  return unanswered === undefined ? undefined : 'ANSWER_NEEDED';
}

function noteFailure(note: Note, failure: SshFailure, key: ShownKey): void {
  if (isKeyFailure(failure)) {
    noteKey(note, failure, key, null);
    return;
  }
  note('host-key', 'OK', `Its host key is known (${key.fingerprint}).`, null, key.fingerprint);
  if (failure.kind === 'shell') {
    note('login', 'OK', 'This user is let in.');
    note('shell', 'FAILED', failure.message, failure.advice);
  } else note('login', 'FAILED', failure.message, failure.advice, null, codeOf(failure));
}

/** What the far hand told. */
interface Found {
  readonly hello: FarHello;
  readonly folder: string;
  /** Null: the folder can be used. */
  readonly unusable: string | null;
  readonly machine: FarMachine;
  readonly clockSkewMs: number | null;
}

function isFailure(found: Found | SshFailure): found is SshFailure {
  return 'kind' in found;
}

/** Connects, asks everything once, and leaves. */
function meet(
  options: CheckOptions,
  ssh: SshCommandOptions,
  asking: Asking | null,
): Promise<Found | SshFailure> {
  return new Promise((resolve) => {
    const machine = new FarMachine(formatSshAddress(ssh.address));
    const waiting = new Set(['disks', 'gpus', 'docker']);
    let hello: FarHello | null = null;
    let folder = '';
    let unusable: string | null = null;
    let clockSkewMs: number | null = null;
    const finish = (): void => {
      clearTimeout(timer);
      if (hello !== null) resolve({ hello, folder, unusable, machine, clockSkewMs });
      void link.close();
    };
    // Until it has greeted, the link's own bounds hold: somebody may be thinking of an answer.
    let timer: NodeJS.Timeout | undefined;
    const seen = (word: FarWord): void => {
      switch (word.kind) {
        case 'hello':
          hello = helloOf(word);
          timer = setTimeout(finish, lookWithinMs + 10_000);
          // A folder of its own: that of a machine in use belongs to its connection.
          link.send(
            'setup',
            `.local/state/iris-desktop/attempts-${controllerId(options.home)}/check`,
            'supervisor',
            '',
          );
          return;
        case 'ready':
          folder = word.text(0);
          for (const kind of waiting) link.send(kind);
          return;
        case 'unusable':
          unusable = word.text(1);
          finish();
          return;
        case 'disks':
          machine.disks = disksOf(word.text(1), folder, hello?.home ?? '/');
          break;
        case 'gpus':
          machine.gpusSeen(word, hello?.facts.memoryBytes ?? 0);
          break;
        case 'docker':
          machine.docker = dockerOf(word.text(0), word.text(1));
          break;
        default:
          return;
      }
      waiting.delete(word.kind);
      if (waiting.size === 0) finish();
    };
    const link = openFarLink({
      ssh,
      asking,
      socketFolder: socketFolder(options.home),
      nowMs: options.nowMs,
      monotonicMs: options.monotonicMs,
      helloWithinMs: ssh.connectTimeoutMs + helloMs,
      pingEveryMs: 1000,
      silentAfterMs: lookWithinMs,
      onWord: seen,
      onContact: (skewMs) => {
        clockSkewMs = skewMs;
      },
      onLost: (failure) => {
        clearTimeout(timer);
        resolve(failure);
      },
    });
  });
}

function noteFound(note: Note, host: string, { hello, folder, unusable, machine, clockSkewMs }: Found): void {
  const { facts } = hello;
  note('login', 'OK', 'This user is let in.');
  note(
    'shell',
    'OK',
    `${facts.hostname}: ${facts.platform}, ${facts.cpuCount} processors, ${formatSize(facts.memoryBytes)} of memory.`,
  );
  if (unusable !== null) {
    note(
      'attempts-folder',
      'FAILED',
      `The folder for its tasks cannot be used: ${unusable}.`,
      'Is the disk there full, or the home folder read-only?',
    );
    return;
  }
  note(
    'attempts-folder',
    'OK',
    `Logs and working folders of tasks go below ${folder.replace(/\/check$/, '')}.`,
  );
  noteDocker(note, machine);
  noteGpus(note, machine);
  noteDisk(note, machine);
  if (clockSkewMs === null || Math.abs(clockSkewMs) <= mostSkewMs)
    note('clock', 'OK', 'Its clock agrees with this one.');
  else {
    const seconds = Math.round(Math.abs(clockSkewMs) / 1000);
    const message = `The clock of ${host} is ${seconds} s ${clockSkewMs > 0 ? 'ahead of' : 'behind'} this one; times are corrected by that.`;
    note('clock', 'WARNING', message, 'Let both keep time: sudo timedatectl set-ntp true.');
  }
}

function noteDocker(note: Note, { docker }: FarMachine): void {
  if (docker.state === 'READY') note('docker', 'OK', `Docker ${docker.version ?? ''} answers.`);
  else
    note(
      'docker',
      'WARNING',
      docker.message ?? 'Docker there was not looked at.',
      'Only jobs with a container image need it.',
    );
}

function noteGpus(note: Note, machine: FarMachine): void {
  const gpus = machine.gpus();
  const trouble = machine.gpuNote();
  if (gpus.length > 0)
    note('gpus', 'OK', `It has ${gpus.length === 1 ? 'one GPU' : `${gpus.length} GPUs`}: ${gpuNames(gpus)}.`);
  else if (trouble === null || trouble.includes('not installed'))
    note('gpus', 'OK', 'It has no NVIDIA GPUs, or no driver for them.');
  else
    note(
      'gpus',
      'WARNING',
      `Its GPUs cannot be read: ${trouble}.`,
      'Run nvidia-smi there and mend what it says.',
    );
}

function noteDisk(note: Note, { disks }: FarMachine): void {
  const [disk] = disks;
  if (disk === undefined) note('disk', 'WARNING', 'How full its disks are cannot be read.', 'Run df there.');
  else if (disk.freeBytes < leastFreeBytes)
    note(
      'disk',
      'WARNING',
      `Only ${formatSize(disk.freeBytes)} are free where logs and working folders go.`,
      'Make room there before jobs fill it.',
    );
  else note('disk', 'OK', `${formatSize(disk.freeBytes)} are free where logs and working folders go.`);
}
