/** What is refused because no machine could ever run it, and what may wait for machines to change. */
import { RefusalError, refusal, type FieldError } from '../../core/contract/errors.js';
import type { JobSpec } from '../../core/contract/job-request.js';
import { infeasibleFields, resolveGpu, type WorkerTotals } from '../../core/scheduling/feasible.js';

export interface Feasibility {
  /** With its GPU model in the machines' own words. */
  readonly spec: JobSpec;
  readonly refused: readonly FieldError[];
  /**
   * Cards that no machine has now. They come and go, with a driver, a cable or a machine that is switched on; processors and memory
   * beyond the largest machine are a mistake. So this waits, and says so.
   */
  readonly missingGpus: FieldError | null;
}

export function judge(spec: JobSpec, workers: readonly WorkerTotals[]): Feasibility {
  const resolved = resolveGpu(spec, workers);
  const fields = infeasibleFields(resolved, workers);
  const [only] = fields;
  const waits = fields.length === 1 && only?.field === 'gpu' && !only.expected.startsWith('more than one');
  return waits
    ? { spec: resolved, refused: [], missingGpus: only }
    : { spec: resolved, refused: fields, missingGpus: null };
}

/** The specification to submit; throws INFEASIBLE. */
export function feasible(spec: JobSpec, workers: readonly WorkerTotals[]): JobSpec {
  const judged = judge(spec, workers);
  if (judged.refused.length > 0)
    throw new RefusalError(refusal('INFEASIBLE', infeasibleMessage(judged.refused), judged.refused));
  return judged.spec;
}

export function infeasibleMessage(fields: readonly FieldError[]): string {
  return `No machine of this cluster can run it: ${fields.map((field) => `${field.field}: asked for ${field.value}, there is ${field.expected}`).join('; ')}.`;
}

export function missingMessage({ value, expected }: FieldError): string {
  return `No machine has ${value} now (there is ${expected}): it waits until one does.`;
}
