import type { productCatalog } from '@longwave/command-catalog';
import { findResource, type Rules } from '@longwave/command-pipeline';
import { idToUuid } from '@longwave/ids';
import { Problem } from '@longwave/problems';

type EpisodeRules = Pick<
  Rules<typeof productCatalog>,
  'episode.create' | 'episode.attach_production' | 'episode.publish'
>;

/** Rules of the episode commands. */
export const episodeRules: EpisodeRules = {
  'episode.create': ({ changes, subjectId }) => ({
    attributes: { type: 'full', guid: idToUuid(subjectId), ...changes },
  }),

  'episode.attach_production': async ({ tx, workspaceId, subjectId, current, changes }) => {
    const production = await findResource(tx, workspaceId, 'productions', changes.production_id);
    if (production?.lifecycle_state !== 'encoded' || production.attributes['episode_id'] !== subjectId)
      throw new Problem('episode_has_no_audio', 'Attach an encoded production of this episode.');
    return {
      attributes: {
        ...current,
        current_production_id: changes.production_id,
        duration_ms: production.attributes['audio_duration_ms'] as number,
      },
    };
  },

  'episode.publish': ({ current, now }) => {
    if (current.current_production_id === undefined)
      throw new Problem('episode_has_no_audio', `Attach audio to “${current.title}” before publishing it.`);
    return { attributes: { ...current, published_at: current.published_at ?? now.toISOString() } };
  },
};
