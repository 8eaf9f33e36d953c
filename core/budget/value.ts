/** What resources are worth: the one currency of budgets, victim choice and charts (iris-behaviour section 4). */

export interface Amount {
  readonly cpuMillicores: number;
  readonly memoryBytes: number;
  readonly gpuCount: number;
}

const gib = 2 ** 30;

/** `1000 * GPUs + whole GiB of memory + 5 * whole cores`. */
export function resourceValue(amount: Amount): number {
  const parts = valueParts(amount);
  return parts.gpus + parts.memory + parts.processors;
}

/** The same by what it is for, so that spend can be shown by part. */
export interface ValueParts {
  readonly gpus: number;
  readonly memory: number;
  readonly processors: number;
}

export function valueParts(amount: Amount): ValueParts {
  return {
    gpus: 1000 * amount.gpuCount,
    memory: Math.floor(amount.memoryBytes / gib),
    processors: 5 * Math.floor(amount.cpuMillicores / 1000),
  };
}
