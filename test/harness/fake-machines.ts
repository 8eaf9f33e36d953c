/** Machines and images of the fake host: what is asked of them changes them, and a machine that is added is looked at first. */
import type { CacheName, MachineCaches } from '../../core/contract/caches.js';
import type { MethodName, MethodResult, ParsedParams } from '../../core/contract/api.js';
import { RefusalError, refusal } from '../../core/contract/errors.js';
import type {
  History,
  ImageNews,
  ImagePull,
  ImageView,
  MachineChange,
  MachineCheck,
  MachineView,
} from '../../core/contract/machines.js';
import type { Question } from '../../core/contract/questions.js';
import type { AuditEvent } from '../../core/contract/views.js';
import { fakeMachine } from './fake-data.js';
import type { FakeHost } from './fake-host.js';

type Handlers = { [M in MethodName]: (params: ParsedParams<M>) => MethodResult<M> };

export interface FakeMachineState {
  images: ImageView[];
  /** How often they changed. */
  imageChanges: number;
  caches: MachineCaches[];
  cacheChanges: number;
  /** What a measurement finds. */
  cacheSizes: Partial<Record<CacheName, number>>;
  pulls: ImagePull[];
  /** What a look at an address finds, by address without its scheme; of others all is well. */
  readonly checks: Map<string, readonly MachineCheck[]>;
  /** Host keys nobody has accepted yet, by address. */
  readonly unknownKeys: Map<string, string>;
  readonly woken: string[];
  /** What is asked on the way to a machine. */
  question: Question | null;
  /** What the next removal could not stop. */
  notStopped: string | null;
  /** Newest first, as they are answered. */
  audit: AuditEvent[];
}

export function fakeMachineState(): FakeMachineState {
  return {
    images: [],
    imageChanges: 0,
    caches: [],
    cacheChanges: 0,
    cacheSizes: {},
    pulls: [],
    checks: new Map(),
    unknownKeys: new Map(),
    woken: [],
    question: null,
    notStopped: null,
    audit: [],
  };
}

/** Asks it, or nothing any more. */
export function askFake(host: FakeHost, question: Question | null): void {
  host.lab.question = question;
  host.tell('questions', () => ({ question }));
}

