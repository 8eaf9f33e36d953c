/** Who holds what on the machines: attempts by uid, live by the `queue` topic. */
import { useMemo } from 'react';
import type { LaneItem } from '../../core/contract/queue.js';
import { useTopic } from './hooks.js';

export function useHolders(): ReadonlyMap<string, LaneItem> {
  const topic = useTopic('queue', {});
  const items = topic.kind === 'live' ? topic.value.items : null;
  return useMemo(
    () => new Map((items ?? []).flatMap((item) => (item.uid === null ? [] : [[item.uid, item] as const]))),
    [items],
  );
}
