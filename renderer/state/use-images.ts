/** Images of every machine and what is being fetched. No topic tells of them, so they are asked for: often while something is fetched. */
import { useQuery, useQueryClient, type UseQueryResult } from '@tanstack/react-query';
import { useCallback } from 'react';
import type { MethodResult } from '../../core/contract/api.js';
import type { RefusalError } from '../../core/contract/errors.js';
import { useHost } from './desktop-context.js';

const whilePullingMs = 1000;
const otherwiseMs = 30_000;
const key = ['image.list'] as const;

export type Images = MethodResult<'image.list'>;

/** Stops asking while the window is hidden. */
export function useImages(enabled = true): UseQueryResult<Images, RefusalError> {
  const host = useHost();
  return useQuery<Images, RefusalError>({
    queryKey: key,
    queryFn: () => host.call('image.list', {}),
    enabled,
    refetchInterval: ({ state }) =>
      state.data?.pulls.some((pull) => pull.state === 'PULLING') === true ? whilePullingMs : otherwiseMs,
  });
}

/** Asks again after something was done to them. */
export function useImagesAgain(): () => Promise<void> {
  const queries = useQueryClient();
  return useCallback(() => queries.invalidateQueries({ queryKey: key }), [queries]);
}
