/** Strings of the Images page. */
import { formatDuration } from '../../core/formats/durations.js';
import { formatSize } from '../../core/formats/sizes.js';
import { formatCount } from './common.js';

export const images = {
  title: 'Images',
  what: 'The images',
  counts: (count: number, bytes: number): string =>
    `${formatCount(count)} ${count === 1 ? 'image' : 'images'}, ${formatSize(bytes)}`,
  intro: 'What containers can start from at once. Layers that images share are counted with each.',
  list: 'Images by machine',
  filter: 'Search',
  nothingFound: (text: string): string => `No image has ${text} in its name.`,
  // Pull
  pull: 'Pull',
  pullTitle: 'Pull an image',
  image: 'Image',
  imageExample: 'pytorch/pytorch:2.9.0-cuda12.8-cudnn9-runtime',
  machine: 'Machine',
  noMachine: 'No machine has a Docker that can be used.',
  notPulled: (message: string): string => `Not pulled. ${message}`,
  wrong: (value: string, expected: string): string =>
    value === '' ? `Expected ${expected}.` : `${value}: expected ${expected}.`,
  pulls: 'Pulls',
  pullStates: {
    PULLING: 'Pulling',
    DONE: 'Done',
    FAILED: 'Failed',
    CANCELLED: 'Cancelled',
  } as const,
  pullOn: (machine: string): string => `to ${machine}`,
  progress: (done: number, total: number | null): string =>
    total === null ? formatSize(done) : `${formatSize(done)} of ${formatSize(total)}`,
  layers: (done: number, all: number): string =>
    all === 0 ? 'asking the registry' : `${done} of ${all} layers`,
  left: (ms: number): string => `about ${formatDuration(Math.max(1000, Math.round(ms / 1000) * 1000))} left`,
  unpacking: 'unpacking',
  progressOf: (image: string): string => `Progress of ${image}`,
  cancelPull: (image: string): string => `Cancel the pull of ${image}`,
  cancel: 'Cancel',
  again: 'Pull again',
  againOf: (image: string): string => `Pull ${image} again`,
  cancelFailed: (image: string, message: string): string => `The pull of ${image}: ${message}`,
  // Table
  name: 'Image',
  size: 'Size',
  created: 'Made',
  inUse: 'In use',
  inUseBy: (count: number): string => (count === 1 ? '1 container' : `${formatCount(count)} containers`),
  notInUse: 'No container of ours uses it.',
  noName: (id: string): string => `without a name, ${id}`,
  remove: (name: string): string => `Remove ${name}`,
  removeTitle: (name: string, machine: string): string => `Remove ${name} from ${machine}?`,
  removeBody: (size: string): string =>
    `At most ${size} become free. A job that needs it has to pull it again first.`,
  removeAction: 'Remove image',
  isUsed: 'A container of ours uses it.',
  notRemoved: (message: string): string => `Not removed. ${message}`,
  newJob: (name: string): string => `New job in ${name}`,
  // Empty
  noneOn: 'No image there yet.',
  emptyTitle: 'No image yet',
  emptyBody:
    'Jobs can run in containers. The images they start from are listed here by machine; one that is missing is pulled when a job needs it, or ahead of time with Pull.',
  emptyExample: 'irisctl job run --task-image python:3.12-slim -- python3 -V',
  noDockerTitle: 'No Docker to list images of',
  noDockerExample: 'irisctl docker check',
  noDockerBody:
    'None of the machines has a Docker that can be used. Jobs run there as processes; containers need Docker.',
} as const;
