import { JobsPage } from '../pages/jobs/jobs-page.js';
import { latePage } from './late-page.js';
import type { Route } from './router.js';

const jobPage = latePage(async () => (await import('../pages/job/job-page.js')).JobPage);
const newJobPage = latePage(async () => (await import('../pages/new-job/new-job-page.js')).NewJobPage);
const overviewPage = latePage(async () => (await import('../pages/overview/overview-page.js')).OverviewPage);
const queuePage = latePage(async () => (await import('../pages/queue/queue-page.js')).QueuePage);
const budgetsPage = latePage(async () => (await import('../pages/budgets/budgets-page.js')).BudgetsPage);
const machinesPage = latePage(async () => (await import('../pages/machines/machines-page.js')).MachinesPage);
const machinePage = latePage(async () => (await import('../pages/machine/machine-page.js')).MachinePage);
const imagesPage = latePage(async () => (await import('../pages/images/images-page.js')).ImagesPage);
const activityPage = latePage(async () => (await import('../pages/activity/activity-page.js')).ActivityPage);
const settingsPage = latePage(async () => (await import('../pages/settings/settings-page.js')).SettingsPage);

const late = [
  overviewPage,
  jobPage,
  newJobPage,
  queuePage,
  machinesPage,
  machinePage,
  imagesPage,
  budgetsPage,
  activityPage,
  settingsPage,
];

/** Fetches the code of the pages that the first script leaves out. */
export function preparePages(): void {
  for (const page of late) page.prepare();
}

export function Pages({ route }: { readonly route: Route }) {
  switch (route.page) {
    case 'overview':
      return <overviewPage.Page />;
    case 'jobs':
      return <JobsPage query={route.query} />;
    case 'queue':
      return <queuePage.Page />;
    case 'budgets':
      return <budgetsPage.Page />;
    case 'machines':
      return <machinesPage.Page />;
    case 'machine':
      return <machinePage.Page key={route.machineId} machineId={route.machineId} tab={route.tab} />;
    case 'images':
      return <imagesPage.Page />;
    case 'activity':
      return <activityPage.Page entity={route.entity} />;
    case 'settings':
      return <settingsPage.Page />;
    case 'new':
      return (
        <newJobPage.Page
          key={`${route.from ?? ''} ${route.mode ?? ''}`}
          from={route.from}
          mode={route.mode}
        />
      );
    case 'job':
      return <jobPage.Page key={route.jobId} jobId={route.jobId} tab={route.tab} />;
  }
}
