import { seedOf, type DecisionContext } from '@longwave/ad-decision';
import type { SamplePlay } from '../sample-play.ts';
import type { EpisodeHistory, HourCount, PodcastHistory, TimeRange } from '../traffic-history.ts';
import { createDraws } from './draws.ts';
import { createPodcasts, dayMs, hourMs, type WorldEpisode, type WorldOptions, type WorldPodcast } from './podcasts.ts';

export const streamFormat = 'mp3/128000/48000/2';

/** Plays of one episode by hour; [hour, plays]. */
interface PlayedEpisode extends Pick<WorldEpisode, 'episodeId' | 'publishedAtMs' | 'knownAtMs'> {
  readonly hours: readonly HourCount[];
}

/** A network of podcasts whose laws are known, made from a seed: for tests and benchmarks. */
export interface World {
  readonly podcasts: readonly WorldPodcast[];
  /** The whole of it; forecasts read what was known at their time. */
  readonly histories: readonly PodcastHistory[];
  /**
   * Plays of a window in time order. With `sampled`, plays of some of the listeners only: all of small podcasts, down to a sixteenth
   * of large ones, so that each has about so many a day.
   */
  readonly playsOf: (window: TimeRange, sampled?: { readonly perPodcastAndDay: number }) => readonly SamplePlay[];
}

function playEpisodes(podcast: WorldPodcast, { seed, fromMs, toMs }: WorldOptions): readonly PlayedEpisode[] {
  const draws = createDraws(seed ^ seedOf(podcast.podcastId));
  const [first, end] = [Math.ceil(fromMs / hourMs), Math.floor(toMs / hourMs)];
  const tail: HourCount[] = [];
  for (let hour = first; hour < end; hour++) {
    const plays = draws.poisson(podcast.tail * podcast.weekAt(hour));
    if (plays > 0) tail.push([hour, plays]);
  }
  const old = fromMs - 100 * dayMs;
  const archive = { episodeId: `${podcast.podcastId}_old`, publishedAtMs: old, knownAtMs: old, hours: tail };
  const released = podcast.episodes.map(({ level, ...episode }) => {
    const published = Math.floor(episode.publishedAtMs / hourMs);
    const hours: HourCount[] = [];
    for (let age = 0; age < 56 * 24 && published + age < end; age++) {
      const plays = draws.poisson(level * podcast.decayAt(age) * podcast.weekAt(published + age));
      if (plays > 0) hours.push([published + age, plays]);
    }
    return { ...episode, hours };
  });
  return [archive, ...released];
}

const devices = ['mobile', 'mobile', 'mobile', 'desktop', 'smart_speaker'] as const;
const apps = ['Apple Podcasts', 'Spotify', 'Overcast', 'AntennaPod', 'web'] as const;
const elsewhere = ['US', 'GB', 'DE', 'FR', 'CH', 'NL'] as const;

/** A listener is the same in every play: country, device and app follow from who it is. */
function listenerOf(podcast: WorldPodcast, number: number) {
  const listener = `${podcast.podcastId}-${number}`;
  const { unit, pick, often } = createDraws(seedOf(listener));
  return {
    ...{ listener, keep: unit(), app: pick(apps), operatingSystem: '', region: '' },
    country: often(podcast.homeShare) ? podcast.country : pick(elsewhere),
    device: pick(devices),
  };
}

function samplePlays(
  podcast: WorldPodcast,
  episodes: readonly PlayedEpisode[],
  seed: number,
  { fromMs, toMs }: TimeRange,
  sampled: { readonly perPodcastAndDay: number } | undefined,
): readonly SamplePlay[] {
  const [first, end] = [Math.floor(fromMs / hourMs), Math.ceil(toMs / hourMs)];
  const inWindow = episodes.map((episode) => ({
    episode,
    hours: episode.hours.filter(([hour]) => hour >= first && hour < end),
  }));
  const all = inWindow.reduce((sum, { hours }) => sum + hours.reduce((total, [, plays]) => total + plays, 0), 0);
  const wanted = sampled ? (sampled.perPodcastAndDay * (toMs - fromMs)) / dayMs : all;
  const share = Math.min(1, Math.max(1 / 16, wanted / Math.max(1, all)));
  const listeners = new Map<number, ReturnType<typeof listenerOf>>();
  const { podcastId, language, contentCategories, breaks } = podcast;
  const plays: SamplePlay[] = [];
  for (const { episode, hours } of inWindow)
    for (const [hour, count] of hours) {
      const { unit } = createDraws(seed ^ seedOf(`${episode.episodeId} ${hour}`));
      for (let play = 0; play < count; play++) {
        const number = (podcast.listeners * unit() ** 1.5) | 0;
        const atMs = hour * hourMs + ((unit() * 12) | 0) * 300_000;
        const known = listeners.get(number) ?? listenerOf(podcast, number);
        listeners.set(number, known);
        const { keep, ...listener } = known;
        if (keep >= share) continue;
        plays.push({
          ...{ podcastId, language, contentCategories, breaks, streamFormat, atMs, ...listener },
          ...{ episodeId: episode.episodeId, publishedAtMs: episode.publishedAtMs, surface: 'progressive' },
          ...{ explicit: false, adLoadLimitMs: undefined, weight: 1 / share, lineItemIds: [], noAdReason: '' },
        } satisfies SamplePlay & Partial<DecisionContext>);
      }
    }
  return plays;
}

/** Makes the world of a seed. */
export function generateWorld(options: WorldOptions): World {
  const podcasts = createPodcasts(options);
  const played = podcasts.map((podcast) => playEpisodes(podcast, options));
  const histories = podcasts.map(({ podcastId, language, contentCategories, slots }, at): PodcastHistory => {
    const episodes = played[at]!.map((episode): EpisodeHistory => ({
      ...episode,
      hours: episode.hours.map(([hour, plays]) => [hour, plays * slots] as const),
    }));
    return { podcastId, language, contentCategories, episodes };
  });
  return {
    podcasts,
    histories,
    playsOf: (window, sampled) =>
      podcasts
        .flatMap((podcast, at) => samplePlays(podcast, played[at]!, options.seed, window, sampled))
        .sort((a, b) => a.atMs - b.atMs),
  };
}
