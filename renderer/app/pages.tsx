import { BudgetsPage } from '../pages/budgets/budgets-page.js';
import { JobPage } from '../pages/job/job-page.js';
import { JobsPage } from '../pages/jobs/jobs-page.js';
import { NewJobPage } from '../pages/new-job/new-job-page.js';
import { OverviewPage } from '../pages/overview/overview-page.js';
import type { Route } from './router.js';

export function Pages({ route }: { readonly route: Route }) {
  switch (route.page) {
    case 'overview':
      return <OverviewPage />;
    case 'jobs':
      return <JobsPage query={route.query} />;
    case 'budgets':
      return <BudgetsPage />;
    case 'new':
      return (
        <NewJobPage key={`${route.from ?? ''} ${route.mode ?? ''}`} from={route.from} mode={route.mode} />
      );
    case 'job':
      return <JobPage key={route.jobId} jobId={route.jobId} tab={route.tab} />;
  }
}
