/** What the timeline shows: what is there now, what ended before, and the machines it was on. */
import { useEffect, useMemo, useRef } from 'react';
import type { LaneItem, QueueView } from '../../../core/contract/queue.js';
import type { Refusal } from '../../../core/contract/errors.js';
import { useCall } from '../../state/hooks.js';
import { laneRows, type Lanes } from './lane-rows.js';
import { historySince, type TimeRange } from './time-scale.js';

export const historyLimit = 2000;
/** What ended shows up in the record by then; many endings ask once. */
const askAgainMs = 1000;
const turnsUntilLater = 5;

export interface LanesState {
  readonly lanes: Lanes;
  readonly loading: boolean;
  /** The past was cut: more ended than was asked for. */
  readonly cut: boolean;
  readonly failed: { readonly refusal: Refusal; readonly retry: () => void } | null;
}

const nothing: readonly LaneItem[] = [];

/** What waits or runs, so that what is no longer there is noticed. */
function presentIn(view: QueueView): ReadonlySet<string> {
  return new Set([
    ...view.items.flatMap((item) => item.uid ?? []),
    ...view.bands.flatMap(({ jobs }) => jobs.map((job) => `${job.jobId} ${job.waitingTasks}`)),
  ]);
}

/** Asks for the past again when something has left, soon; and some time after any change, as what was short was never seen here. */
function useAskAgain(view: QueueView, ask: () => unknown): void {
  const present = useRef<ReadonlySet<string>>(new Set());
  const due = useRef<'no' | 'later' | 'soon'>('no');
  useEffect(() => {
    const before = present.current;
    present.current = presentIn(view);
    if ([...before].some((each) => !present.current.has(each))) due.current = 'soon';
    else if (due.current === 'no') due.current = 'later';
  }, [view]);
  useEffect(() => {
    let turns = 0;
    const timer = setInterval(() => {
      turns += 1;
      if (due.current === 'no' || (due.current === 'later' && turns < turnsUntilLater)) return;
      due.current = 'no';
      turns = 0;
      ask();
    }, askAgainMs);
    return () => {
      clearInterval(timer);
    };
  }, [ask]);
}

export function useLanes(view: QueueView, range: TimeRange, nowMs: number): LanesState {
  const machines = useCall('machine.list', {}, { staleTimeMs: 30_000 });
  const past = useCall(
    'queue.history',
    { sinceMs: historySince(range, nowMs), limit: historyLimit },
    { keepPrevious: true, staleTimeMs: 5000 },
  );
  const { refetch } = past;

  useAskAgain(view, refetch);

  const history = past.data?.items ?? nothing;
  const known = machines.data?.machines;
  const items = useMemo(() => {
    const live = new Set(view.items.map((item) => item.uid));
    return [...view.items, ...history.filter((item) => !live.has(item.uid))];
  }, [view, history]);
  const { startMs, endMs } = range;
  const lanes = useMemo(
    () =>
      laneRows({ machines: known ?? [], items, reservations: view.reservations }, { startMs, endMs }, nowMs),
    [known, items, view.reservations, startMs, endMs, nowMs],
  );
  const error = past.error ?? machines.error;
  return {
    lanes,
    loading: known === undefined && machines.error === null,
    cut: history.length >= historyLimit,
    failed:
      error === null
        ? null
        : {
            refusal: error.refusal,
            retry: () => {
              void refetch();
              void machines.refetch();
            },
          },
  };
}
