/** What the palette offers besides jobs: actions that fit where the user is, and pages. */
import type { JobSummary } from '../../core/contract/views.js';
import type { IconName } from '../components/icon.js';
import { useChangeSettings } from '../components/use-change-settings.js';
import { useJobActions } from '../components/use-job-actions.js';
import { useDesktop } from '../state/desktop-context.js';
import { useTopic } from '../state/hooks.js';
import { canRunAgain, canStop } from '../state/job-actions.js';
import { useStore } from '../state/use-store.js';
import { budgets } from '../strings/budgets.js';
import { common } from '../strings/common.js';
import { jobs as jobWords } from '../strings/jobs.js';
import { queue } from '../strings/queue.js';
import {
  activityRoute,
  budgetsRoute,
  imagesRoute,
  jobsRoute,
  machineRoute,
  machinesRoute,
  navigate,
  newJobRoute,
  overviewRoute,
  queueRoute,
  settingsRoute,
  useRoute,
} from './router.js';

export interface PaletteAction {
  readonly label: string;
  readonly icon: IconName;
  readonly keys?: string;
  /** Other words it is found by. */
  readonly also?: string;
  readonly run: () => void;
}

function hasAllWords(text: string, query: string): boolean {
  const lower = text.toLowerCase();
  return query
    .trim()
    .toLowerCase()
    .split(/\s+/)
    .every((word) => lower.includes(word));
}

/** True when every word occurs in the action's label or its other words. */
export function matchesAction(action: PaletteAction, query: string): boolean {
  return hasAllWords(`${action.label} ${action.also ?? ''}`, query);
}

/** As the controller searches: every word in the path or the command. */
export function matchesJob(job: JobSummary, query: string): boolean {
  return hasAllWords(`${job.id} ${job.commandLine}`, query);
}

const shortLists = [
  ['running', jobWords.running, 'dot'],
  ['waiting', jobWords.waiting, 'clock'],
  ['failed-today', jobWords.failedToday, 'cross'],
] as const;

export function usePaletteActions(onHelp: () => void): {
  readonly actions: readonly PaletteAction[];
  readonly pages: readonly PaletteAction[];
  readonly machines: readonly PaletteAction[];
} {
  const desktop = useDesktop();
  const { notificationsPaused } = useStore(desktop.settings);
  const route = useRoute();
  const { stop, runAgain } = useJobActions();
  const changeSettings = useChangeSettings();
  const topic = useTopic('job', route.page === 'job' ? { jobId: route.jobId } : null);
  const overview = useTopic('overview', {});
  const job = topic.kind === 'live' ? topic.value.summary : null;

  const theme = (wanted: 'system' | 'light' | 'dark', label: string, icon: IconName): PaletteAction => ({
    label,
    icon,
    also: 'appearance colour',
    run: () => {
      changeSettings({ theme: wanted });
    },
  });
  const onThisJob: PaletteAction[] = [];
  if (job !== null && canStop(job)) {
    onThisJob.push({ label: `${common.stop} ${job.name}`, icon: 'stop', run: () => void stop([job]) });
  }
  if (job !== null && canRunAgain(job)) {
    onThisJob.push({
      label: `${common.runAgain}: ${job.name}`,
      icon: 'rerun',
      run: () => void runAgain([job]),
    });
  }
  if (job !== null) {
    onThisJob.push({
      label: `${common.editAndRun}: ${job.name}`,
      icon: 'edit',
      run: () => {
        navigate(newJobRoute(job.id, 'edit'));
      },
    });
  }

  return {
    machines: (overview.kind === 'live' ? overview.value.machines : []).map(({ id, hostname, address }) => ({
      label: id,
      icon: 'machine',
      also: `${hostname} ${address ?? ''}`,
      run: () => {
        navigate(machineRoute(id));
      },
    })),
    actions: [
      ...onThisJob,
      {
        label: common.newJob,
        icon: 'plus',
        keys: 'n',
        also: 'launch submit run',
        run: () => {
          navigate(newJobRoute());
        },
      },
      ...shortLists.map(([show, word, icon]) => ({
        label: `${common.jobs}: ${word.toLowerCase()}`,
        icon,
        also: 'filter show',
        run: () => {
          navigate({ page: 'jobs', query: `show=${show}` });
        },
      })),
      {
        label: notificationsPaused ? common.inboxResume : common.inboxPause,
        icon: notificationsPaused ? 'bell' : 'bell-off',
        run: () => {
          changeSettings({ notificationsPaused: !notificationsPaused });
        },
      },
      theme('system', common.themeSystem, 'contrast'),
      theme('light', common.themeLight, 'sun'),
      theme('dark', common.themeDark, 'moon'),
      { label: common.showKeys, icon: 'keyboard', keys: '?', also: 'help', run: onHelp },
    ],
    pages: [
      {
        label: common.goTo(common.overview),
        icon: 'overview',
        keys: 'g o',
        run: () => {
          navigate(overviewRoute);
        },
      },
      {
        label: common.goTo(common.jobs),
        icon: 'list',
        keys: 'g j',
        run: () => {
          navigate(jobsRoute());
        },
      },
      {
        label: common.goTo(queue.title),
        icon: 'queue',
        keys: 'g q',
        also: queue.also,
        run: () => {
          navigate(queueRoute);
        },
      },
      {
        label: common.goTo(common.machines),
        icon: 'machine',
        keys: 'g m',
        also: common.machinesAlso,
        run: () => {
          navigate(machinesRoute);
        },
      },
      {
        label: common.goTo(common.images),
        icon: 'image',
        keys: 'g i',
        also: common.imagesAlso,
        run: () => {
          navigate(imagesRoute);
        },
      },
      {
        label: common.goTo(budgets.title),
        icon: 'budget',
        keys: 'g b',
        also: budgets.also,
        run: () => {
          navigate(budgetsRoute);
        },
      },
      {
        label: common.goTo(common.activity),
        icon: 'activity',
        keys: 'g a',
        also: common.activityAlso,
        run: () => {
          navigate(activityRoute());
        },
      },
      {
        label: common.goTo(common.settings),
        icon: 'settings',
        keys: 'g s',
        also: common.settingsAlso,
        run: () => {
          navigate(settingsRoute);
        },
      },
    ],
  };
}
