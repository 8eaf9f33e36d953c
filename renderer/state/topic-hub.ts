/** One subscription a topic and filter, however many components show it; the second one has its value at once. */
import type { TopicFilter, TopicName, TopicSnapshot } from '../../core/contract/api.js';
import type { ErrorCode, Refusal } from '../../core/contract/errors.js';
import type { Host } from './host.js';
import { foldTopic } from './topics.js';

export type TopicState<T extends TopicName> =
  | { readonly kind: 'loading' }
  | {
      readonly kind: 'live';
      readonly value: TopicSnapshot<T>;
      /** How often it began anew: with another number not every change since the value before was told. */
      readonly snapshots: number;
    }
  | { readonly kind: 'ended'; readonly refusal: Refusal };

export interface SharedTopic<T extends TopicName> {
  readonly get: () => TopicState<T>;
  readonly subscribe: (listener: () => void) => () => void;
}

export interface TopicHub {
  readonly shared: <T extends TopicName>(topic: T, filter: TopicFilter<T>) => SharedTopic<T>;
}

const loading = { kind: 'loading' } as const;
const leaves: ReadonlySet<string> = new Set<ErrorCode>(['UNAVAILABLE', 'DISCONNECTED']);

function createShared<T extends TopicName>(
  host: Pick<Host, 'subscribe'>,
  topic: T,
  filter: TopicFilter<T>,
): SharedTopic<T> {
  let state: TopicState<T> = loading;
  let stop: (() => void) | null = null;
  /** It ended as where the controller leaves, and nothing came since. */
  let left = false;
  let snapshots = 0;
  const listeners = new Set<() => void>();
  const set = (next: TopicState<T>) => {
    state = next;
    for (const listener of [...listeners]) listener();
  };
  return {
    get: () => state,
    subscribe(listener) {
      listeners.add(listener);
      stop ??= host.subscribe(topic, filter, {
        snapshot(value) {
          left = false;
          snapshots += 1;
          set({ kind: 'live', value, snapshots });
        },
        delta(delta) {
          if (state.kind === 'live') set({ ...state, value: foldTopic(topic, state.value, delta) });
        },
        ended(reason) {
          // The controller leaves, and the connection ends next: as where it is lost, what is shown stays until there is something newer.
          if (leaves.has(reason.code) && state.kind === 'live' && !left) {
            left = true;
            return;
          }
          // One that is still there and says so again does not leave: it is asked again, but what is shown is old.
          set({ kind: 'ended', refusal: reason });
        },
      });
      return () => {
        listeners.delete(listener);
        if (listeners.size > 0) return;
        stop?.();
        stop = null;
        left = false;
        state = loading;
      };
    },
  };
}

export function createTopicHub(host: Pick<Host, 'subscribe'>): TopicHub {
  // One map a topic keeps its type. Entries without listeners are a few bytes; log and job filters are many over a long time.
  const made: { [T in TopicName]?: Map<string, SharedTopic<T>> } = {};
  const most = 200;
  return {
    shared<T extends TopicName>(topic: T, filter: TopicFilter<T>): SharedTopic<T> {
      const map: Map<string, SharedTopic<T>> = made[topic] ?? new Map<string, SharedTopic<T>>();
      Object.assign(made, { [topic]: map });
      const key = JSON.stringify(filter);
      const known = map.get(key);
      if (known !== undefined) return known;
      if (map.size >= most) {
        for (const [oldKey, old] of map) {
          if (map.size < most) break;
          if (old.get().kind === 'loading') map.delete(oldKey);
        }
      }
      const shared = createShared(host, topic, filter);
      map.set(key, shared);
      return shared;
    },
  };
}
