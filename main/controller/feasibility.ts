/** What is refused because no machine could ever run it, and what may wait for machines to change. */
import { RefusalError, refusal, type FieldError } from '../../core/contract/errors.js';
import type { DryRun } from '../../core/contract/explanation.js';
import type { JobSpec } from '../../core/contract/job-request.js';
import {
  infeasibleFields,
  isGpuAmbiguous,
  resolveGpu,
  type WorkerTotals,
} from '../../core/scheduling/feasible.js';

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
  const waits = fields.length === 1 && only?.field === 'gpu' && !isGpuAmbiguous(resolved, workers);
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
  return `No machine of this cluster can run it: ${fields.map((field) => `${field.field}: asked for ${field.value}; what there is: ${field.expected}`).join('; ')}.`;
}

export function missingMessage({ value, expected }: FieldError): string {
  return `No machine has ${value} now (what there is: ${expected}): it waits until one does.`;
}

export interface Forecast {
  readonly fields: FieldError[];
  readonly verdict: 'STARTS_NOW' | 'WAITS' | 'NEVER';
  readonly message: string;
  readonly dryRun: DryRun | null;
}

/** What a check says. Only what is refused, and what its own deadline or a dependency forbids, is for ever: machines may change. */
export function forecast(judged: Feasibility, tryOut: (spec: JobSpec) => DryRun): Forecast {
  const { spec, refused, missingGpus } = judged;
  if (refused.length > 0)
    return { fields: [...refused], verdict: 'NEVER', message: infeasibleMessage(refused), dryRun: null };
  const dryRun = tryOut(spec);
  const message = missingGpus === null ? dryRun.message : missingMessage(missingGpus);
  const never = dryRun.verdict === 'NEVER' && dryRun.explanation === null;
  const verdict = never ? 'NEVER' : dryRun.verdict === 'STARTS_NOW' ? 'STARTS_NOW' : 'WAITS';
  return { fields: [], verdict, message, dryRun };
}
