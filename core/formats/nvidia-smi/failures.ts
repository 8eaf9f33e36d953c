/** What the tool says instead of an answer. */
import { busIdOf } from './words.js';

/** Address of the one card because of which nothing at all is told; null: it is not that. */
export function lostCardOf(text: string): string | null {
  const line = /^Unable to determine the device handle for (?:gpu|device)?.*$/im.exec(text)?.[0];
  return line === undefined ? null : busIdOf(line);
}

const sentences: readonly (readonly [RegExp, string])[] = [
  [
    /Failed to initialize NVML: Driver\/library version mismatch/i,
    'the driver was updated while the machine ran; restart the machine, or unload and load the nvidia modules',
  ],
  [
    /Failed to initialize NVML: Unknown Error/i,
    'this program has lost its access to the GPUs, as containers do after a reload of systemd; start the container, or Iris, again',
  ],
  [
    /Failed to initialize NVML: Insufficient Permissions/i,
    'this user may not open /dev/nvidia*; an administrator can add the user to the group that may',
  ],
  [
    /has failed because it couldn't communicate with the NVIDIA driver/i,
    'the driver is not loaded; install it for the running kernel, or restart the machine',
  ],
  [/No devices were found/i, 'the driver finds no card it can use'],
];

/** One line for people: the tool's own, and what to do where that is known. */
export function failureSentence(text: string): string {
  const line = text.trim().split('\n')[0]?.trim() ?? '';
  if (line === '') return 'nvidia-smi printed nothing';
  const advice = sentences.find(([pattern]) => pattern.test(text))?.[1];
  const shown = line.slice(0, 300);
  return advice === undefined ? shown : `${shown.replace(/\.$/, '')}: ${advice}`;
}
