import type { NewJobMode } from '../../app/router.js';
import { PageHeader } from '../../components/page-header.js';
import { newJob } from '../../strings/new-job.js';

export interface NewJobPageProps {
  /** The job whose request fills the form, or null for an empty one. */
  readonly from: string | null;
  readonly mode: NewJobMode | null;
}

export function NewJobPage(_props: NewJobPageProps) {
  return <PageHeader title={newJob.title} />;
}