const bare = (address: string): string => address.replace(/^ssh:\/\//, '');

const check = (
  step: MachineCheck['step'],
  message: string,
  part: Partial<MachineCheck> = {},
): MachineCheck => ({
  step,
  outcome: 'OK',
  message,
  advice: null,
  fingerprint: null,
  ...part,
});

/** All that a look at a machine finds when nothing is wrong, with one warning as most have it. */
export function fakeChecks(address: string): MachineCheck[] {
  const host = bare(address);
  return [
    check('reach', `${host} answers on port 22 in 3 ms.`),
    check('host-key', 'Its host key is the one known.'),
    check('login', 'Logged in as anna with a key of the agent.'),
    check('shell', 'A POSIX sh is there (dash).'),
    check('attempts-folder', '/home/anna/.iris can be written; it is on a local disk.'),
    check('docker', 'No Docker there.', {
      outcome: 'WARNING',
      advice: 'Jobs run as processes. Install Docker on it if containers are wanted.',
    }),
    check('gpus', '2 GPUs: NVIDIA RTX A6000.'),
    check('disk', '412 GiB free in /home.'),
    check('clock', 'Its clock is 12 ms ahead.'),
  ];
}

function look(host: FakeHost, address: string, acceptKey: string | null): MachineCheck[] {
  const known = bare(address);
  const key = host.lab.unknownKeys.get(known);
  if (key !== undefined && acceptKey !== key) {
    return [
      check('reach', `${known} answers on port 22 in 3 ms.`),
      check('host-key', 'Its host key is not known yet.', {
        outcome: 'FAILED',
        advice: 'Compare the fingerprint with one from who administers the machine, then accept it.',
        fingerprint: key,
      }),
      ...(['login', 'shell', 'attempts-folder', 'docker', 'gpus', 'disk', 'clock'] as const).map((step) =>
        check(step, 'Not tried.', { outcome: 'SKIPPED' }),
      ),
    ];
  }
  return [...(host.lab.checks.get(known) ?? fakeChecks(address))];
}

const usable = (checks: readonly MachineCheck[]) => checks.every(({ outcome }) => outcome !== 'FAILED');

function find(host: FakeHost, id: string): MachineView {
  const machine = host.machines.find((known) => known.id === id);
  if (machine === undefined) throw new RefusalError(refusal('NOT_FOUND', `There is no machine ${id}.`));
  return machine;
}

function changed(host: FakeHost, machine: MachineView, change: MachineChange): MachineView {
  switch (change.kind) {
    case 'cordon':
      return { ...machine, scheduling: 'CORDONED' };
    case 'uncordon':
      return { ...machine, scheduling: 'OPEN', drainDeadlineMs: null };
    case 'drain':
      return {
        ...machine,
        scheduling: machine.runningTasks === 0 ? 'DRAINED' : 'DRAINING',
        drainDeadlineMs: change.deadlineMs === null ? null : host.nowMs + change.deadlineMs,
      };
    case 'attributes': {
      const kept = Object.entries({ ...machine.attributes, ...change.attributes }).flatMap(([key, value]) =>
        value === null ? [] : [[key, value] as const],
      );
      const names = Object.keys(change.attributes).filter((name) => change.attributes[name] !== null);
      const setByHand = [
        ...(machine.setByHand ?? []).filter((name) => !(name in change.attributes)),
        ...names,
      ];
      return { ...machine, attributes: Object.fromEntries(kept), setByHand };
    }
    case 'taints':
      return { ...machine, taints: change.taints };
    case 'wake-address':
      return { ...machine, wakeAddress: change.wakeAddress };
    case 'release-gpu':
      return {
        ...machine,
        gpus: machine.gpus.map((gpu) =>
          gpu.uuid === change.uuid ? { ...gpu, state: 'FREE' as const, stateReason: null } : gpu,
        ),
      };
  }
}

function put(host: FakeHost, machine: MachineView): MachineView {
  host.machines = host.machines.some(({ id }) => id === machine.id)
    ? host.machines.map((known) => (known.id === machine.id ? machine : known))
    : [...host.machines, machine];
  queueMicrotask(() => {
    host.publishOverview();
  });
  return machine;
}

/** Load as waves that differ by figure, in steps of two seconds in the last hour and of a minute before. */
function history(host: FakeHost, machine: MachineView, sinceMs: number): History {
  const stepMs = sinceMs < host.nowMs - 3_660_000 ? 60_000 : 2000;
  const timesMs: number[] = [];
  const oldest = Math.max(sinceMs, host.nowMs - 7 * 86_400_000);
  for (let at = Math.ceil(oldest / stepMs) * stepMs; at <= host.nowMs; at += stepMs) timesMs.push(at);
  const wave = (base: number, swing: number, seed: number, most: number) =>
    timesMs.map((at) => {
      const slow = Math.sin(at / 240_000 + seed) + 0.35 * Math.sin(at / 17_000 + seed * 3);
      return Math.max(0, Math.min(most, Math.round((base + swing * slow) * 10) / 10));
    });
  const used = machine.memoryTotalBytes - machine.memoryAvailableBytes;
  return {
    stepMs,
    timesMs,
    series: [
      { key: 'cpu-percent', values: wave(machine.cpuBusyPercent ?? 0, 12, 1, 100) },
      { key: 'disk-bytes:read', values: wave(40e6, 30e6, 2, 500e6) },
      { key: 'disk-bytes:written', values: wave(9e6, 8e6, 3, 500e6) },
      { key: 'memory-bytes', values: wave(used, used / 12, 2, machine.memoryTotalBytes) },
      ...machine.gpus.flatMap((gpu) => {
        const of = (key: string, value: number | null, swing: number, most: number) => ({
          key: `${key}:${gpu.uuid}`,
          values:
            value === null ? timesMs.map(() => null) : wave(value, value === 0 ? 0 : swing, gpu.index, most),
        });
        const memory = gpu.memoryUsedBytes;
        return [
          of('gpu-percent', gpu.utilizationPercent, 9, 100),
          of('gpu-memory-bytes', memory, (memory ?? 0) / 20, gpu.memoryTotalBytes ?? 0),
          of('gpu-watts', gpu.powerWatts, 25, gpu.powerLimitWatts ?? 450),
          of('gpu-celsius', gpu.temperatureCelsius, 3, 110),
        ];
      }),
    ],
  };
}

function pullOf(host: FakeHost, machineId: string, image: string): ImagePull {
  const pull = host.lab.pulls.find((known) => known.machineId === machineId && known.image === image);
  if (pull === undefined)
    throw new RefusalError(refusal('NOT_FOUND', `${image} is not being fetched on ${machineId}.`));
  return pull;
}

export function setPull(host: FakeHost, pull: ImagePull): void {
  host.lab.pulls = [
    ...host.lab.pulls.filter((known) => known.machineId !== pull.machineId || known.image !== pull.image),
    pull,
  ];
  host.tell('images', () => fakeImageNews(host.lab));
}

export function fakeImageNews({ imageChanges, cacheChanges, pulls }: FakeMachineState): ImageNews {
  return { changes: imageChanges, cacheChanges, pulls: [...pulls] };
}

/** As when others bring or remove some. */
export function setImages(host: FakeHost, images: readonly ImageView[]): void {
  host.lab.images = [...images];
  host.lab.imageChanges += 1;
  host.tell('images', () => fakeImageNews(host.lab));
}

export function fakeMachineHandlers(
  host: FakeHost,
): Pick<Handlers, Extract<MethodName, `machine.${string}` | `image.${string}` | 'question.answer'>> {
  return {
    'machine.list': () => ({ machines: [...host.machines] }),
    'machine.check': (params) => {
      const checks = look(host, params.address, params.acceptKey);
      return { checks, usable: usable(checks) };
    },
    'machine.add': (params) => {
      if (host.machines.some(({ id }) => id === params.name)) {
        const expected = 'a name no other machine has';
        throw new RefusalError(
          refusal('ALREADY_EXISTS', `There is a machine ${params.name} already.`, [
            { field: 'name', value: params.name, expected },
          ]),
        );
      }
      const checks = look(host, params.address, params.acceptKey);
      if (!usable(checks)) return { machine: null, checks };
      const address = `ssh://${bare(params.address)}`;
      const machine = fakeMachine(host.nowMs, {
        id: params.name,
        hostname: params.name,
        address,
        runningTasks: 0,
        contact: { state: 'CONNECTED', sinceMs: host.nowMs, lastContactMs: host.nowMs, message: null },
      });
      return { machine: put(host, machine), checks };
    },
    'machine.remove': (params) => {
      const machine = find(host, params.machineId);
      if (machine.runningTasks > 0 && !params.force) {
        const text = `${machine.runningTasks} tasks run on ${machine.id}. Drain it first, or remove it with force.`;
        throw new RefusalError(refusal('FAILED_PRECONDITION', text));
      }
      host.machines = host.machines.filter(({ id }) => id !== machine.id);
      queueMicrotask(() => {
        host.publishOverview();
      });
      return { notStopped: host.lab.notStopped };
    },
    'machine.change': (params) => put(host, changed(host, find(host, params.machineId), params.change)),
    'machine.connect': (params) => {
      const { id, contact } = find(host, params.machineId);
      if (contact.state === 'CONNECTED') return {};
      throw new RefusalError(refusal('UNREACHABLE', `${id} is not in contact. Nothing answers there.`));
    },
    'question.answer': ({ questionId }) => {
      if (host.lab.question?.id !== questionId)
        throw new RefusalError(refusal('NOT_FOUND', 'This is not asked any more.'));
      askFake(host, null);
      return {};
    },
    'machine.wake': (params) => {
      const machine = find(host, params.machineId);
      if (machine.wakeAddress === null)
        throw new RefusalError(refusal('FAILED_PRECONDITION', `${machine.id} has no address to wake it by.`));
      host.lab.woken.push(machine.id);
      put(host, {
        ...machine,
        contact: { ...machine.contact, state: 'CONNECTING', message: 'Woken; waiting for it to answer.' },
      });
      return {};
    },
    'machine.history': (params) => history(host, find(host, params.machineId), params.sinceMs),
    'image.list': () => ({ images: [...host.lab.images], pulls: [...host.lab.pulls] }),
    'image.pull': (params) => {
      find(host, params.machineId);
      setPull(host, {
        ...params,
        state: 'PULLING',
        totalBytes: null,
        doneBytes: 0,
        layers: 0,
        layersDone: 0,
        message: null,
        startedAtMs: host.nowMs,
      });
      return {};
    },
    'image.cancel': (params) => {
      setPull(host, { ...pullOf(host, params.machineId, params.image), state: 'CANCELLED' });
      return {};
    },
    'image.remove': (params) => {
      const image = host.lab.images.find(
        ({ machineId, id }) => machineId === params.machineId && id === params.imageId,
      );
      if (image === undefined)
        throw new RefusalError(
          refusal('NOT_FOUND', `There is no image ${params.imageId} on ${params.machineId}.`),
        );
      if (image.inUse > 0)
        throw new RefusalError(refusal('FAILED_PRECONDITION', `${image.inUse} containers of ours use it.`));
      setImages(
        host,
        host.lab.images.filter((known) => known !== image),
      );
      return {};
    },
  };
}
