/** Container profiles that open the machine itself, and who may ask for them. */
import { ok, refuse, type Result } from '../contract/errors.js';
import type { JobSpec } from '../contract/job-request.js';

const upperProfiles: readonly JobSpec['containerProfile'][] = ['DOCKER_ACCESS', 'PRIVILEGED'];

/** Whoever commands the Engine or has all rights in a container can do all on its machine that root can. */
export function checkContainerProfile(
  spec: Pick<JobSpec, 'image' | 'containerProfile'>,
  submission: { readonly submittedBy: string; readonly mayManage?: boolean | undefined },
): Result<null> {
  const { image, containerProfile } = spec;
  if (image === null || !upperProfiles.includes(containerProfile) || submission.mayManage === true)
    return ok(null);
  const word = containerProfile.toLowerCase().replaceAll('_', '-');
  return refuse(
    'PERMISSION_DENIED',
    `containerProfile: ${submission.submittedBy} may not ask for ${word}, which opens the whole machine; only who administers this cluster may.`,
    [{ field: 'containerProfile', value: word, expected: 'default, restricted or gvisor' }],
  );
}
