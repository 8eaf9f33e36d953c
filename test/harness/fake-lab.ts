/** A lab's machines in the states a machine and a card can be in, with their images, for the fake host. */
import { plainGpu, type GpuView } from '../../core/contract/gpus.js';
import {
  localMachine,
  type ImagePull,
  type ImageView,
  type MachineView,
} from '../../core/contract/machines.js';
import { fakeAttemptUid, fakeMachine, fakeUser } from './fake-data.js';

const gib = 1024 ** 3;
const minute = 60_000;

export function fakeGpu(uuid: string, index: number, part: Partial<GpuView> = {}): GpuView {
  return {
    ...plainGpu,
    processes: [],
    claimedBy: [],
    uuid,
    index,
    name: 'NVIDIA H100 80GB HBM3',
    variant: 'h100',
    utilizationPercent: 0,
    memoryUsedBytes: 4 * 1024 ** 2,
    memoryTotalBytes: 80 * gib,
    temperatureCelsius: 34,
    powerWatts: 72,
    powerLimitWatts: 700,
    clockMhz: 345,
    memoryClockMhz: 2619,
    eccUncorrected: 0,
    busId: `00000000:${(0x1b + index * 16).toString(16).toUpperCase()}:00.0`,
    numaNode: index < 4 ? 0 : 1,
    nvlinkTo: [],
    ...part,
  };
}

const ready = { state: 'READY', version: '27.3.1', gpus: true, message: null } as const;

