/** What is known before a job is submitted to stand between its containers and the cards it asks for: said, as an Engine may have ways of its own. */
import type { DockerState } from '../../core/contract/machines.js';
import type { JobSpec } from '../../core/contract/job-request.js';
import { fitsTotals, resolveGpu, type WorkerTotals } from '../../core/scheduling/feasible.js';

type Candidate = WorkerTotals & { readonly docker?: DockerState | undefined };

const mostNamed = 5;

/** Null: nothing is known to. */
export function containerCardsWarning(spec: JobSpec, workers: readonly Candidate[]): string | null {
  if (spec.image === null || spec.gpuCount === 0) return null;
  const asked = resolveGpu(spec, workers);
  const named = spec.machine?.toLowerCase() ?? null;
  const able = workers.filter(
    (worker) => (named === null || worker.id.toLowerCase() === named) && fitsTotals(asked, worker),
  );
  const without = able.filter(({ docker }) => docker?.state === 'READY' && !docker.gpus).map(({ id }) => id);
  if (without.length === 0) return null;
  const more = without.length > mostNamed ? ` and ${without.length - mostNamed} more machines` : '';
  const where = `${without.slice(0, mostNamed).join(', ')}${more}`;
  const rest =
    without.length < able.length ? 'Name another machine, or install' : 'Run it without an image, or install';
  return `Docker on ${where} shows no way to give GPUs to containers (no NVIDIA runtime is installed, and no CDI device of a card): there it would fail to start. ${rest} the NVIDIA container toolkit there (irisctl docker check).`;
}
