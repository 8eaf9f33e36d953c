/** What was noticed of the attempts that go on: somebody else on their cards, cards left idle, memory nearly used up. */
import { logCutCodes } from '../../../core/formats/log-cut.js';
import type { TaskView } from '../../../core/contract/views.js';
import { Icon } from '../../components/icon.js';
import { countTasks, localTimes } from '../../strings/common.js';
import { job as words } from '../../strings/job.js';
import styles from './job-page.module.css';

/** A job of a hundred tasks must not push its log out of the window; all of them stand beside their tasks. */
const most = 3;

export function NoticedCallout({ tasks }: { readonly tasks: readonly TaskView[] }) {
  const told = new Map<string, number>();
  for (const { attempts } of tasks) {
    const last = attempts.at(-1);
    if (last === undefined || last.finishedAtMs !== null) continue;
    for (const { code, message } of last.warnings) {
      // The log's own page says those.
      if (!logCutCodes.has(code)) told.set(message, (told.get(message) ?? 0) + 1);
    }
  }
  if (told.size === 0) return null;
  return (
    <section className={styles['callout']} data-tone="waiting" aria-label={words.noticed}>
      <span className={styles['calloutIcon']}>
        <Icon name="warning" />
      </span>
      <div className={styles['calloutText']}>
        <h2>{words.noticed}</h2>
        {[...told].slice(0, most).map(([message, count]) => (
          <p key={message}>
            {localTimes(message)}
            {count > 1 ? <span className="iris-muted"> ({countTasks(count)})</span> : null}
          </p>
        ))}
        {told.size > most ? <p className="iris-muted">{words.noticedMore(told.size - most)}</p> : null}
      </div>
    </section>
  );
}
