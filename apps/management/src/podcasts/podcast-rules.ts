import type { productCatalog } from '@longwave/command-catalog';
import type { Rules } from '@longwave/command-pipeline';
import { Problem } from '@longwave/problems';
import { createPodcast, missingForFeed } from './podcast.ts';

type PodcastRules = Pick<Rules<typeof productCatalog>, 'podcast.create' | 'podcast.revise' | 'podcast.publish'>;

/** Rules of the podcast commands. */
export const podcastRules = (mediaUrl: string): PodcastRules => ({
  'podcast.create': ({ changes, subjectId }) => ({ attributes: createPodcast(changes, subjectId, mediaUrl) }),
  'podcast.revise': ({ current, changes, state }) => {
    const attributes = { ...current, ...changes };
    const missing = missingForFeed(attributes);
    if (state === 'published' && missing.length > 0)
      throw new Problem('podcast_not_ready', `A published podcast needs ${missing.join(', ')}. Unpublish it first.`);
    return { attributes };
  },
  'podcast.publish': ({ current }) => {
    const missing = missingForFeed(current);
    if (missing.length > 0)
      throw new Problem('podcast_not_ready', `Give “${current.title}” ${missing.join(', ')} before publishing it.`);
    return { attributes: current };
  },
});
