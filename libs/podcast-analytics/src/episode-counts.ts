import type { Resource } from '@longwave/command-catalog';
import { callOptions } from '@longwave/hosting-client';
import { Problem } from '@longwave/problems';
import { z } from 'zod';
import { isEmpty, jointBasis, metaSchema, renderMeta, wireRange } from './analytics-meta.ts';
import {
  decideEpisodeRange,
  decideRange,
  oneRange,
  type AnalyticsRange,
  type PodcastEpisodesQuery,
} from './analytics-range.ts';
import { requirePublished } from './analytics-gate.ts';
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

/** Episodes that analytics-sink takes in one request. */
const maxEpisodes = 5000;

/** In order, as many together as one request takes; without any one empty batch, whose answer still says until when counting is complete. */
const batchesOf = <T>(asks: readonly T[]): T[][] =>
  Array.from({ length: Math.max(1, Math.ceil(asks.length / maxEpisodes)) }, (_, page) =>
    asks.slice(page * maxEpisodes, (page + 1) * maxEpisodes),
  );

/**
 * The published episodes, each in its own first days; most downloaded first. An episode whose days begin before the plan's history is left out, because
 * what is left of them compares with nothing.
 */
async function countFirstDays(
  { caller, object, access, query }: Question<'podcasts', PodcastEpisodesQuery>,
  { audience, management, clock }: AnalyticsDeps,
): Promise<z.output<typeof episodeCounts>> {
  const { days_since_published: days = 0, from, to, days_offset: offset, ...basis } = query;
  if ([from, to, offset].some((one) => one !== undefined)) throw new Problem('validation_failed', oneRange);
  const now = clock();
  const { workspaceId, plan } = access;
  const published = await management.list(caller, 'episodes', {
    ...{ links: { podcast: object.id }, workspaceId, states: ['published'] },
  });
  const asked = { days_since_published: days, ...basis };
  const ranges = published.map((episode) => ({
    episode,
    range: decideEpisodeRange(asked, requirePublished(episode), plan.historyDays, now),
  }));
  const counted = ranges.filter(({ range }) => !range.historyWindow && !isEmpty(range));
  const asks = counted.map(({ episode, range }) => ({ episodeId: episode.id, range: wireRange(range) }));
  const answers = [];
  for (const episodes of batchesOf(asks))
    answers.push(
      await audience.countEpisodeRanges(
        { workspaceId, podcastId: object.id, episodes, ...wireBasis(query) },
        callOptions(caller),
      ),
    );
  const [first, ...others] = answers;
  const counts = answers.flatMap(({ episodes }) => episodes);
  const newestFirst = (text: string | null) => -Date.parse(text ?? '1970-01-01');
  const objects = counted
    .map(({ episode }, place) => renderEpisodeCount(episode.id, episode, Number(counts[place]?.downloads ?? 0n)))
    .sort((a, b) => b.downloads - a.downloads || newestFirst(a.published_at) - newestFirst(b.published_at));
  return {
    meta: renderMeta(
      spanOf(
        ranges.map(({ range }) => range),
        now,
      ),
      jointBasis(first!, ...others),
      query,
    ),
    objects,
  };
}

/** What ranges span together, with the cut of the one that reaches back furthest; the hour of now without any. */
function spanOf(ranges: readonly AnalyticsRange[], now: Date): AnalyticsRange {
  const [earliest, ...rest] = ranges.toSorted((a, b) => a.from.getTime() - b.from.getTime());
  if (!earliest) return { from: now, to: now, granularity: 'day' };
  const cut = ranges.flatMap(({ historyWindow }) => historyWindow ?? []);
  const [furthest] = cut.toSorted((a, b) => Date.parse(a.requested_from) - Date.parse(b.requested_from));
  const to = new Date(Math.max(earliest.to.getTime(), ...rest.map((range) => range.to.getTime())));
  return { ...earliest, to, ...(furthest && { historyWindow: furthest }) };
}

/** The published episodes, and whatever else was downloaded, so that the sum is the podcast's; most downloaded first. */
export async function countPodcastEpisodes(
  question: Question<'podcasts', PodcastEpisodesQuery>,
  deps: AnalyticsDeps,
): Promise<z.output<typeof episodeCounts>> {
  const { caller, object, access, query } = question;
  if (query.days_since_published !== undefined) return countFirstDays(question, deps);
  const { audience, management, clock } = deps;
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
