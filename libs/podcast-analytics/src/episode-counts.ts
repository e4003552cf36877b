import type { Resource } from '@longwave/command-catalog';
import { callOptions } from '@longwave/hosting-client';
import { z } from 'zod';
import { isEmpty, metaSchema, renderMeta, wireRange } from './analytics-meta.ts';
import { decideRange, type PodcastRangeQuery } from './analytics-range.ts';
import { wireBasis } from './counting-basis.ts';
import type { AnalyticsDeps, Question } from './question.ts';

/** An episode with its downloads. */
export const episodeCount = z.strictObject({
  episode_id: z.string(),
  title: z.string().nullable(),
  published_at: z.string().nullable(),
  downloads: z.int().min(0),
});

/** Downloads per episode. */
export const episodeCounts = z.strictObject({ meta: metaSchema, objects: z.array(episodeCount) });

/** An episode with its count, as every answer shows it; null for what is not known of it. */
export const renderEpisodeCount = (
  episodeId: string,
  episode: Resource<'episodes'> | undefined,
  downloads: number,
): z.output<typeof episodeCount> => ({
  episode_id: episodeId,
  title: episode?.attributes.title ?? null,
  published_at: episode?.attributes.published_at ?? null,
  downloads,
});

/** States of episodes that may have downloads. */
export const countedStates = ['draft', 'scheduled', 'published', 'unpublished', 'archived'];

/** The published episodes, and whatever else was downloaded, so that the sum is the podcast's; most downloaded first. */
export async function countPodcastEpisodes(
  { caller, object, access, query }: Question<'podcasts', PodcastRangeQuery>,
  { audience, management, clock }: AnalyticsDeps,
): Promise<z.output<typeof episodeCounts>> {
  const { workspaceId, plan } = access;
  const podcastId = object.id;
  const range = decideRange(query, plan.historyDays, clock());
  const [counts, episodes] = await Promise.all([
    audience.countByEpisode(
      { workspaceId, podcastId, range: wireRange(range), ...wireBasis(query) },
      callOptions(caller),
    ),
    management.list(caller, 'episodes', { links: { podcast: podcastId }, workspaceId, states: countedStates }),
  ]);
  const byId = new Map(episodes.map((episode) => [episode.id, episode]));
  const counted = new Map(isEmpty(range) ? [] : counts.episodes.map((one) => [one.episodeId, one.downloads]));
  const published = episodes.filter((episode) => episode.lifecycle_state === 'published');
  const newestFirst = (text: string | null) => -Date.parse(text ?? '1970-01-01');
  const objects = [...new Set([...counted.keys(), ...published.map((episode) => episode.id)])]
    .map((episodeId) => renderEpisodeCount(episodeId, byId.get(episodeId), Number(counted.get(episodeId) ?? 0n)))
    .sort((a, b) => b.downloads - a.downloads || newestFirst(a.published_at) - newestFirst(b.published_at));
  return { meta: renderMeta(range, counts, query), objects };
}
