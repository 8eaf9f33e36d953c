/**
 * Flags of `irisctl job run` as one table: the command line's parser, its help, and the conversion of a request back to a
 * command line all read it. Names and defaults are the original's; those it lacks are ours.
 */
import { containerFlags } from './container-flags.js';
import {
  addPlace,
  constraintFlag,
  dependencyFlags,
  gpuWords,
  nothing,
  numberOrText,
  refusedFlag,
  setPreemptible,
  switchFlag,
  valueFlag,
  writeConstraints,
  type RunFlag,
} from './flag-kinds.js';

/** Every flag before the command. `-e` alone takes two words, KEY and VALUE, or one, KEY=VALUE. */
export const runFlags: readonly RunFlag[] = [
  valueFlag(
    '--job-name',
    'name',
    'NAME',
    'name of the job (default: from the command, with a suffix of its own)',
    (name) => ({ name }),
    {
      aliases: ['--name'],
    },
  ),
  valueFlag('--cpu', 'cpu', 'CORES', 'cores a task, such as 4 or 0.5 (default 0.1)', (text) => ({
    cpu: numberOrText(text),
  })),
  valueFlag(
    '--memory',
    'memory',
    'SIZE',
    'memory a task, such as 8G or 8GiB; asked for, it is also a limit (default 1GB)',
    (memory) => ({
      memory,
    }),
  ),
  valueFlag('--disk', 'disk', 'SIZE', 'disk a task (default 5GB)', (disk) => ({ disk })),
  valueFlag(
    '--gpu',
    'gpu',
    'GPUS',
    'GPUs a task: a number (2), a model (H100) or both (H100x8)',
    (text) => ({ gpu: numberOrText(text) }),
    {
      write: gpuWords,
    },
  ),
  valueFlag('--replicas', 'replicas', 'N', 'number of tasks (default 1)', (text) => ({
    replicas: numberOrText(text),
  })),
  valueFlag(
    '--max-retries',
    'maxRetries',
    'N',
    'times a failed task is started again (default 0)',
    (text) => ({
      maxRetries: numberOrText(text),
    }),
  ),
  valueFlag(
    '--max-retries-preemption',
    'maxRetriesPreemption',
    'N',
    'times a preempted or lost task is started again (default 100)',
    (text) => ({
      maxRetriesPreemption: numberOrText(text),
    }),
  ),
  valueFlag(
    '--max-task-failures',
    'maxTaskFailures',
    'N',
    'tasks that may fail for good before the job does (default 0)',
    (text) => ({
      maxTaskFailures: numberOrText(text),
    }),
  ),
  valueFlag(
    '--timeout',
    'timeout',
    'TIME',
    'longest run of one attempt: seconds, or 90s, 15m, 2h',
    (timeout) => ({ timeout }),
  ),
  valueFlag(
    '--scheduling-timeout',
    'schedulingTimeout',
    'TIME',
    'the job must have started by then',
    (schedulingTimeout) => ({
      schedulingTimeout,
    }),
  ),
  valueFlag(
    '--finish-by',
    'finishBy',
    'TIME',
    'all must have ended by then: 2026-12-01T08:00Z, or 8h from now',
    (finishBy) => ({ finishBy }),
    { aliases: ['--deadline'] },
  ),
  valueFlag(
    '--begin',
    'startNotBefore',
    'TIME',
    'do not start earlier: 2026-12-01T08:00Z, or 8h from now',
    (startNotBefore) => ({ startNotBefore }),
    { aliases: ['--start-not-before'] },
  ),
  switchFlag('--hold', 'wait until it is released', () => ({ request: { held: true } }), {
    field: 'held',
    write: (request) => (request.held === true ? ['--hold'] : []),
  }),
  ...dependencyFlags,
  valueFlag(
    '--max-active',
    'maxActive',
    'N',
    'tasks that may be active at the same time (default: all)',
    (text) => ({ maxActive: numberOrText(text) }),
  ),
  valueFlag(
    '--priority',
    'priority',
    'BAND',
    'production, interactive or batch (default: inherited, else interactive)',
    (priority) => ({ priority }),
  ),
  {
    ...valueFlag('-e', 'environment', 'KEY VALUE', 'environment variable; also -e KEY=VALUE', () => ({}), {
      aliases: ['--env', '--env-vars'],
      repeatable: true,
      write: (request) =>
        Object.entries(request.environment ?? {}).flatMap(([key, value]) => ['-e', key, value]),
    }),
    convert: (pair, soFar) => {
      const equals = pair.indexOf('=');
      const key = equals < 0 ? pair : pair.slice(0, equals);
      return {
        request: { environment: { ...soFar.environment, [key]: equals < 0 ? '' : pair.slice(equals + 1) } },
      };
    },
  },
  valueFlag(
    '--working-directory',
    'workingDirectory',
    'FOLDER',
    'folder the command runs in (default: the current one)',
    (workingDirectory) => ({ workingDirectory }),
    {
      aliases: ['-C', '--cwd'],
    },
  ),
  valueFlag(
    '--region',
    'constraints',
    'REGION',
    'only workers of this region',
    (value, soFar) => addPlace('region', value, soFar),
    {
      repeatable: true,
      write: writeConstraints,
    },
  ),
  valueFlag(
    '--zone',
    'constraints',
    'ZONE',
    'only workers of this zone',
    (value, soFar) => addPlace('zone', value, soFar),
    {
      repeatable: true,
      write: nothing,
    },
  ),
  switchFlag(
    '--preemptible',
    'prefer workers that may be taken away',
    (soFar) => setPreemptible(true, soFar),
    { field: 'constraints' },
  ),
  switchFlag('--no-preemptible', 'only workers that stay', (soFar) => setPreemptible(false, soFar), {
    field: 'constraints',
  }),
  constraintFlag(
    '--constraint',
    'REQUIRED',
    "demand on workers' attributes: key=value, key!=value, key>=4, 'key in a,b', key, !key",
  ),
  constraintFlag('--prefer', 'PREFERRED', 'the same as a preference'),
  valueFlag(
    '--extra',
    'extras',
    'NAME',
    'set-up extra',
    (value, soFar) => ({ extras: [...(soFar.extras ?? []), value] }),
    {
      repeatable: true,
      write: (request) => (request.extras ?? []).flatMap((extra) => ['--extra', extra]),
    },
  ),
  valueFlag(
    '--gang-by',
    'gangBy',
    'ATTRIBUTE',
    'start all tasks together, on workers that share this attribute',
    (gangBy) => ({ gangBy }),
  ),
  valueFlag(
    '--port',
    'ports',
    'NAME',
    'port to allot; arrives as IRIS_PORT_<NAME>',
    (value, soFar) => ({ ports: [...(soFar.ports ?? []), value] }),
    {
      repeatable: true,
      write: (request) => (request.ports ?? []).flatMap((port) => ['--port', port]),
    },
  ),
  ...containerFlags,
  valueFlag('--parent', 'parent', 'JOB', 'job this one is a child of', (parent) => ({ parent })),
  valueFlag('--grace', 'grace', 'TIME', 'between the stop signal and the kill (default 30s)', (grace) => ({
    grace,
  })),
  switchFlag('--no-wait', 'return after submission', () => ({ options: { noWait: true } })),
  switchFlag('--dry-run', 'tell whether and where it would start; submit nothing', () => ({
    options: { dryRun: true },
  })),
  switchFlag('--terminate-on-exit', 'stop the job on Ctrl-C (default)', () => ({
    options: { terminateOnExit: true },
  })),
  switchFlag('--no-terminate-on-exit', 'leave the job running on Ctrl-C', () => ({
    options: { terminateOnExit: false },
  })),
  switchFlag('--enable-extra-resources', 'accepted; not needed here', () => ({}), { ignored: true }),
  switchFlag('--no-sync', 'accepted; nothing is synchronised here', () => ({}), { ignored: true }),
  refusedFlag(
    '--tpu',
    true,
    'there are no TPUs here; ask for GPUs with --gpu, or leave it out to run on processors',
  ),
  refusedFlag('--user', true, 'a job belongs to the login that submits it; run irisctl as that user'),
  refusedFlag(
    '--reserve',
    true,
    'reservations do not exist here; ask for what the job needs with --gpu, --cpu and --memory',
  ),
  refusedFlag(
    '--target-cluster',
    true,
    'jobs are not handed to other clusters in this version; choose one with irisctl --cluster',
  ),
  refusedFlag(
    '--sync-package',
    true,
    'packages are not synchronised here; the command runs in its folder, in place',
  ),
  refusedFlag('--processes-per-task', true, 'a task is one process here; use --replicas for several'),
];

/** The flag of that name or alias. */
export function findRunFlag(name: string): RunFlag | undefined {
  return runFlags.find((flag) => flag.name === name || flag.aliases.includes(name));
}
