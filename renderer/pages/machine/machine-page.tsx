/** One machine: its load over time, its devices and who is on them, the tasks there, what happened to it. */
import { Tabs } from '@mantine/core';
import { useState } from 'react';
import { refusal } from '../../../core/contract/errors.js';
import type { MachineView } from '../../../core/contract/machines.js';
import { latePage } from '../../app/late-page.js';
import { machineRoute, machinesRoute, replaceRoute, routeHash } from '../../app/router.js';
import { EmptyState, ErrorState, LoadingNote, Skeleton } from '../../components/feedback.js';
import { Icon } from '../../components/icon.js';
import { PageHeader } from '../../components/page-header.js';
import { useShortcuts } from '../../components/shortcuts.js';
import { canCordon, canDrain, useMachineActions } from '../../components/use-machine-actions.js';
import { useTopic } from '../../state/hooks.js';
import { useHolders } from '../../state/use-holders.js';
import { charts } from '../../strings/charts.js';
import { common } from '../../strings/common.js';
import { machine as words } from '../../strings/machine.js';
import { MachineDevices } from './machine-devices.js';
import { MachineEvents } from './machine-events.js';
import { MachineHeader } from './machine-header.js';
import styles from './machine-page.module.css';
import { MachineTasks } from './machine-tasks.js';

/** What draws is not read with the other pages ahead of need. */
const loadTab = latePage(async () => (await import('./load-tab.js')).LoadTab);

export interface MachinePageProps {
  readonly machineId: string;
  readonly tab: string | null;
}

const tabs = ['load', 'devices', 'tasks', 'events'] as const;
type Tab = (typeof tabs)[number];

const tabOf = (text: string | null): Tab => tabs.find((tab) => tab === text) ?? 'load';

export function MachinePage({ machineId, tab }: MachinePageProps) {
  const topic = useTopic('overview', {});
  if (topic.kind === 'live') {
    const machine = topic.value.machines.find(({ id }) => id === machineId);
    if (machine !== undefined) return <Loaded machine={machine} tab={tabOf(tab)} />;
  }
  return (
    <>
      <PageHeader
        title={machineId}
        crumbs={
          <nav className={styles['crumbs']} aria-label={words.crumbs}>
            <a href={routeHash(machinesRoute)}>{common.machines}</a>
            <Icon name="chevron-right" size={12} />
          </nav>
        }
      />
      {topic.kind === 'loading' ? (
        <div className={styles['skeleton']}>
          <LoadingNote />
          <Skeleton width={320} />
          <Skeleton width="100%" height={26} />
          <Skeleton width="100%" height={120} />
        </div>
      ) : topic.kind === 'ended' ? (
        <ErrorState what={words.what(machineId)} refusal={topic.refusal} />
      ) : (
        <ErrorState what={words.what(machineId)} refusal={refusal('NOT_FOUND', words.missing(machineId))} />
      )}
    </>
  );
}

function Loaded({ machine, tab }: { readonly machine: MachineView; readonly tab: Tab }) {
  const actions = useMachineActions();
  const holders = useHolders();
  const [paused, setPaused] = useState(false);
  const items = [...holders.values()].filter(({ workerId }) => workerId === machine.id);
  const show = (next: Tab) => {
    replaceRoute(machineRoute(machine.id, next === 'load' ? null : next));
  };
  useShortcuts(words.keysTitle, [
    ...tabs.map((name, index) => ({
      keys: String(index + 1),
      ...(index === 0 ? { label: words.keyTabs, shown: tabs.map((_tab, at) => String(at + 1)) } : {}),
      run: () => {
        show(name);
      },
    })),
    {
      keys: 'p',
      label: charts.keyPause,
      run: () => {
        if (tab !== 'load') return false;
        setPaused(!paused);
        return true;
      },
    },
    // The graph that has the focus answers them; listed for the help.
    { keys: ['ArrowLeft', 'ArrowRight'], label: charts.keyCursor, run: () => false },
    {
      keys: 'c',
      label: words.keyCordon,
      run: () => void actions.change(machine, { kind: canCordon(machine) ? 'cordon' : 'uncordon' }),
    },
    {
      keys: 'd',
      label: words.keyDrain,
      run: () => {
        if (!canDrain(machine)) return false;
        actions.drain(machine);
        return true;
      },
    },
  ]);
  return (
    <>
      <MachineHeader machine={machine} actions={actions} />
      <Tabs
        className={styles['tabs'] ?? ''}
        value={tab}
        onChange={(value) => {
          show(tabOf(value));
        }}
        keepMounted={false}
        variant="default"
      >
        <Tabs.List aria-label={words.tabs} className={styles['tabList'] ?? ''}>
          <Tabs.Tab value="load">{words.load}</Tabs.Tab>
          <Tabs.Tab value="devices">{words.devices}</Tabs.Tab>
          <Tabs.Tab value="tasks">{words.tasks(items.length)}</Tabs.Tab>
          <Tabs.Tab value="events">{words.events}</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="load" className={styles['panel'] ?? ''}>
          <loadTab.Page machine={machine} paused={paused} onPause={setPaused} />
        </Tabs.Panel>
        <Tabs.Panel value="devices" className={styles['panel'] ?? ''}>
          <MachineDevices machine={machine} holders={holders} actions={actions} />
        </Tabs.Panel>
        <Tabs.Panel value="tasks" className={styles['panel'] ?? ''}>
          {items.length === 0 ? (
            <EmptyState icon="machine" title={words.tasksTitle}>
              {words.tasksBody}
            </EmptyState>
          ) : (
            <MachineTasks machine={machine} items={items} />
          )}
        </Tabs.Panel>
        <Tabs.Panel value="events" className={styles['panel'] ?? ''}>
          <MachineEvents machine={machine} />
        </Tabs.Panel>
      </Tabs>
      {actions.dialog}
    </>
  );
}
