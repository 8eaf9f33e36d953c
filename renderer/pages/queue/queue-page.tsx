/** Queue: who is when, by band, in the order that is really gone through, and below it what runs where. Live by the `queue` topic. */
import { useCallback, useMemo, useRef, useState, useSyncExternalStore } from 'react';
import type { JobChange, QueuedJobView, QueueView } from '../../../core/contract/queue.js';
import { jobRoute, navigate } from '../../app/router.js';
import { EmptyState, ErrorState, LoadingNote, Skeleton } from '../../components/feedback.js';
import { NewJobButton } from '../../components/new-job-button.js';
import { PageHeader } from '../../components/page-header.js';
import { useToast } from '../../components/toasts.js';
import { useJobActions } from '../../components/use-job-actions.js';
import { useDesktop, type Desktop } from '../../state/desktop-context.js';
import { asRefusal, useTopic } from '../../state/hooks.js';
import { queue as words } from '../../strings/queue.js';
import { createSelection, type Selection } from '../jobs/selection.js';
import { indexLines, queueLines } from './queue-lines.js';
import { QueueList, type ListControl } from './queue-list.js';
import { QueueMenu } from './queue-menu.js';
import styles from './queue-page.module.css';
import { QueueToolbar } from './queue-toolbar.js';
import { Timeline } from './timeline.js';
import { useQueueChanges } from './use-queue-changes.js';
import { idsBetween, useQueueKeys } from './use-queue-keys.js';

export function QueuePage() {
  const topic = useTopic('queue', {});
  if (topic.kind === 'live') return <LoadedQueue view={topic.value} />;
  return (
    <>
      <PageHeader title={words.title} />
      {topic.kind === 'ended' ? (
        <ErrorState what={words.what} refusal={topic.refusal} />
      ) : (
        <div className={styles['skeleton']}>
          <LoadingNote />
          <Skeleton width="100%" height={26} />
          <Skeleton width="62%" />
          <Skeleton width="48%" />
          <Skeleton width="56%" />
        </div>
      )}
    </>
  );
}

/** Known while the window lives, so that coming back from a job goes on at it. */
const selections = new WeakMap<Desktop, Selection>();

function selectionOf(desktop: Desktop): Selection {
  const selection = selections.get(desktop) ?? createSelection();
  selections.set(desktop, selection);
  return selection;
}

function LoadedQueue({ view }: { readonly view: QueueView }) {
  const desktop = useDesktop();
  const { host, jobs: entities } = desktop;
  const selection = selectionOf(desktop);
  const toast = useToast();
  const { stop } = useJobActions();
  const changes = useQueueChanges();
  const control = useRef<ListControl | null>(null);
  const [menu, setMenu] = useState<{ readonly x: number; readonly y: number } | null>(null);
  const bandButton = useRef<HTMLButtonElement | null>(null);
  const selected = useSyncExternalStore(selection.subscribe, selection.selected);
  const active = useSyncExternalStore(selection.subscribe, selection.active);

  const index = useMemo(() => indexLines(queueLines(view.bands, changes.me)), [view.bands, changes.me]);
  const jobOf = (id: string): readonly QueuedJobView[] => {
    const line = index.lines[index.lineOf.get(id) ?? -1];
    return line?.kind === 'job' ? [line.job] : [];
  };
  // What has started since is no longer in the queue.
  const inQueue = selected.filter((id) => index.lineOf.has(id));
  const chosen = (inQueue.length > 0 ? inQueue : active === null ? [] : [active]).flatMap(jobOf);
  const may = chosen.some(changes.may);
  const budget = changes.budgetOf(chosen);
  const waiting = view.bands.reduce((sum, band) => sum + band.total, 0);

  const open = useCallback(
    (id: string) => {
      selection.setActive(id);
      navigate(jobRoute(id));
    },
    [selection],
  );
  const change = (what: JobChange) => {
    changes.change(chosen, what);
  };
  const stopChosen = () => {
    // The question names how long a job has run, which its row alone knows.
    Promise.all(
      chosen.map(async ({ jobId }) => entities.get(jobId) ?? (await host.call('job.get', { jobId })).summary),
    ).then(
      (rows) => void stop(rows),
      (error: unknown) => {
        toast({ tone: 'error', text: asRefusal(error).message });
      },
    );
  };
  const openMenu = (id: string, x: number, y: number) => {
    if (!selection.isSelected(id)) {
      selection.clear();
      selection.setActive(id);
    }
    setMenu({ x, y });
  };

  useQueueKeys({
    index,
    selection,
    control,
    chosen,
    open,
    stop: stopChosen,
    change,
    openBands: () => {
      // Its menu belongs to the button: there the focus goes in and comes back.
      bandButton.current?.focus();
      // Not within the key's own event, at whose end the menu would close again.
      setTimeout(() => bandButton.current?.click());
    },
    menu: openMenu,
  });

  return (
    <>
      <PageHeader
        title={words.title}
        aside={
          <span className="iris-muted" role="status">
            {words.counts(waiting, new Set(view.items.flatMap((item) => item.uid ?? [])).size)}
          </span>
        }
      />
      {waiting === 0 ? (
        <div className={styles['empty']}>
          <EmptyState
            icon="queue"
            title={words.emptyTitle}
            example={words.emptyExample}
            action={<NewJobButton />}
          >
            {words.emptyBody}
          </EmptyState>
        </div>
      ) : (
        <>
          <QueueToolbar chosen={chosen} may={may} budget={budget} bandButton={bandButton} onChange={change} />
          <QueueList
            index={index}
            me={changes.me}
            active={active}
            isSelected={selection.isSelected}
            refusals={changes.refusals}
            pending={changes.pending}
            control={control}
            onPick={(id, event) => {
              if (event.shiftKey) selection.extendTo(id, (from, to) => idsBetween(index, from, to));
              else if (event.ctrlKey || event.metaKey) selection.toggle(id);
              else {
                selection.clear();
                selection.setActive(id);
              }
              control.current?.focus();
            }}
            onOpen={open}
            onMenu={openMenu}
          />
        </>
      )}
      <Timeline view={view} />
      {menu === null || chosen.length === 0 ? null : (
        <QueueMenu
          jobs={chosen}
          at={menu}
          may={may}
          budget={budget}
          onClose={() => {
            setMenu(null);
            control.current?.focus();
          }}
          onOpen={open}
          onStop={stopChosen}
          onChange={change}
        />
      )}
    </>
  );
}
