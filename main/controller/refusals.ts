/** Refusals the controller words itself. */
import { RefusalError, refusal, type FieldError, type Refusal } from '../../core/contract/errors.js';

export function infeasibleMessage(fields: readonly FieldError[]): string {
  return `No machine of this cluster can run it: ${fields.map((field) => `${field.field}: asked for ${field.value}, there is ${field.expected}`).join('; ')}.`;
}

/** Why a commit or a read of the database failed. */
export function storageReason(error: unknown): Refusal {
  if (error instanceof RefusalError) return error.refusal;
  const text = error instanceof Error ? error.message : String(error);
  return refusal('INTERNAL', `A round could not be committed: ${text}`);
}
