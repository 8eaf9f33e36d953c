/** React hooks over the host: queries for calls, live values for topics, commands with a request id. */
import { keepPreviousData, useQuery, type UseQueryResult } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import type {
  MethodName,
  MethodResult,
  Params,
  TopicFilter,
  TopicName,
  TopicSnapshot,
} from '../../core/contract/api.js';
import { RefusalError, refusal, type Refusal } from '../../core/contract/errors.js';
import type { ConnectionState } from './host.js';
import { useDesktop, useHost } from './desktop-context.js';
import { foldTopic } from './topics.js';
import { useStore } from './use-store.js';

export interface CallOptions {
  readonly enabled?: boolean;
  readonly staleTimeMs?: number;
  readonly keepPrevious?: boolean;
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
    ...(options.keepPrevious === true ? { placeholderData: keepPreviousData } : {}),
  });
}

export type TopicState<T extends TopicName> =
  | { readonly kind: 'loading' }
  | { readonly kind: 'live'; readonly value: TopicSnapshot<T> }
  | { readonly kind: 'ended'; readonly refusal: Refusal };

/** A topic's value with its deltas folded in, while the component lives. `null` subscribes to nothing. */
export function useTopic<T extends TopicName>(topic: T, filter: TopicFilter<T> | null): TopicState<T> {
  const host = useHost();
  const [state, setState] = useState<TopicState<T>>({ kind: 'loading' });
  const key = filter === null ? null : JSON.stringify(filter);
  // The filter's text is its identity: a new object of the same content must not subscribe again.
  const latest = useRef(filter);
  useEffect(() => {
    latest.current = filter;
  });
  useEffect(() => {
    setState({ kind: 'loading' });
    const wanted = latest.current;
    if (key === null || wanted === null) return undefined;
    return host.subscribe(topic, wanted, {
      snapshot(value) {
        setState({ kind: 'live', value });
      },
      delta(delta) {
        setState((before) =>
          before.kind === 'live' ? { kind: 'live', value: foldTopic(topic, before.value, delta) } : before,
        );
      },
      ended(reason) {
        setState({ kind: 'ended', refusal: reason });
      },
    });
  }, [host, topic, key]);
  return state;
}

export function useConnection(): ConnectionState {
  return useStore(useDesktop().host.connection);
}

/** An id by which a command may be repeated without harm. */
export function newRequestId(): string {
  return crypto.randomUUID();
}

/** What any thrown value means to a person. */
export function asRefusal(error: unknown): Refusal {
  if (error instanceof RefusalError) return error.refusal;
  return refusal('INTERNAL', error instanceof Error ? error.message : String(error));
}
