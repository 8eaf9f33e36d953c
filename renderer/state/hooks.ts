/** React hooks over the host: queries for calls, live values for topics, commands with a request id. */
import { keepPreviousData, useQuery, type UseQueryResult } from '@tanstack/react-query';
import { useSyncExternalStore } from 'react';
import type { MethodName, MethodResult, Params, TopicFilter, TopicName } from '../../core/contract/api.js';
import { RefusalError, refusal, type Refusal } from '../../core/contract/errors.js';
import type { ConnectionState } from './host.js';
import { useDesktop, useHost } from './desktop-context.js';
import type { TopicState } from './topic-hub.js';
import { useStore } from './use-store.js';

export type { TopicState } from './topic-hub.js';

export interface CallOptions {
  readonly enabled?: boolean;
  readonly staleTimeMs?: number;
  readonly keepPrevious?: boolean;
  /** Asked again so often while it is shown. */
  readonly refreshMs?: number;
}

/** A read of the contract, cached by method and parameters. `error` is always a RefusalError. */
export function useCall<M extends MethodName>(
  method: M,
  params: Params<M>,
  options: CallOptions = {},
): UseQueryResult<MethodResult<M>, RefusalError> {
  const host = useHost();
  return useQuery<MethodResult<M>, RefusalError>({
    queryKey: [method, params],
    queryFn: () => host.call(method, params),
    enabled: options.enabled ?? true,
    ...(options.staleTimeMs === undefined ? {} : { staleTime: options.staleTimeMs }),
    ...(options.refreshMs === undefined ? {} : { refetchInterval: options.refreshMs }),
    ...(options.keepPrevious === true ? { placeholderData: keepPreviousData } : {}),
  });
}

const nothing = { kind: 'loading' } as const;
const neverChanges = () => () => undefined;

/** A topic's value with its deltas folded in, while the component lives. `null` subscribes to nothing. */
export function useTopic<T extends TopicName>(topic: T, filter: TopicFilter<T> | null): TopicState<T> {
  const { topics } = useDesktop();
  // The hub gives the same object for the same filter, so a new filter object of the same content changes nothing.
  const shared = filter === null ? null : topics.shared(topic, filter);
  return useSyncExternalStore<TopicState<T>>(
    shared?.subscribe ?? neverChanges,
    shared?.get ?? (() => nothing),
  );
}

export function useConnection(): ConnectionState {
  return useStore(useDesktop().host.connection);
}

/** What any thrown value means to a person. */
export function asRefusal(error: unknown): Refusal {
  if (error instanceof RefusalError) return error.refusal;
  return refusal('INTERNAL', error instanceof Error ? error.message : String(error));
}
