/** Rail, page and status bar; keys that work everywhere. */
import { useCallback, useEffect, useRef, useState } from 'react';
import type { DesktopCommand } from '../state/bridge.js';
import { KeyboardHelp } from '../components/keyboard-help.js';
import { dialogIsOpen, useShortcuts } from '../components/shortcuts.js';
import { useLater } from '../components/use-later.js';
import { useDesktop, useDesktopCommands } from '../state/desktop-context.js';
import { takeDrops } from '../state/dropped.js';
import { budgets } from '../strings/budgets.js';
import { common } from '../strings/common.js';
import { queue } from '../strings/queue.js';
import { ClosingQuestion } from './closing-question.js';
import { ConnectionBanner } from './connection-banner.js';
import { CrashBoundary } from './crash-boundary.js';
import styles from './frame.module.css';
import { LoginQuestion } from './login-question.js';
import { Palette, openPalette } from './palette.js';
import { Rail } from './rail.js';
import {
  activityRoute,
  budgetsRoute,
  currentRoute,
  jobRoute,
  jobsRoute,
  imagesRoute,
  machinesRoute,
  navigate,
  newJobRoute,
  overviewRoute,
  queueRoute,
  routeHash,
  settingsRoute,
  useRoute,
} from './router.js';
import { Pages, preparePages } from './pages.js';
import { StatusBar } from './status-bar.js';

/** The first page is drawn by then; whoever goes on to another one finds its code there. */
const preparePagesAfterMs = 1000;

export function Frame() {
  const route = useRoute();
  const [helpOpen, setHelpOpen] = useState(false);
  const content = useRef<HTMLElement>(null);
  const later = useLater();

  useShortcuts(common.keysEverywhere, [
    {
      keys: 'mod+k',
      label: common.keyPalette,
      inFields: true,
      run: () => {
        openPalette();
      },
    },
    {
      keys: 'n',
      label: common.keyNew,
      run: () => {
        navigate(newJobRoute());
      },
    },
    {
      keys: 'g j',
      label: common.keyJobs,
      run: () => {
        navigate(jobsRoute());
      },
    },
    {
      keys: 'g o',
      label: common.keyOverview,
      run: () => {
        navigate(overviewRoute);
      },
    },
    {
      keys: 'g q',
      label: queue.keyQueue,
      run: () => {
        navigate(queueRoute);
      },
    },
    {
      keys: 'g m',
      label: common.keyMachines,
      run: () => {
        navigate(machinesRoute);
      },
    },
    {
      keys: 'g i',
      label: common.keyImages,
      run: () => {
        navigate(imagesRoute);
      },
    },
    {
      keys: 'g b',
      label: budgets.keyBudgets,
      run: () => {
        navigate(budgetsRoute);
      },
    },
    {
      keys: 'g a',
      label: common.keyActivity,
      run: () => {
        navigate(activityRoute());
      },
    },
    {
      keys: 'g s',
      label: common.keySettings,
      run: () => {
        navigate(settingsRoute);
      },
    },
    {
      keys: '?',
      label: common.keyHelp,
      run: () => {
        setHelpOpen(true);
      },
    },
    {
      keys: 'Escape',
      label: common.keyUp,
      inFields: true,
      run: (event) => {
        // In a field Esc first leaves the field, so that nothing typed is lost by one key.
        if (event.target instanceof HTMLElement && event.target.closest('input, textarea, select') !== null) {
          event.target.blur();
          return true;
        }
        if (route.page === 'job' || route.page === 'new') {
          navigate(jobsRoute());
          return true;
        }
        if (route.page === 'machine' || route.page === 'images') {
          navigate(machinesRoute);
          return true;
        }
        return false;
      },
    },
  ]);

  useDesktopCommands(
    useCallback((command: DesktopCommand) => {
      if (command.kind === 'open-job') navigate(jobRoute(command.jobId));
      else if (command.kind === 'ended-jobs') navigate({ page: 'jobs', query: 'show=ended' });
      else if (command.kind === 'new-job') navigate(newJobRoute());
      else if (command.kind === 'palette' && !dialogIsOpen()) openPalette();
    }, []),
  );

  const { bridge } = useDesktop();
  useEffect(
    () =>
      takeDrops(bridge, () => {
        // The form that is shown takes it as it is.
        if (currentRoute().page !== 'new') navigate(newJobRoute());
      }),
    [bridge],
  );

  useEffect(() => {
    const timer = setTimeout(preparePages, preparePagesAfterMs);
    return () => {
      clearTimeout(timer);
    };
  }, []);

  // A new page takes the focus, so that keys and screen readers start at its top.
  const pageKey =
    route.page === 'job'
      ? `job ${route.jobId}`
      : route.page === 'machine'
        ? `machine ${route.machineId}`
        : route.page === 'new'
          ? routeHash(route)
          : route.page;
  const shownKey = useRef(pageKey);
  useEffect(() => {
    if (shownKey.current === pageKey) return;
    shownKey.current = pageKey;
    if (content.current !== null && !content.current.contains(document.activeElement))
      content.current.focus();
  }, [pageKey]);

  return (
    <div className={styles['frame']}>
      <Rail route={route} />
      <div className={styles['middle']}>
        <ConnectionBanner />
        <main className={styles['content']} ref={content} tabIndex={-1}>
          <CrashBoundary key={pageKey}>
            <Pages route={route} />
          </CrashBoundary>
        </main>
      </div>
      <StatusBar />
      {later ? (
        <>
          <LoginQuestion />
          <Palette
            onHelp={() => {
              setHelpOpen(true);
            }}
          />
          <KeyboardHelp
            opened={helpOpen}
            onClose={() => {
              setHelpOpen(false);
            }}
          />
        </>
      ) : null}
      <ClosingQuestion drawn={later} />
    </div>
  );
}
