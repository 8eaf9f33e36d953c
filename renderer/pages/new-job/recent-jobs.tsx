/** The last distinct commands; one click fills the form as that job was submitted. */
import { useToast } from '../../components/toasts.js';
import { specToRequest } from '../../../core/contract/job-yaml.js';
import { useHost } from '../../state/desktop-context.js';
import { asRefusal, useCall } from '../../state/hooks.js';
import { newJob as words } from '../../strings/new-job.js';
import { requestToForm, type JobForm } from './form-model.js';
import styles from './new-job.module.css';

const mostRecent = 4;

export function RecentJobs({ onFill }: { readonly onFill: (form: JobForm) => void }) {
  const host = useHost();
  const toast = useToast();
  const list = useCall('job.list', {
    filter: { rootsOnly: true },
    sort: { key: 'submitted', descending: true },
    offset: 0,
    limit: 50,
  });
  const seen = new Set<string>();
  const recent = (list.data?.rows ?? []).filter((row) => {
    if (seen.has(row.commandLine)) return false;
    seen.add(row.commandLine);
    return seen.size <= mostRecent;
  });
  const fill = async (id: string) => {
    try {
      const { spec } = await host.call('job.get', { jobId: id });
      // A new job under the old name would take its place in the list.
      onFill(requestToForm(specToRequest({ ...spec, name: null })));
    } catch (error) {
      toast({ tone: 'error', text: asRefusal(error).message });
    }
  };
  if (recent.length === 0) return null;
  return (
    <div className={styles['recent']}>
      <span className="iris-muted">{words.recent}</span>
      {recent.map((row) => (
        <button
          key={row.id}
          type="button"
          className={`${styles['recentItem'] ?? ''} iris-mono iris-ellipsis`}
          title={`${words.recentHint(row.id)}: ${row.commandLine}`}
          onClick={() => void fill(row.id)}
        >
          {row.commandLine}
        </button>
      ))}
    </div>
  );
}
