/** What happened to the machine: added, changed, lost, found again. */
import { AuditList } from '../../components/audit/audit-list.js';
import { useAudit } from '../../components/audit/use-audit.js';
import { EmptyState, ErrorState, LoadingNote, Skeleton } from '../../components/feedback.js';
import type { Contact, MachineView } from '../../../core/contract/machines.js';
import { RelativeTime } from '../../components/time.js';
import { machine as words } from '../../strings/machine.js';
import { contactWords } from '../../strings/machines.js';
import styles from './machine-page.module.css';

export function MachineEvents({ machine }: { readonly machine: MachineView }) {
  return (
    <>
      <ContactLog contact={machine.contact} />
      <Changes machine={machine} />
    </>
  );
}

/** When it answered and when not; only of a machine elsewhere is there such a thing. */
function ContactLog({ contact }: { readonly contact: Contact }) {
  if (contact.log === undefined) return null;
  return (
    <section className={styles['contactPart']} aria-label={words.contactLog}>
      <h2 className={styles['section']}>{words.contactLog}</h2>
      <ul className={styles['contactLog']}>
        {contact.log.map(({ atMs, state, message }) => (
          <li key={`${atMs} ${state} ${message ?? ''}`}>
            <RelativeTime atMs={atMs} long />
            <span>{contactWords[state]}</span>
            <span className="iris-muted">{message ?? ''}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Changes({ machine }: { readonly machine: MachineView }) {
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
