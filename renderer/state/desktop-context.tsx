/** What every page stands on: the host, the entities, the bridge's facts and settings. Made once in main.tsx, faked in tests. */
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import {
  createContext,
  useCallback,
  useContext,
  useEffect,
  useSyncExternalStore,
  type ReactNode,
} from 'react';
import { RefusalError, errorCodes } from '../../core/contract/errors.js';
import type { Counts, HostStatus, JobSummary } from '../../core/contract/views.js';
import type { AppInfo, DesktopBridge, DesktopSettings } from './bridge.js';
import { createJobEntities, type JobEntities } from './entities.js';
import { createJobActions, type JobActions } from './job-actions.js';
import { createHost, type Host } from './host.js';
import { createTopicHub, type TopicHub } from './topic-hub.js';
import { createPacedStore, createStore, type ReadableStore, type WritableStore } from './store.js';
import { useStore } from './use-store.js';

export interface Desktop {
  readonly bridge: DesktopBridge;
  readonly host: Host;
  readonly jobs: JobEntities;
  readonly actions: JobActions;
  readonly topics: TopicHub;
  readonly counts: ReadableStore<Counts | null>;
  /** The controller's status as last told; kept while the connection is away. */
  readonly status: ReadableStore<HostStatus | null>;
  readonly info: ReadableStore<AppInfo | null>;
  readonly settings: ReadableStore<DesktopSettings>;
  readonly changeSettings: (change: Partial<DesktopSettings>) => Promise<void>;
  readonly queries: QueryClient;
  readonly close: () => void;
}

/** They come with every batch of changes; nobody reads ten a second. */
const countsGapMs = 250;

const startSettings: DesktopSettings = { closeToTray: 'ask', notificationsPaused: false, theme: 'system' };

export interface DesktopOptions {
  readonly host?: Host;
  readonly document?: Document;
  /** Called before the first answers of the controller are taken in. */
  readonly answered?: (() => void) | undefined;
}

export function createDesktop(bridge: DesktopBridge, options: DesktopOptions = {}): Desktop {
  const host = options.host ?? createHost({ connect: bridge.connect, answered: options.answered });
  const page = options.document ?? document;
  const jobs = createJobEntities();
  const counts: WritableStore<Counts | null> = createPacedStore<Counts | null>(null, countsGapMs);
  const status: WritableStore<HostStatus | null> = createStore<HostStatus | null>(null);
  const info: WritableStore<AppInfo | null> = createStore<AppInfo | null>(null);
  const settings = createStore<DesktopSettings>(startSettings);
  const queries = new QueryClient({
    defaultOptions: {
      queries: {
        // The controller is local and tells of changes by topics; nothing is gained by asking again on focus.
        refetchOnWindowFocus: false,
        networkMode: 'always',
        staleTime: 1000,
        retry: (failures, error) =>
          failures < 2 && error instanceof RefusalError && errorCodes[error.refusal.code] === 'retryable',
      },
      mutations: { networkMode: 'always', retry: false },
    },
  });

  /** Changes may have been missed, or calls have failed for want of a connection. */
  let mayLack = false;
  const stops = [
    host.subscribe(
      'jobs',
      {},
      {
        snapshot(value) {
          counts.set(value.counts);
          // A snapshot after the first means that changes were missed: what was fetched is old.
          if (mayLack) {
            void queries.invalidateQueries();
            jobs.missed();
          }
          mayLack = true;
        },
        delta(value) {
          counts.set(value.counts);
          jobs.apply(value.rows, value.removed);
        },
      },
    ),
    host.subscribe('status', {}, { snapshot: status.set, delta: status.set }),
    host.connection.subscribe(() => {
      const connection = host.connection.get();
      if (connection.kind === 'connected') status.set(connection.status);
      if (connection.kind === 'lost') mayLack = true;
    }),
    bridge.onCommand((command) => {
      if (command.kind === 'settings-changed') settings.set(command.settings);
    }),
  ];
  const onVisibility = () => {
    host.setPaused(page.visibilityState === 'hidden');
  };
  page.addEventListener('visibilitychange', onVisibility);
  void bridge.info().then((value) => {
    info.set(value);
  });
  void bridge.getSettings().then((value) => {
    settings.set(value);
  });

  return {
    bridge,
    host,
    jobs,
    actions: createJobActions(host),
    topics: createTopicHub(host),
    counts,
    status,
    info,
    settings,
    async changeSettings(change) {
      settings.set(await bridge.setSettings(change));
    },
    queries,
    close() {
      page.removeEventListener('visibilitychange', onVisibility);
      for (const stop of stops) stop();
      queries.clear();
      host.close();
    },
  };
}

const DesktopContext = createContext<Desktop | null>(null);

export function DesktopProvider({
  desktop,
  children,
}: {
  readonly desktop: Desktop;
  readonly children: ReactNode;
}) {
  return (
    <DesktopContext.Provider value={desktop}>
      <QueryClientProvider client={desktop.queries}>{children}</QueryClientProvider>
    </DesktopContext.Provider>
  );
}

export function useDesktop(): Desktop {
  const desktop = useContext(DesktopContext);
  if (desktop === null) throw new Error('useDesktop outside of DesktopProvider');
  return desktop;
}

export function useHost(): Host {
  return useDesktop().host;
}

/** The row of one job as known now; renders only when that row changes. */
export function useJobRow(id: string): JobSummary | undefined {
  const { jobs } = useDesktop();
  const subscribe = useCallback((listener: () => void) => jobs.listen(id, listener), [jobs, id]);
  return useSyncExternalStore(subscribe, () => jobs.get(id));
}

export function useHostStatus(): HostStatus | null {
  return useStore(useDesktop().status);
}

export function useCounts(): Counts | null {
  return useStore(useDesktop().counts);
}

/** Commands of main (tray, menu, notification) while the component lives. */
export function useDesktopCommands(listener: Parameters<DesktopBridge['onCommand']>[0]): void {
  const { bridge } = useDesktop();
  useEffect(() => bridge.onCommand(listener), [bridge, listener]);
}
