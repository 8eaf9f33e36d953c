/** The line at the bottom: what runs and waits, what is free, the controller's health, the runtime, notifications. */
import { memo } from 'react';
import type { MachineView } from '../../core/contract/machines.js';
import type { HostStatus } from '../../core/contract/views.js';
import { Icon, type IconName } from '../components/icon.js';
import { answering, gpusOf } from '../components/machine-figures.js';
import { Meter } from '../components/meter.js';
import { useCounts, useDesktop, useHostStatus } from '../state/desktop-context.js';
import { useConnection, useTopic } from '../state/hooks.js';
import { isNearLimit, useBudgets, usedShare } from '../state/use-budgets.js';
import { useStore } from '../state/use-store.js';
import { budgets } from '../strings/budgets.js';
import { common } from '../strings/common.js';
import { formatCores } from '../strings/numbers.js';
import { Inbox } from './inbox.js';
import { budgetsRoute, routeHash } from './router.js';
import styles from './status-bar.module.css';

const Count = memo(function Count({ text, hint, query, color, icon }: CountProps) {
  return (
    <a className={styles['item']} href={routeHash({ page: 'jobs', query })} title={hint}>
      <span style={color === null ? undefined : { color }}>
        <Icon name={icon} size={12} />
      </span>
      {text}
    </a>
  );
});

interface CountProps {
  readonly text: string;
  readonly hint: string;
  readonly query: string;
  readonly color: string | null;
  readonly icon: IconName;
}

function Free() {
  // This is also what keeps the machines sampled; a hidden window listens to nothing.
  const overview = useTopic('overview', {});
  return overview.kind === 'live' ? <FreeOf all={overview.value.machines} /> : null;
}

function FreeOf({ all }: { readonly all: readonly MachineView[] }) {
  const gpus = gpusOf(all);
  const machines = answering(all);
  const busy = machines.flatMap((machine) => machine.cpuBusyPercent ?? []);
  const percent = busy.length === 0 ? null : busy.reduce((sum, value) => sum + value, 0) / busy.length;
  const freeCpu = machines.reduce((sum, machine) => sum + machine.cpuMillicoresFree, 0);
  const totalCpu = machines.reduce((sum, machine) => sum + machine.cpuMillicoresTotal, 0);
  return (
    <>
      <span className={styles['item']} title={common.freeGpusHint}>
        {gpus.all === 0 ? common.noGpus : common.freeGpus(gpus.free, gpus.all)}
      </span>
      <span className={styles['item']} title={common.cpuFreeHint}>
        {common.cpuFree(formatCores(freeCpu), formatCores(totalCpu))}
      </span>
      {percent === null ? null : (
        <span className={`${styles['item'] ?? ''} ${styles['busy'] ?? ''}`} title={common.cpuHint}>
          {common.cpuBusy(percent)}
        </span>
      )}
    </>
  );
}

/** What one's running work uses of one's budget. */
function Mine() {
  const state = useBudgets();
  const mine = state.kind === 'live' ? state.mine : null;
  if (mine === null) return null;
  const low = isNearLimit(mine);
  const text = budgets.mineOf(mine.spend.total, mine.limit);
  return (
    <a
      className={styles['item']}
      href={routeHash(budgetsRoute)}
      title={budgets.mineTitle(mine.used, mine.faded)}
    >
      {mine.limit === 'unlimited' ? null : (
        <span className={styles['meter']}>
          <Meter label={budgets.mine} value={usedShare(mine)} text={text} low={low} />
        </span>
      )}
      <span style={low ? { color: 'var(--iris-waiting)' } : undefined}>{text}</span>
    </a>
  );
}

function JobCounts() {
  const counts = useCounts();
  if (counts === null) return null;
  return (
    <>
      <Count
        text={common.running(counts.running)}
        hint={common.runningHint}
        query="show=running"
        color={counts.running > 0 ? 'var(--iris-running)' : null}
        icon="dot"
      />
      <Count
        text={common.waiting(counts.waiting)}
        hint={common.waitingHint}
        query="show=waiting"
        color={counts.waiting > 0 ? 'var(--iris-waiting)' : null}
        icon="clock"
      />
      {counts.failedUnseen === 0 ? null : (
        <Count
          text={common.failed(counts.failedUnseen)}
          hint={common.failedHint}
          query="states=FAILED,WORKER_FAILED"
          color="var(--iris-failed)"
          icon="cross"
        />
      )}
    </>
  );
}

/** Each part listens to what it shows: counts come with every change of a job. */
export function StatusBar() {
  const connection = useConnection();
  const info = useStore(useDesktop().info);
  const status = useHostStatus();

  return (
    <footer className={styles['bar']} aria-label={common.statusBar}>
      <div className={styles['facts']}>
        <JobCounts />
        <Free />
        <Mine />
      </div>
      <Health connection={connection.kind} status={status} />
      {info === null ? null : (
        <span
          className={`${styles['item'] ?? ''} ${styles['runtime'] ?? ''}`}
          title={common.runtimeHint(info.runtime, info.appVersion)}
        >
          {info.runtime}
        </span>
      )}
      <Inbox />
    </footer>
  );
}

interface HealthProps {
  readonly connection: 'connecting' | 'connected' | 'lost' | 'refused';
  readonly status: HostStatus | null;
}

function Health({ connection, status }: HealthProps) {
  const word =
    connection === 'connecting'
      ? common.connecting
      : connection === 'lost'
        ? common.connectionLostShort
        : connection === 'refused'
          ? common.connectionRefusedShort
          : status?.healthy === false
            ? common.unhealthy
            : common.connected;
  const well = connection === 'connected' && status?.healthy !== false;
  const color = well
    ? 'var(--iris-succeeded)'
    : connection === 'connecting'
      ? 'inherit'
      : 'var(--iris-failed)';
  return (
    <span className={styles['item']} role="status" title={status?.health ?? word}>
      <span style={{ color }}>
        <Icon name={well ? 'check' : connection === 'connecting' ? 'clock' : 'warning'} size={12} />
      </span>
      {word}
    </span>
  );
}
