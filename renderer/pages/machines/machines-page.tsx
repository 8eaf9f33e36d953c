/** Machines: what each does, who uses its cards, whether it takes tasks. Live by the `overview` topic; who runs where by `queue`. */
import { Button, SegmentedControl } from '@mantine/core';
import { useMemo, useRef, useState } from 'react';
import type { MachineView } from '../../../core/contract/machines.js';
import { imagesRoute, navigate } from '../../app/router.js';
import { EmptyState, ErrorState, LoadingNote, Skeleton } from '../../components/feedback.js';
import { Icon } from '../../components/icon.js';
import { conditionOf } from '../../components/machine-state.js';
import { PageHeader } from '../../components/page-header.js';
import { useMachineActions } from '../../components/use-machine-actions.js';
import { useTopic } from '../../state/hooks.js';
import { useHolders } from '../../state/use-holders.js';
import { machines as words } from '../../strings/machines.js';
import { AddMachine } from './add-machine.js';
import { MachineCard } from './machine-card.js';
import { MachineTable } from './machine-table.js';
import styles from './machines-page.module.css';
import { useMachinesKeys } from './use-machines-keys.js';

type View = 'cards' | 'table';
const viewKey = 'iris.machines.view';
/** With more machines than this a line each is easier to read. */
const mostCards = 12;

function keptView(): View | null {
  const kept = localStorage.getItem(viewKey);
  return kept === 'cards' || kept === 'table' ? kept : null;
}

export function MachinesPage() {
  const topic = useTopic('overview', {});
  const holders = useHolders();
  const actions = useMachineActions();
  const list = useRef<HTMLDivElement>(null);
  const [chosen, setChosen] = useState<View | null>(keptView);
  const [adding, setAdding] = useState(false);
  const machines = useMemo<readonly MachineView[]>(
    () => (topic.kind === 'live' ? topic.value.machines : []),
    [topic],
  );
  const view = chosen ?? (machines.length > mostCards ? 'table' : 'cards');
  const setView = (next: View) => {
    localStorage.setItem(viewKey, next);
    setChosen(next);
  };
  const add = () => {
    setAdding(true);
  };
  useMachinesKeys({
    list,
    machines,
    actions,
    onAdd: add,
    onView: () => {
      setView(view === 'cards' ? 'table' : 'cards');
    },
  });
  const answering = machines.filter((machine) => conditionOf(machine).answers).length;

  return (
    <>
      <PageHeader
        title={words.title}
        aside={
          topic.kind === 'live' ? (
            <span className="iris-muted" role="status">
              {words.counts(machines.length, answering)}
            </span>
          ) : null
        }
        actions={
          <>
            <SegmentedControl
              aria-label={words.views}
              value={view}
              onChange={setView}
              data={[
                { value: 'cards', label: words.viewCards },
                { value: 'table', label: words.viewTable },
              ]}
            />
            <Button
              variant="default"
              leftSection={<Icon name="image" size={14} />}
              onClick={() => {
                navigate(imagesRoute);
              }}
            >
              {words.images}
            </Button>
            <Button leftSection={<Icon name="plus" size={14} />} onClick={add}>
              {words.add}
            </Button>
          </>
        }
      />
      <div className={styles['scroller']} tabIndex={0} role="region" aria-label={words.list} ref={list}>
        {topic.kind === 'ended' ? (
          <ErrorState what={words.what} refusal={topic.refusal} />
        ) : topic.kind === 'loading' ? (
          <CardSkeletons />
        ) : (
          <>
            {view === 'table' && machines.length > 0 ? (
              <div className={styles['table']}>
                <MachineTable machines={machines} holders={holders} actions={actions} />
              </div>
            ) : (
              <ul className={styles['cards']}>
                {machines.map((machine) => (
                  <MachineCard key={machine.id} machine={machine} holders={holders} actions={actions} />
                ))}
              </ul>
            )}
            {machines.length > 1 ? null : (
              <EmptyState
                icon="machine"
                title={machines.length === 0 ? words.noneTitle : words.aloneTitle}
                example={words.aloneExample}
                action={<Button onClick={add}>{words.add}</Button>}
              >
                {machines.length === 0 ? words.noneBody : words.aloneBody}
              </EmptyState>
            )}
          </>
        )}
      </div>
      <AddMachine
        opened={adding}
        known={machines}
        onClose={() => {
          setAdding(false);
        }}
      />
      {actions.dialog}
    </>
  );
}

function CardSkeletons() {
  return (
    <div className={styles['cards']}>
      <LoadingNote />
      {[0, 1].map((card) => (
        <div key={card} className={styles['skeleton']}>
          <Skeleton width={110} height={13} />
          <Skeleton width="70%" />
          <Skeleton width="100%" height={8} />
          <Skeleton width="100%" height={8} />
          <div className={styles['skeletonGpus']}>
            {[0, 1, 2, 3].map((gpu) => (
              <Skeleton key={gpu} width="100%" height={62} />
            ))}
          </div>
        </div>
      ))}
    </div>
  );
}
