/** Images of every machine and what is being fetched: told of while somebody looks, and asked for anew when some came or went. */
import { useQuery, useQueryClient, type UseQueryResult } from '@tanstack/react-query';
import { useCallback, useEffect, useMemo, useRef } from 'react';
import type { MethodResult } from '../../core/contract/api.js';
import type { RefusalError } from '../../core/contract/errors.js';
import { useHost } from './desktop-context.js';
import { useTopic } from './hooks.js';

const key = ['image.list'] as const;

export type Images = MethodResult<'image.list'>;
type Asked = Pick<UseQueryResult<Images, RefusalError>, 'data' | 'error' | 'refetch'>;

export function useImages(enabled = true): Asked {
  const host = useHost();
  const again = useImagesAgain();
  const { data, error, refetch } = useQuery<Images, RefusalError>({
    queryKey: key,
    queryFn: () => host.call('image.list', {}),
    enabled,
  });
  const topic = useTopic('images', enabled ? {} : null);
  const news = topic.kind === 'live' ? topic.value : null;
  const seen = useRef<number | null>(null);
  useEffect(() => {
    if (news === null || news.changes === seen.current) return;
    // The list that is asked for first is not older than the first news.
    if (seen.current !== null) void again();
    seen.current = news.changes;
  }, [news, again]);
  const whole = useMemo(
    () => (data === undefined || news === null ? data : { ...data, pulls: news.pulls }),
    [data, news],
  );
  return { data: whole, error, refetch };
}

/** Asks again after something was done to them. */
export function useImagesAgain(): () => Promise<void> {
  const queries = useQueryClient();
  return useCallback(() => queries.invalidateQueries({ queryKey: key }), [queries]);
}
