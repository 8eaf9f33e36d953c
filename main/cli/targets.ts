/** Jobs named on the command line: full ids, or names of one's own jobs. */
import { RefusalError, refusal } from '../../core/contract/errors.js';
import type { JobDetail } from '../../core/contract/api.js';
import type { Context } from './context.js';
import type { HostLink } from './host-link.js';

export async function getJob(link: HostLink, idOrName: string): Promise<JobDetail> {
  return await link.persist((connection) => connection.call('job.get', { jobId: idOrName }));
}

/** Ids of the jobs named, in order, once each. A full id is taken as it is; the method it goes to refuses unknown ones. */
export async function resolveTargets(
  context: Context,
  named: readonly string[],
  fromInput: boolean,
): Promise<string[]> {
  const all = [...named, ...(fromInput ? await context.readLines() : [])].filter((word) => word !== '');
  if (all.length === 0) {
    throw new RefusalError(
      refusal(
        'INVALID_ARGUMENT',
        fromInput
          ? 'Standard input names no job; one id or name a line is expected.'
          : 'Name at least one job: its id (/user/name) or its name.',
        [{ field: 'ID', value: 'nothing', expected: 'the id or name of a job' }],
      ),
    );
  }
  const ids = new Set<string>();
  for (const word of all)
    ids.add(word.startsWith('/') ? word : (await getJob(context.link, word)).summary.id);
  return [...ids];
}
