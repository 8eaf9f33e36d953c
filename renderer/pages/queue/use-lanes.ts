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

export interface LanesState {
  readonly lanes: Lanes;
  readonly loading: boolean;
  /** The past was cut: more ended than was asked for. */
  readonly cut: boolean;
  readonly failed: { readonly refusal: Refusal; readonly retry: () => void } | null;
}

const nothing: readonly LaneItem[] = [];

export function useLanes(view: QueueView, range: TimeRange, nowMs: number): LanesState {
  const machines = useCall('machine.list', {}, { staleTimeMs: 30_000 });
  const past = useCall(
    'queue.history',
    { sinceMs: historySince(range, nowMs), limit: historyLimit },
    { keepPrevious: true, staleTimeMs: 5000 },
  );
  const { refetch } = past;

  const shown = useRef<ReadonlySet<string>>(new Set());
  const ended = useRef(false);
  useEffect(() => {
    const before = shown.current;
    const now = new Set(view.items.flatMap((item) => item.uid ?? []));
    shown.current = now;
    for (const uid of before) if (!now.has(uid)) ended.current = true;
  }, [view]);
  useEffect(() => {
    const timer = setInterval(() => {
      if (!ended.current) return;
      ended.current = false;
      void refetch();
    }, askAgainMs);
    return () => {
      clearInterval(timer);
    };
  }, [refetch]);

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
