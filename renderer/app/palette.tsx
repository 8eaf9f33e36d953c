/** Every action, page and job by a few letters. */
import { Spotlight, createSpotlight } from '@mantine/spotlight';
import { useDebouncedValue } from '@mantine/hooks';
import { useState } from 'react';
import { Icon, type IconName } from '../components/icon.js';
import { KeyHint } from '../components/key-hint.js';
import { StateBadge } from '../components/state-badge.js';
import { RelativeTime } from '../components/time.js';
import { useJobActions } from '../components/use-job-actions.js';
import { useDesktop } from '../state/desktop-context.js';
import { useCall } from '../state/hooks.js';
import { useStore } from '../state/use-store.js';
import { common } from '../strings/common.js';
import { jobs as jobWords } from '../strings/jobs.js';
import styles from './palette.module.css';
import { jobRoute, jobsRoute, navigate, newJobRoute, overviewRoute, useRoute } from './router.js';

const [paletteStore, palette] = createSpotlight();
const jobsShown = 8;

export function openPalette(): void {
  palette.open();
}

interface PaletteAction {
  readonly label: string;
  readonly icon: IconName;
  readonly keys?: string;
  /** Other words it is found by. */
  readonly also?: string;
  run(): void;
}

function matches(action: PaletteAction, query: string): boolean {
  const text = `${action.label} ${action.also ?? ''}`.toLowerCase();
  return query
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}

export function Palette({ onHelp }: { onHelp(): void }) {
  const desktop = useDesktop();
  const settings = useStore(desktop.settings);
  const route = useRoute();
  const { stop, runAgain } = useJobActions();
  const [query, setQuery] = useState('');
  const [search] = useDebouncedValue(query.trim(), 120);
  const [opened, setOpened] = useState(false);
  const found = useCall(
    'job.list',
    {
      filter: search === '' ? {} : { search, rootsOnly: false },
      sort: { key: 'submitted', descending: true },
      offset: 0,
      limit: jobsShown,
    },
    { enabled: opened, keepPrevious: true },
  );

  const onJob = route.page === 'job' ? desktop.jobs.get(route.jobId) : undefined;
  const theme = (wanted: 'system' | 'light' | 'dark', label: string, icon: IconName): PaletteAction => ({
    label,
    icon,
    also: 'appearance colour',
    run: () => {
      void desktop.changeSettings({ theme: wanted });
    },
  });
  const actions: readonly PaletteAction[] = [
    {
      label: common.newJob,
      icon: 'plus',
      keys: 'n',
      also: 'launch submit run',
      run: () => {
        navigate(newJobRoute());
      },
    },
    ...(onJob === undefined
      ? []
      : [
          {
            label: `${common.stop} ${onJob.name}`,
            icon: 'stop' as const,
            run: () => {
              void stop([onJob]);
            },
          },
          {
            label: `${common.runAgain}: ${onJob.name}`,
            icon: 'rerun' as const,
            run: () => {
              void runAgain([onJob]);
            },
          },
          {
            label: `${common.editAndRun}: ${onJob.name}`,
            icon: 'edit' as const,
            run: () => {
              navigate(newJobRoute(onJob.id, 'edit'));
            },
          },
        ]),
    ...(
      [
        ['running', jobWords.running, 'dot'],
        ['waiting', jobWords.waiting, 'clock'],
        ['failed-today', jobWords.failedToday, 'cross'],
      ] as const
    ).map(([show, word, icon]) => ({
      label: `${common.jobs}: ${word.toLowerCase()}`,
      icon,
      also: 'filter show',
      run: () => {
        navigate({ page: 'jobs', query: `show=${show}` });
      },
    })),
    {
      label: settings.notificationsPaused ? common.inboxResume : common.inboxPause,
      icon: settings.notificationsPaused ? 'bell' : 'bell-off',
      run: () => {
        void desktop.changeSettings({ notificationsPaused: !settings.notificationsPaused });
      },
    },
    theme('system', common.themeSystem, 'contrast'),
    theme('light', common.themeLight, 'sun'),
    theme('dark', common.themeDark, 'moon'),
    { label: common.showKeys, icon: 'keyboard', keys: '?', also: 'help', run: onHelp },
  ];
  const pages: readonly PaletteAction[] = [
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
  ];
  const shownActions = actions.filter((action) => matches(action, query.trim()));
  const shownPages = pages.filter((action) => matches(action, query.trim()));
  const shownJobs = found.data?.rows ?? [];

  return (
    <Spotlight.Root
      store={paletteStore}
      query={query}
      onQueryChange={setQuery}
      shortcut={null}
      scrollable
      maxHeight={420}
      radius={6}
      clearQueryOnClose
      aria-label={common.palette}
      onSpotlightOpen={() => {
        setOpened(true);
      }}
      onSpotlightClose={() => {
        setOpened(false);
      }}
    >
      <Spotlight.Search
        placeholder={common.paletteSearch}
        aria-label={common.paletteSearch}
        leftSection={<Icon name="search" />}
      />
      <Spotlight.ActionsList>
        <ActionGroup label={common.paletteActions} actions={shownActions} />
        <ActionGroup label={common.palettePages} actions={shownPages} />
        {shownJobs.length === 0 ? null : (
          <Spotlight.ActionsGroup label={common.paletteJobs}>
            {shownJobs.map((job) => (
              <Spotlight.Action
                key={job.id}
                onClick={() => {
                  navigate(jobRoute(job.id));
                }}
              >
                <span className={styles['job']}>
                  <span className={styles['jobState']}>
                    <StateBadge state={job.state} />
                  </span>
                  <span className="iris-ellipsis">{job.name}</span>
                  <span className={`${styles['command'] ?? ''} iris-mono iris-ellipsis`}>
                    {job.commandLine}
                  </span>
                  <span className="iris-muted">
                    <RelativeTime atMs={job.submittedAtMs} />
                  </span>
                </span>
              </Spotlight.Action>
            ))}
          </Spotlight.ActionsGroup>
        )}
        {shownActions.length + shownPages.length + shownJobs.length === 0 ? (
          <Spotlight.Empty>{common.paletteNothing}</Spotlight.Empty>
        ) : null}
      </Spotlight.ActionsList>
    </Spotlight.Root>
  );
}

function ActionGroup({
  label,
  actions,
}: {
  readonly label: string;
  readonly actions: readonly PaletteAction[];
}) {
  if (actions.length === 0) return null;
  return (
    <Spotlight.ActionsGroup label={label}>
      {actions.map((action) => (
        <Spotlight.Action
          key={action.label}
          label={action.label}
          leftSection={<Icon name={action.icon} />}
          rightSection={action.keys === undefined ? null : <KeyHint keys={action.keys} />}
          onClick={() => {
            action.run();
          }}
        />
      ))}
    </Spotlight.ActionsGroup>
  );
}
