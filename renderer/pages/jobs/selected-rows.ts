/**
 * What is selected after changes were missed (the window was hidden, the connection away): rows that are gone are let go of, and the others
 * say what they are now. The list itself asks only for what is on the screen.
 */
import type { JobEntities } from '../../state/entities.js';
import { asRefusal } from '../../state/hooks.js';
import type { Host } from '../../state/host.js';
import type { Selection } from './selection.js';

/** Of more than that the rest stays as it was known: a command answers for each of its jobs. */
export const mostAsked = 500;
const atOnce = 8;

export async function renewSelected(
  call: Host['call'],
  jobs: Pick<JobEntities, 'put'>,
  selection: Pick<Selection, 'selected' | 'drop'>,
): Promise<void> {
  const ids = selection.selected().slice(0, mostAsked);
  let next = 0;
  const askOn = async () => {
    for (let id = ids[next++]; id !== undefined; id = ids[next++]) {
      try {
        jobs.put([(await call('job.get', { jobId: id })).summary]);
      } catch (error) {
        const { code } = asRefusal(error);
        if (code === 'NOT_FOUND') selection.drop([id]);
        // The connection is away again: its next one asks anew.
        else if (code === 'UNAVAILABLE' || code === 'DISCONNECTED') return;
      }
    }
  };
  await Promise.all(Array.from({ length: atOnce }, askOn));
}
