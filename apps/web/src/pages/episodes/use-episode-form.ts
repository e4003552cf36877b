import { useQueryClient } from '@tanstack/react-query';
import type { Answer, Versioned } from '../../api/queries.ts';
import { useSend } from '../../api/send.ts';
import { useForm, type Form } from '../../parts/form/use-form.ts';
import { checkEpisode, episodeChanges, episodeValues, type EpisodeValues } from './episode-form.ts';
import { episodeQuery } from './episode-queries.ts';

/** The form of an episode as it was read. Unsaved text is that of the episode, whichever page it was typed on. */
export function useEpisodeForm({ data: episode, version }: Versioned<Answer<'/episodes/{id}'>>): Form<EpisodeValues> {
  const queries = useQueryClient();
  const { queryKey } = episodeQuery(episode.id);
  const { mutateAsync } = useSend('put', '/episodes/{id}');
  return useForm({
    draftId: episode.id,
    version: { etag: version, values: episodeValues(episode) },
    check: checkEpisode,
    save: async (values, changed, seen) => {
      const body = episodeChanges(values, changed);
      const saved = await mutateAsync({ path: { id: episode.id }, body, version: seen });
      const now = queries.getQueryData(queryKey);
      return { etag: now?.version, values: episodeValues(now?.data ?? saved) };
    },
    reload: () => void queries.invalidateQueries({ queryKey }),
  });
}
