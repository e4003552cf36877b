import { queryOptions } from '@tanstack/react-query';
import { rest } from '../../../api/client.ts';
import type { paths } from '../../../generated/openapi.d.ts';
import { requestOf, type ListeningAs } from './listening-as.ts';

/** A play that an editor tries. */
export type Preview = paths['/episodes/{id}/preview']['post']['responses'][200]['content']['application/json'];

/**
 * An episode as a listener would hear it. It is decided once for each choice and each `turn`, and not again by itself: another decision would be
 * another play.
 * @param turn grows when somebody asks for another play of the same choice
 */
export const previewQuery = (id: string, as: ListeningAs, turn: number) =>
  queryOptions({
    queryKey: ['preview', id, as, turn] as const,
    queryFn: async ({ signal }): Promise<Preview> => {
      const init = { params: { path: { id } }, body: requestOf(as), signal };
      return (await rest.POST('/episodes/{id}/preview', init)).data!;
    },
    staleTime: Infinity,
    gcTime: 0,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  });
