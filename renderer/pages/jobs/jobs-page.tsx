import { PageHeader } from '../../components/page-header.js';
import { common } from '../../strings/common.js';

export function JobsPage(_props: { readonly query: string }) {
  return <PageHeader title={common.jobs} />;
}
