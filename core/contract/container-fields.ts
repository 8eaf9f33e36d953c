/** The fields of a job request that are about containers: what each may be, and what to say when it is not. */
import { z } from 'zod';
import { listOf, oneOf, textOf } from './job-fields.js';

export const containerLimits = {
  maxSetupScripts: 20,
  maxSetupBytes: 64 * 1024,
  maxMounts: 50,
  maxPids: 4_194_304,
} as const;

/** Profiles of the original (iris-behaviour 6.3), from the least to the most a container may do. */
export const containerProfiles = ['DEFAULT', 'RESTRICTED', 'GVISOR', 'DOCKER_ACCESS', 'PRIVILEGED'] as const;
export type ContainerProfile = (typeof containerProfiles)[number];

const imageExpected = 'the name of a container image, such as pytorch/pytorch:2.9 or name@sha256:...';

/** `[host[:port]/]path[:tag][@digest]` as Docker reads it; the Engine judges the rest. */
export const imageName = textOf(imageExpected)
  .trim()
  .max(512, { error: imageExpected })
  .regex(/^[a-z0-9][A-Za-z0-9._:/@-]*$/i, { error: imageExpected });

/** In any case, with - or _. */
const word = (value: unknown): unknown =>
  typeof value === 'string' ? value.trim().toUpperCase().replaceAll('-', '_') : value;

export const containerProfile = z.preprocess(word, oneOf(containerProfiles)).default('DEFAULT');

const mountExpected =
  'a folder to mount: source (an absolute path of the machine), target (an absolute path in the container), readOnly';
const absolute = (expected: string) =>
  textOf(expected)
    .regex(/^\/[^\0]*$/, { error: expected })
    .refine((value) => !value.split('/').includes('..'), { error: `${expected} without ..` });

export const mountSchema = z.strictObject(
  {
    source: absolute('an absolute path of the machine'),
    target: absolute('an absolute path in the container').refine((value) => value !== '/', {
      error: 'an absolute path in the container other than /',
    }),
    readOnly: z.boolean({ error: 'true or false' }).default(false),
  },
  { error: mountExpected },
);
export type Mount = z.output<typeof mountSchema>;

export const mounts = listOf(mountSchema, 'a list of folders to mount')
  .max(containerLimits.maxMounts, { error: `at most ${containerLimits.maxMounts} folders` })
  .refine((value) => new Set(value.map(({ target }) => target)).size === value.length, {
    error: 'folders with different targets',
  })
  .default([]);

const setupExpected = 'a list of shell scripts';
/** Each runs in a shell of its own before the command, in order, and stops at the first that fails. */
export const setupScripts = listOf(
  textOf('a shell script')
    .min(1, { error: 'a shell script' })
    .max(containerLimits.maxSetupBytes, { error: `at most ${containerLimits.maxSetupBytes / 1024} KiB` })
    .refine((value) => !value.includes('\0'), { error: 'text without NUL characters' }),
  setupExpected,
)
  .max(containerLimits.maxSetupScripts, { error: `at most ${containerLimits.maxSetupScripts} scripts` })
  .default([]);

/** When the Engine is asked to fetch the image. */
const pullPolicies = ['MISSING', 'ALWAYS', 'NEVER'] as const;
export type PullPolicy = (typeof pullPolicies)[number];
export const pullPolicy = z.preprocess(word, oneOf(pullPolicies)).default('MISSING');