/** The machine of the host itself, a server with cards in every state, and machines one has lost, closed or let go. */
export function fakeLab(nowMs: number): MachineView[] {
  const connected = {
    state: 'CONNECTED',
    sinceMs: nowMs - 3 * 3_600_000,
    lastContactMs: nowMs - 1500,
    message: null,
  } as const;
  const h100 = (index: number) => `GPU-77ab01c2-0000-4000-8000-00000000000${index}`;
  return [
    fakeMachine(nowMs, { docker: ready }),
    fakeMachine(nowMs, {
      id: 'h100-1',
      hostname: 'h100-1.lab',
      address: 'ssh://anna@h100-1.lab',
      platform: 'Linux 5.15, x86-64',
      cpuModel: 'Intel Xeon Platinum 8480C',
      cpuCount: 224,
      cpuMillicoresTotal: 224_000,
      cpuMillicoresFree: 96_000,
      cpuBusyPercent: 57,
      memoryTotalBytes: 2048 * gib,
      memoryAvailableBytes: 1210 * gib,
      memoryFreeForJobsBytes: 1100 * gib,
      state: 'DEGRADED',
      contact: connected,
      docker: ready,
      clockSkewMs: -42,
      runningTasks: 11,
      taints: [{ key: 'team', value: 'vision' }],
      attributes: { 'device-type': 'gpu', preemptible: 'false', room: 'b12' },
      setByHand: ['room'],
      gpuNote: null,
      gpus: [
        fakeGpu(h100(0), 0, {
          state: 'HELD',
          utilizationPercent: 98,
          memoryUsedBytes: 71 * gib,
          temperatureCelsius: 67,
          powerWatts: 641,
          clockMhz: 1980,
          heldBy: fakeAttemptUid(`/${fakeUser}/lr-sweep/0`, 0),
          nvlinkTo: [h100(1)],
          processes: [
            {
              pid: 40_112,
              user: fakeUser,
              name: 'python3',
              usedBytes: 70.8 * gib,
              computes: true,
              attemptUid: fakeAttemptUid(`/${fakeUser}/lr-sweep/0`, 0),
            },
          ],
        }),
        fakeGpu(h100(1), 1, { nvlinkTo: [h100(0)] }),
        fakeGpu(h100(2), 2, {
          state: 'BUSY',
          busyByOthers: true,
          stateReason: 'bert computes on it: python3 (pid 9120), 31 GiB.',
          utilizationPercent: 88,
          memoryUsedBytes: 31 * gib,
          temperatureCelsius: 61,
          powerWatts: 512,
          processes: [
            {
              pid: 9120,
              user: 'bert',
              name: 'python3',
              usedBytes: 31 * gib,
              computes: true,
              attemptUid: null,
            },
            {
              pid: 2201,
              user: 'root',
              name: 'Xorg',
              usedBytes: 4 * 1024 ** 2,
              computes: false,
              attemptUid: null,
            },
          ],
        }),
        fakeGpu(h100(3), 3, {
          state: 'SICK',
          stateReason:
            'Xid 79 at 14:02: the GPU has fallen off the bus. Reboot the machine, then release it.',
          utilizationPercent: null,
          memoryUsedBytes: null,
          temperatureCelsius: null,
          powerWatts: null,
          clockMhz: null,
          eccUncorrected: 3,
          note: 'The tool answers ERR! about this card.',
        }),
        fakeGpu(h100(4), 4, {
          state: 'SILENT',
          stateReason: 'nvidia-smi has not answered about it for 40 s.',
          utilizationPercent: null,
          memoryUsedBytes: null,
          temperatureCelsius: null,
          powerWatts: null,
          note: 'nvidia-smi does not answer.',
        }),
        fakeGpu('MIG-5c6f0e1a-0000-5000-8000-000000000001', 5, {
          name: 'NVIDIA H100 80GB HBM3 MIG 3g.40gb',
          variant: 'h100-3g-40gb',
          parentUuid: h100(5),
          memoryTotalBytes: 40 * gib,
          utilizationPercent: null,
          powerWatts: null,
          note: 'The tool gives no utilisation of a slice.',
        }),
        fakeGpu('MIG-5c6f0e1a-0000-5000-8000-000000000002', 6, {
          name: 'NVIDIA H100 80GB HBM3 MIG 3g.40gb',
          variant: 'h100-3g-40gb',
          parentUuid: h100(5),
          memoryTotalBytes: 40 * gib,
          state: 'BUSY',
          claimedBy: ['clara'],
          stateReason: 'A job of clara, by another controller on this machine, has it.',
          utilizationPercent: null,
          powerWatts: null,
          note: 'The tool gives no utilisation of a slice.',
        }),
        fakeGpu(h100(7), 7, {}),
      ],
    }),
    fakeMachine(nowMs, {
      id: 'spark',
      hostname: 'spark',
      address: 'ssh://spark',
      platform: 'Linux 6.11, arm64',
      cpuModel: 'NVIDIA Grace, 20 cores',
      cpuCount: 20,
      cpuMillicoresTotal: 20_000,
      cpuMillicoresFree: 12_000,
      cpuBusyPercent: 12,
      memoryTotalBytes: 119.7 * gib,
      memoryAvailableBytes: 80 * gib,
      memoryFreeForJobsBytes: 72 * gib,
      contact: connected,
      scheduling: 'DRAINING',
      drainDeadlineMs: nowMs + 25 * minute,
      docker: {
        state: 'FAILED',
        version: '27.1.0',
        gpus: false,
        message:
          'The NVIDIA container runtime is missing: install nvidia-container-toolkit and restart Docker.',
      },
      clockSkewMs: 3,
      runningTasks: 1,
      gpus: [
        fakeGpu('GPU-0b100000-0000-4000-8000-000000000000', 0, {
          name: 'NVIDIA GB10',
          variant: 'gb10',
          sharesHostMemory: true,
          memoryUsedBytes: null,
          memoryTotalBytes: 119.7 * gib,
          powerLimitWatts: null,
          note: 'It uses the memory of the machine; the tool gives no figure of its own.',
        }),
      ],
    }),
    fakeMachine(nowMs, {
      id: 'ws-2',
      hostname: 'ws-2',
      address: 'ssh://ws-2.lab:2222',
      state: 'DEAD',
      contact: {
        state: 'UNREACHABLE',
        sinceMs: nowMs - 7 * minute,
        lastContactMs: nowMs - 7 * minute,
        message: 'No route to ws-2.lab. Its tasks go on there; they are taken up again when it answers.',
      },
      docker: { ...localMachine.docker },
      cpuBusyPercent: null,
      clockSkewMs: null,
      runningTasks: 2,
      gpus: [],
      gpuNote: 'Not looked at since the contact was lost.',
    }),
    fakeMachine(nowMs, {
      id: 'ws-3',
      hostname: 'ws-3',
      address: 'ssh://ws-3.lab',
      state: 'DEAD',
      contact: {
        state: 'OFF',
        sinceMs: nowMs - 14 * 3_600_000,
        lastContactMs: nowMs - 14 * 3_600_000,
        message: 'Nothing answers at ws-3.lab. It is probably switched off.',
      },
      scheduling: 'CORDONED',
      docker: { ...localMachine.docker },
      cpuBusyPercent: null,
      clockSkewMs: null,
      wakeAddress: 'a8:a1:59:3c:11:0f',
      runningTasks: 0,
      gpus: [],
      gpuNote: 'Not looked at since the contact was lost.',
    }),
  ];
}

