import { PageHeader } from '../../components/page-header.js';
import { common } from '../../strings/common.js';

export function OverviewPage() {
  return <PageHeader title={common.overview} />;
}
