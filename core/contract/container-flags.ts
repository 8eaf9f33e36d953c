/** Flags of `irisctl job run` about the machine and the container a job runs in. */
import { numberOrText, switchFlag, valueFlag, type RunFlag } from './flag-kinds.js';
import type { FieldError } from './errors.js';

const mountExpected = 'SOURCE:TARGET or SOURCE:TARGET:ro, both absolute paths';

/** `SOURCE:TARGET[:ro|rw]`, the last two parts taken from the right, as a source may hold colons. */
function readMount(text: string): { source: string; target: string; readOnly: boolean } | FieldError {
  const match = /^(\/.*?):(\/[^:]*)(?::(ro|rw))?$/.exec(text);
  const [, source, target, mode] = match ?? [];
  return source === undefined || target === undefined
    ? { field: 'mounts', value: text, expected: mountExpected }
    : { source, target, readOnly: mode === 'ro' };
}

export const containerFlags: readonly RunFlag[] = [
  valueFlag('--machine', 'machine', 'NAME', 'only on this machine', (machine) => ({ machine })),
  switchFlag(
    '--share-gpu',
    'other tasks that share may use its GPUs beside it (with --gpu and --gpu-memory)',
    () => ({ request: { shareGpu: true } }),
    { field: 'shareGpu', write: (request) => (request.shareGpu === true ? ['--share-gpu'] : []) },
  ),
  valueFlag(
    '--gpu-memory',
    'gpuMemory',
    'SIZE',
    'with --share-gpu: what a task uses of the memory of each GPU (counted, not enforced)',
    (gpuMemory) => ({ gpuMemory }),
  ),
  valueFlag(
    '--task-image',
    'image',
    'IMAGE',
    'container image the command runs in (default: none, a process of the machine)',
    (image) => ({ image }),
    { aliases: ['--image'] },
  ),
  valueFlag('--pull', 'pull', 'WHEN', 'pull the image: missing (default), always or never', (pull) => ({
    pull,
  })),
  valueFlag(
    '--container-profile',
    'containerProfile',
    'PROFILE',
    'default, restricted, gvisor, docker-access or privileged',
    (containerProfile) => ({ containerProfile }),
  ),
  {
    ...valueFlag(
      '--mount',
      'mounts',
      'SOURCE:TARGET[:ro]',
      'folder of the machine seen in the container',
      () => ({}),
      {
        aliases: ['--volume'],
        repeatable: true,
        write: (request) =>
          (request.mounts ?? []).flatMap(({ source, target, readOnly }) => [
            '--mount',
            `${source}:${target}${readOnly === true ? ':ro' : ''}`,
          ]),
      },
    ),
    convert: (value, soFar) => {
      const mount = readMount(value);
      return 'expected' in mount
        ? { error: mount }
        : { request: { mounts: [...(soFar.mounts ?? []), mount] } };
    },
  },
  valueFlag(
    '--setup',
    'setup',
    'SCRIPT',
    'shell script to run before the command, in a container of its own',
    (script, soFar) => ({ setup: [...(soFar.setup ?? []), script] }),
    {
      repeatable: true,
      write: (request) => (request.setup ?? []).flatMap((script) => ['--setup', script]),
    },
  ),
  valueFlag('--shm-size', 'shm', 'SIZE', 'size of /dev/shm in the container', (shm) => ({ shm })),
  valueFlag('--pids-limit', 'pidsLimit', 'N', 'most processes in the container at a time', (text) => ({
    pidsLimit: numberOrText(text),
  })),
  switchFlag('--tty', 'give the command a terminal', () => ({ request: { tty: true } }), {
    field: 'tty',
    write: (request) => (request.tty === true ? ['--tty'] : []),
  }),
];