/** `count` alike machines of four cards each, for long lists. */
export function manyMachines(nowMs: number, count: number): MachineView[] {
  return Array.from({ length: count }, (_item, at) => {
    const id = `ws-${String(at + 1).padStart(2, '0')}`;
    return fakeMachine(nowMs, {
      id,
      hostname: id,
      address: at === 0 ? null : `ssh://${id}.lab`,
      cpuBusyPercent: (at * 37) % 100,
      runningTasks: (at * 5) % 9,
      scheduling: at % 9 === 4 ? 'CORDONED' : 'OPEN',
      gpus: [0, 1, 2, 3].map((index) =>
        fakeGpu(`GPU-${String(at).padStart(8, '0')}-0000-4000-8000-00000000000${index}`, index, {
          state: (['HELD', 'FREE', 'HELD', 'BUSY'] as const)[(index + at) % 4] ?? 'FREE',
          utilizationPercent: (at * 13 + index * 29) % 100,
        }),
      ),
    });
  });
}

export function fakeImages(nowMs: number): { images: ImageView[]; pulls: ImagePull[] } {
  const image = (machineId: string, name: string, sizeGib: number, days: number, inUse = 0): ImageView => ({
    machineId,
    id: `sha256:${`${name}${machineId}`.replace(/\W/g, '').padEnd(64, '7c1f').slice(0, 64)}`,
    names: name === '' ? [] : [name],
    sizeBytes: Math.round(sizeGib * gib),
    createdAtMs: nowMs - days * 86_400_000,
    inUse,
  });
  return {
    images: [
      image('ws-1', 'pytorch/pytorch:2.9.0-cuda12.8-cudnn9-runtime', 7.4, 61, 2),
      image('ws-1', 'registry.lab/vision/train:2026-11', 11.2, 12),
      image('ws-1', 'python:3.12-slim', 0.12, 20),
      image('ws-1', '', 2.1, 140),
      image('h100-1', 'nvcr.io/nvidia/pytorch:26.10-py3', 21.8, 33, 4),
      image('h100-1', 'pytorch/pytorch:2.9.0-cuda12.8-cudnn9-runtime', 7.4, 61),
    ],
    pulls: [
      {
        machineId: 'ws-1',
        image: 'nvcr.io/nvidia/pytorch:26.10-py3',
        state: 'PULLING',
        totalBytes: 21.8 * gib,
        doneBytes: 9.1 * gib,
        layers: 42,
        layersDone: 19,
        message: null,
        startedAtMs: nowMs - 140_000,
      },
      {
        machineId: 'ws-1',
        image: 'registry.lab/private/model:1',
        state: 'FAILED',
        totalBytes: null,
        doneBytes: 0,
        layers: 0,
        layersDone: 0,
        message: 'registry.lab asks for a login. Run docker login registry.lab on ws-1, then pull again.',
        startedAtMs: nowMs - 600_000,
      },
    ],
  };
}
