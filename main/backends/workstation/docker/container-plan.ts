/** What the Engine is told to make of an attempt. */
import type Docker from 'dockerode';
import type { JobSpec } from '../../../../core/contract/job-request.js';
import { cdiName } from '../../../../core/formats/docker/gpu-way.js';
import type { AttemptLaunch } from '../../backend.js';
import { scratchTarget, type Bind } from './confinement.js';
import { cacheBinds, containerEnvironment } from './container-environment.js';

export const managedLabel = 'iris.managed';

export const containerName = (uid: string, part: 'run' | 'set-up'): string =>
  part === 'run' ? `iris-${uid}` : `iris-${uid}-set-up`;

export interface PlanInput {
  readonly launch: AttemptLaunch;
  readonly owner: string;
  readonly binds: readonly Bind[];
  readonly hidden: readonly string[];
  /** Of the machine; mounted as the attempt's private folder. */
  readonly scratch: string;
  /** What the image sets itself; null: it is not there. */
  readonly image: Readonly<Record<string, string>> | null;
  /** Its set-up made a Python environment. */
  readonly venv: boolean;
  readonly user: ContainerUser | null;
  /** The Engine has a program that reaps and passes signals on. */
  readonly init: boolean;
  /** The Engine gives containers numbers of users of their own. */
  readonly remapped: boolean;
  /** The Engine gives cards as CDI devices, and in no other way. */
  readonly cdi: boolean;
  /** Of the Engine, for the profile that may command it. */
  readonly socket: { readonly path: string; readonly gid: number } | null;
}

/** Null in a rootless Engine, whose root is the user already. */
export interface ContainerUser {
  readonly uid: number;
  readonly gid: number;
  readonly groups: readonly number[];
}

const socketTarget = '/var/run/docker.sock';

export function containerPlan(input: PlanInput, part: 'run' | 'set-up'): Docker.ContainerCreateOptions {
  const { launch, user } = input;
  const { spec } = launch;
  return {
    name: containerName(launch.uid, part),
    Image: spec.image ?? '',
    // The image's own entry point would change what the command means.
    Entrypoint: part === 'run' ? [...spec.command] : [...setUpCommand(spec)],
    Cmd: [],
    Env: Object.entries(containerEnvironment(input)).map(([name, value]) => `${name}=${value}`),
    WorkingDir: spec.workingDirectory,
    Tty: part === 'run' && spec.tty,
    AttachStdin: false,
    AttachStdout: false,
    AttachStderr: false,
    Healthcheck: { Test: ['NONE'] },
    StopSignal: spec.stopSignal,
    ...(user === null ? {} : { User: `${user.uid}:${user.gid}` }),
    Labels: {
      [managedLabel]: input.owner,
      'iris.attempt-uid': launch.uid,
      'iris.task': launch.taskId,
      'iris.job': launch.taskId.replace(/\/\d+$/, ''),
      'iris.worker': launch.workerId,
      'iris.part': part,
    },
    HostConfig: hostConfig(input),
  };
}

/** Each script in a shell of its own, in order, up to the first that fails; announced as the original does. */
function setUpCommand(spec: JobSpec): readonly string[] {
  const each =
    'n=0; for script do n=$((n + 1)); echo "[iris setup] step $n/$#"; sh -c "$script" || exit $?; done';
  return ['sh', '-c', each, 'set-up', ...spec.setup];
}

function hostConfig(input: PlanInput): Docker.HostConfig {
  const { launch, binds, hidden, scratch, user } = input;
  const { spec } = launch;
  const socket = spec.containerProfile === 'DOCKER_ACCESS' ? input.socket : null;
  const mounts: Docker.MountConfig = [
    ...[...binds, ...cacheBinds(input)].map(({ source, target, readOnly }) => bind(source, target, readOnly)),
    ...hidden.map((target): Docker.MountSettings => ({
      Type: 'tmpfs',
      Source: '',
      Target: target,
      ReadOnly: true,
      TmpfsOptions: { SizeBytes: 4096, Mode: 0o500 },
    })),
    bind(scratch, scratchTarget, false),
    ...(socket === null ? [] : [bind(socket.path, socketTarget, false)]),
  ];
  const groups = [...(user?.groups ?? []), ...(socket === null ? [] : [socket.gid])];
  const shares = Math.min(262_144, Math.max(2, Math.round((spec.cpuMillicores * 1024) / 1000)));
  return {
    Mounts: mounts,
    // Ports are allotted on the machine.
    NetworkMode: 'host',
    // Which only who has the machine's own users may have; and what is left in mounted folders is to be the user's.
    ...(input.remapped ? { UsernsMode: 'host' } : {}),
    AutoRemove: false,
    RestartPolicy: { Name: 'no' },
    // Never rotated, whatever the Engine's own default is: what is copied from must be whole.
    LogConfig: {
      Type: 'json-file',
      Config: { 'max-size': '1000000g', 'max-file': '1', compress: 'false' },
    },
    Init: input.init,
    CpuShares: shares,
    // Without swap beside it, so that the limit is one.
    ...(spec.memoryIsLimit ? { Memory: spec.memoryBytes, MemorySwap: spec.memoryBytes } : {}),
    ...(spec.shmBytes === null ? {} : { ShmSize: spec.shmBytes }),
    ...(spec.pidsLimit === null ? {} : { PidsLimit: spec.pidsLimit }),
    ...(launch.devices.length === 0 ? {} : { DeviceRequests: [cardsRequest(launch.devices, input.cdi)] }),
    ...(groups.length === 0 ? {} : { GroupAdd: groups.map(String) }),
    ...rights(spec.containerProfile),
  };
}

/** Named, never counted. */
function cardsRequest(devices: readonly string[], cdi: boolean): Docker.DeviceRequest {
  return cdi
    ? { Driver: 'cdi', DeviceIDs: devices.map(cdiName) }
    : { Driver: '', DeviceIDs: [...devices], Capabilities: [['gpu']] };
}

/** What each profile lets the container do. */
function rights(profile: JobSpec['containerProfile']): Partial<Docker.HostConfig> {
  if (profile === 'PRIVILEGED') return { Privileged: true };
  const none = { CapDrop: ['ALL'], SecurityOpt: ['no-new-privileges'] };
  switch (profile) {
    case 'RESTRICTED':
      return none;
    case 'GVISOR':
      return { ...none, CapAdd: ['SYS_PTRACE'], Runtime: 'runsc' };
    case 'DEFAULT':
    case 'DOCKER_ACCESS':
      return { ...none, CapAdd: ['SYS_PTRACE'] };
  }
}

function bind(source: string, target: string, readOnly: boolean): Docker.MountSettings {
  return { Type: 'bind', Source: source, Target: target, ReadOnly: readOnly };
}
