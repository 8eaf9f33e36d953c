/** Whether the disk takes a write again; a round may have nothing to write, and then proves nothing. */
import type { Refusal } from '../../core/contract/errors.js';
import { metaKeys, type ModelView } from '../../core/model/view.js';
import type { Store } from '../store/types.js';
import { noChanges } from './merge-changes.js';
import { storageReason } from './refusals.js';

/** Null when it does. */
export function probeStore(store: Pick<Store, 'commit'>, state: Pick<ModelView, 'meta'>): Refusal | null {
  const key = metaKeys.nextInsertion;
  try {
    store.commit({ ...noChanges, meta: { [key]: state.meta(key) ?? 0 } });
    return null;
  } catch (error) {
    return storageReason(error);
  }
}
