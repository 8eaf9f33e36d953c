/** The caches of every machine as they were measured last: asked for anew when something new is to be told of them. */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import type { MachineCaches } from '../../core/contract/caches.js';
import type { RefusalError } from '../../core/contract/errors.js';
import { useHost } from './desktop-context.js';
import { useTopic } from './hooks.js';

const key = ['cache.list'] as const;

/** By machine; those that run no containers have none. */
export function useCaches(): ReadonlyMap<string, MachineCaches> {
  const host = useHost();
  const queries = useQueryClient();
  const { data } = useQuery<ReadonlyMap<string, MachineCaches>, RefusalError>({
    queryKey: key,
    queryFn: async () => {
      const { machines } = await host.call('cache.list', {});
      return new Map(machines.map((one) => [one.machineId, one]));
    },
  });
  const topic = useTopic('images', {});
  const news = topic.kind === 'live' ? `${topic.value.cacheChanges} ${topic.value.changes}` : null;
  const seen = useRef<string | null>(null);
  useEffect(() => {
    if (news === null || news === seen.current) return;
    // The list that is asked for first is not older than the first news.
    if (seen.current !== null) void queries.invalidateQueries({ queryKey: key });
    seen.current = news;
  }, [news, queries]);
  return data ?? none;
}

const none: ReadonlyMap<string, MachineCaches> = new Map();
