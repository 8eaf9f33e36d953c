import { useEffect } from 'react';
import type { Explanation } from '../../../core/contract/explanation.js';
import { useCall } from '../../state/hooks.js';

/** How old what is shown may get while somebody looks at it. */
const renewMs = 5000;

/** Why the job waits, as the controller explains it; null while it is not known, or it cannot be explained. */
export function useExplanation(jobId: string): Explanation | null {
  const { data, refetch } = useCall('job.explain', { jobId });
  useEffect(() => {
    const timer = setInterval(() => void refetch(), renewMs);
    return () => {
      clearInterval(timer);
    };
  }, [refetch]);
  return data?.explanation ?? null;
}
