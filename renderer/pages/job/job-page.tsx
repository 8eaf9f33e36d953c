import { PageHeader } from '../../components/page-header.js';

export interface JobPageProps {
  readonly jobId: string;
  readonly tab: string | null;
}

export function JobPage({ jobId }: JobPageProps) {
  return <PageHeader title={jobId} />;
}
