/** Refusals the controller words itself. */
import { RefusalError, refusal, type Refusal } from '../../core/contract/errors.js';

/** Why a commit or a read of the database failed. */
export function storageReason(error: unknown): Refusal {
  if (error instanceof RefusalError) return error.refusal;
  const text = error instanceof Error ? error.message : String(error);
  return refusal('INTERNAL', `A round could not be committed: ${text}`);
}
