/** The pages there are. Narrow it shows icons alone, with the word on hover. */
import { Tooltip, UnstyledButton } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { useState } from 'react';
import { Icon, type IconName } from '../components/icon.js';
import { useHostStatus } from '../state/desktop-context.js';
import { budgets } from '../strings/budgets.js';
import { common } from '../strings/common.js';
import { queue } from '../strings/queue.js';
import styles from './rail.module.css';
import {
  activityRoute,
  budgetsRoute,
  jobsRoute,
  machinesRoute,
  overviewRoute,
  queueRoute,
  routeHash,
  settingsRoute,
  type Route,
} from './router.js';

interface RailEntry {
  readonly page: Route['page'];
  readonly word: string;
  readonly icon: IconName;
  readonly route: () => Route;
}

/** Before these a line is drawn: they are not about jobs and machines. */
const apart: Route['page'] = 'settings';

const entries: readonly RailEntry[] = [
  { page: 'overview', word: common.overview, icon: 'overview', route: () => overviewRoute },
  { page: 'jobs', word: common.jobs, icon: 'list', route: jobsRoute },
  { page: 'queue', word: queue.title, icon: 'queue', route: () => queueRoute },
  { page: 'machines', word: common.machines, icon: 'machine', route: () => machinesRoute },
  { page: 'budgets', word: budgets.title, icon: 'budget', route: () => budgetsRoute },
  { page: 'activity', word: common.activity, icon: 'activity', route: () => activityRoute() },
  { page: 'settings', word: common.settings, icon: 'settings', route: () => settingsRoute },
];

/** Pages reached from another one belong to it. */
const above: Partial<Readonly<Record<Route['page'], Route['page']>>> = {
  job: 'jobs',
  new: 'jobs',
  machine: 'machines',
  images: 'machines',
};

function belongsTo(route: Route, page: Route['page']): boolean {
  return (above[route.page] ?? route.page) === page;
}

export function Rail({ route }: { readonly route: Route }) {
  const smallWindow = useMediaQuery('(max-width: 1080px)');
  const [chosen, setChosen] = useState<boolean | null>(null);
  const narrow = chosen ?? smallWindow;
  const cluster = useHostStatus()?.clusterName ?? common.appName;

  return (
    <nav className={styles['rail']} data-narrow={narrow || undefined} aria-label={common.navigation}>
      <div className={styles['cluster']} title={cluster}>
        <IrisMark />
        {narrow ? null : <span className="iris-ellipsis">{cluster}</span>}
      </div>
      {entries.map((entry) => {
        const link = (
          <a
            key={entry.page}
            className={styles['entry']}
            data-apart={entry.page === apart || undefined}
            href={routeHash(entry.route())}
            aria-current={belongsTo(route, entry.page) ? 'page' : undefined}
            aria-label={narrow ? entry.word : undefined}
          >
            <Icon name={entry.icon} />
            {narrow ? null : <span>{entry.word}</span>}
          </a>
        );
        // Only where the word is not seen: a tooltip for each would be a tenth of drawing the first page.
        if (!narrow) return link;
        return (
          <Tooltip key={entry.page} label={entry.word} position="right">
            {link}
          </Tooltip>
        );
      })}
      <span className={styles['space']} />
      <UnstyledButton
        className={styles['entry']}
        aria-label={narrow ? common.expandRail : common.collapseRail}
        title={narrow ? common.expandRail : common.collapseRail}
        aria-expanded={!narrow}
        onClick={() => {
          setChosen(!narrow);
        }}
      >
        <Icon name="rail" />
      </UnstyledButton>
    </nav>
  );
}

/** The mark: six blades around a pupil. */
function IrisMark() {
  return (
    <svg width="18" height="18" viewBox="0 0 18 18" aria-hidden="true" style={{ flex: 'none' }}>
      {[0, 60, 120, 180, 240, 300].map((angle) => (
        <path
          key={angle}
          d="M9 1.2c2.4.6 3.4 2.6 2.6 5.2L9 5.6 6.9 6.3C6 4 6.9 1.9 9 1.2z"
          transform={`rotate(${angle} 9 9)`}
          fill="var(--iris-accent)"
          fillOpacity={angle % 120 === 0 ? 1 : 0.62}
        />
      ))}
      <circle cx="9" cy="9" r="2.3" fill="var(--iris-text)" />
    </svg>
  );
}
