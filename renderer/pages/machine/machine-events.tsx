/** What happened to the machine: added, changed, lost, found again. */
import { AuditList } from '../../components/audit/audit-list.js';
import { useAudit } from '../../components/audit/use-audit.js';
import { EmptyState, ErrorState, LoadingNote, Skeleton } from '../../components/feedback.js';
import type { MachineView } from '../../../core/contract/machines.js';
import { machine as words } from '../../strings/machine.js';
import styles from './machine-page.module.css';

export function MachineEvents({ machine }: { readonly machine: MachineView }) {
  const { scheduling, taints, attributes, wakeAddress, contact } = machine;
  const stamp = JSON.stringify([scheduling, taints, attributes, wakeAddress, contact.state]);
  const feed = useAudit(`machine/${machine.id}`, stamp);
  if (feed.refusal !== null && !feed.loaded) {
    return <ErrorState what={words.eventsWhat} refusal={feed.refusal} onRetry={feed.retry} />;
  }
  if (!feed.loaded) {
    return (
      <div className={styles['skeleton']}>
        <LoadingNote />
        <Skeleton width="70%" />
        <Skeleton width="60%" />
        <Skeleton width="66%" />
      </div>
    );
  }
  if (feed.events.length === 0) {
    return (
      <EmptyState icon="activity" title={words.eventsTitle}>
        {words.eventsBody}
      </EmptyState>
    );
  }
  return <AuditList feed={feed} events={feed.events} withEntity={false} />;
}
