/** A working set that holds nothing yet and asks the store for what left memory. */
import { ModelState } from '../../core/model/draft.js';
import type { Store } from '../store/types.js';

export function stateOver(store: Store): ModelState {
  return new ModelState({
    job: (id) => store.jobById(id) ?? undefined,
    latestNamed: (user, parentId, name) => store.latestNamed(user, parentId, name) ?? undefined,
    receipt: (requestId) => store.findReceipt(requestId)?.answer,
  });
}
