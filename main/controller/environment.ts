/** The IRIS_* variables of a task (iris-behaviour 6.2, as far as they apply to a process on a workstation). */
import { cardsOf } from '../../core/model/capacity.js';
import type { Attempt, Job, Task } from '../../core/model/entities.js';

export interface EnvironmentInput {
  readonly job: Job;
  readonly task: Task;
  readonly attempt: Attempt;
  /** Address other machines reach this worker by. */
  readonly advertiseHost: string;
  /** So that irisctl inside a task finds the controller that runs it. */
  readonly homeRoot: string;
}

/**
 * Iris' own variables first, the job's on top: for processes the job may override them, as in the original. The original names
 * the attempt in IRIS_TASK_ID on retries only, so that a first attempt reads as the plain task id.
 */
export function taskEnvironment(input: EnvironmentInput): Record<string, string> {
  const { job, task, attempt } = input;
  const ports: Record<string, string> = {};
  for (const [name, port] of Object.entries(attempt.ports)) {
    ports[`IRIS_PORT_${name.toUpperCase().replaceAll('-', '_')}`] = String(port);
  }
  return {
    IRIS_TASK_ID: attempt.number === 0 ? task.id : `${task.id}:${attempt.number}`,
    IRIS_NUM_TASKS: String(job.numTasks),
    IRIS_WORKER_ID: attempt.workerId,
    IRIS_BIND_HOST: '0.0.0.0',
    // What Linux calls it on a machine, and what it is called in an image and in a Python environment.
    IRIS_PYTHON: job.spec.image === null ? 'python3' : 'python',
    IRIS_ADVERTISE_HOST: input.advertiseHost,
    IRIS_DESKTOP_HOME: input.homeRoot,
    IRIS_TASK_RESOURCES: JSON.stringify({
      cpu_millicores: job.spec.cpuMillicores,
      memory_bytes: job.spec.memoryBytes,
      disk_bytes: job.spec.diskBytes,
      gpu_count: cardsOf(attempt, job.spec),
      gpu_variant: job.spec.gpuVariant,
    }),
    ...forChildren({
      IRIS_JOB_ENV: job.spec.environment,
      IRIS_JOB_CONSTRAINTS: job.spec.constraints,
      IRIS_JOB_SETUP_SCRIPTS: job.spec.setup,
      IRIS_JOB_EXTRAS: job.spec.extras,
    }),
    ...ports,
    ...job.spec.environment,
    // Never the job's to change: reports and clean-up go by it.
    IRIS_ATTEMPT_UID: attempt.uid,
  };
}

/** What Linux takes as one variable, its name and the ends included (MAX_ARG_STRLEN). */
const mostVariableBytes = 128 * 1024;

/** What a child job may want to ask for as well, as JSON. With one that is longer than the system allows no task could be started. */
function forChildren(values: Readonly<Record<string, unknown>>): Record<string, string> {
  const texts = Object.entries(values).map(([name, value]) => [name, JSON.stringify(value)] as const);
  return Object.fromEntries(
    texts.filter(
      ([name, text]) => Buffer.byteLength(name) + Buffer.byteLength(text) + 2 <= mostVariableBytes,
    ),
  );
}
