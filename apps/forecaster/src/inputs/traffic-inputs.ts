import type { PodcastHistory, TrafficInputs } from '@longwave/forecasting';
import type { BookingHead } from '@longwave/rpc/forecast';
import type { PlayHour } from '@longwave/rpc/serving';

interface Episode {
  readonly episodeId: string;
  /** As rows have it, of which there are millions. */
  publishedAtMs: bigint;
  readonly hours: [number, number][];
}

interface Podcast {
  readonly podcastId: string;
  language: string;
  contentCategories: readonly string[];
  readonly episodes: Map<string, Episode>;
}

const hourMs = 3_600_000;

/** What a forecast of traffic is made from: hours of the past, episodes that are scheduled, and modifiers. Pure. */
export function trafficInputs(
  hours: readonly PlayHour[],
  { timeZone, releases, modifiers }: BookingHead,
  nowMs: number,
): TrafficInputs {
  const podcasts = new Map<string, Podcast>();
  const podcastOf = (podcastId: string) =>
    podcasts.get(podcastId) ??
    podcasts.set(podcastId, { podcastId, language: '', contentCategories: [], episodes: new Map() }).get(podcastId)!;
  let podcast: Podcast | undefined;
  for (const row of hours) {
    // Rows of a podcast often stand side by side.
    if (podcast?.podcastId !== row.podcastId) podcast = podcastOf(row.podcastId);
    // Rows come in order, so the newest says it.
    podcast.language = row.language;
    podcast.contentCategories = row.contentCategories;
    const { episodes } = podcast;
    let episode = episodes.get(row.episodeId);
    if (!episode) {
      episode = { episodeId: row.episodeId, publishedAtMs: row.publishedAtMs, hours: [] };
      episodes.set(row.episodeId, episode);
    }
    episode.publishedAtMs = row.publishedAtMs;
    episode.hours.push([Math.floor(Number(row.hourMs) / hourMs), Number(row.opportunities)]);
  }
  for (const { podcastId, episodeId, publishAtMs } of releases) {
    const { episodes } = podcastOf(podcastId);
    if (!episodes.has(episodeId)) episodes.set(episodeId, { episodeId, publishedAtMs: publishAtMs, hours: [] });
  }
  return {
    nowMs,
    timeZone,
    podcasts: [...podcasts.values()].map(({ episodes, ...about }): PodcastHistory => ({
      ...about,
      episodes: [...episodes.values()].map((one) => ({ ...one, publishedAtMs: Number(one.publishedAtMs) })),
    })),
    modifiers: modifiers.flatMap(({ trafficModifierId, fromMs, toMs, factor, podcastIds }) =>
      (podcastIds.length > 0 ? podcastIds : [null]).map((podcastId) => ({
        ...{ modifierId: trafficModifierId, podcastId, factor },
        fromMs: Number(fromMs),
        toMs: Number(toMs),
      })),
    ),
  };
}
