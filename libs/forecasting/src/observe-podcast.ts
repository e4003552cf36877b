import { ageBinOf, dayHours, decayAt, hourMs, sumOf, tailAge, type CurveSums } from './curve-sums.ts';
import type { LocalTime } from './local-time.ts';
import type { EpisodeHistory, HourCount, PodcastHistory } from './traffic-history.ts';
import type { Decay, SizeClass } from './traffic-model.ts';

/** Weeks of the hour-of-week curve and of the tail. */
const recentHours = 28 * dayHours;
/** Episodes that say how traffic falls with age, beside all of the last 56 days. */
const minEpisodes = 24;

export interface ObservedEpisode {
  readonly episode: EpisodeHistory;
  /** Hour of UTC in which it came out. */
  readonly published: number;
  /** Of its first 56 days, as far as they are known. */
  readonly hours: readonly HourCount[];
  /** Hour of UTC from which on they are known: that of the podcast's first traffic, where the episode is older. */
  readonly from: number;
}

/** What was known of a podcast at a time. */
export interface ObservedPodcast {
  readonly history: PodcastHistory;
  readonly nowHour: number;
  /** The first hour with any traffic; `nowHour` without any. */
  readonly firstHour: number;
  readonly sizeClass: SizeClass;
  /** The last 24 that are out and all of the last 56 days, in the order of publication. */
  readonly episodes: readonly ObservedEpisode[];
  readonly scheduled: readonly EpisodeHistory[];
  /** Recent opportunities of episodes older than 56 days. */
  readonly tail: readonly HourCount[];
  readonly weekHourOf: LocalTime['weekHourOf'];
}

/** Whether an episode was heard here from its release on, and not before somewhere else. */
const isSeenWhole = ({ published }: { readonly published: number }, firstHour: number): boolean =>
  published >= firstHour - dayHours;

/** By opportunities a day: < 100, < 1k, < 10k, more. */
const sizeClassOf = (perDay: number): SizeClass => (perDay < 100 ? 0 : perDay < 1000 ? 1 : perDay < 10_000 ? 2 : 3);

export function observePodcast(history: PodcastHistory, nowMs: number, { weekHourOf }: LocalTime): ObservedPodcast {
  const nowHour = Math.floor(nowMs / hourMs);
  const known = history.episodes
    .filter(({ knownAtMs = -Infinity }) => knownAtMs <= nowMs)
    .toSorted((a, b) => a.publishedAtMs - b.publishedAtMs);
  const tail: HourCount[] = [];
  let [firstHour, recent] = [nowHour, 0];
  const episodes = known
    .filter(({ publishedAtMs }) => publishedAtMs <= nowMs)
    .map((episode) => {
      const published = Math.floor(episode.publishedAtMs / hourMs);
      const hours: HourCount[] = [];
      for (const count of episode.hours) {
        const [hour, opportunities] = count;
        if (hour >= nowHour) break;
        if (hour < firstHour) firstHour = hour;
        const isRecent = hour >= nowHour - recentHours;
        if (isRecent) recent += opportunities;
        if (hour < published + tailAge) hours.push(count);
        else if (isRecent) tail.push(count);
      }
      return { episode, published, hours };
    });
  const days = Math.max(1, Math.min(recentHours, nowHour - firstHour) / dayHours);
  return {
    ...{ history, nowHour, firstHour, tail, weekHourOf },
    sizeClass: sizeClassOf(recent / days),
    episodes: episodes
      .filter(
        ({ published }, at) =>
          published > firstHour - tailAge && (at >= episodes.length - minEpisodes || published > nowHour - tailAge),
      )
      .map((one) => ({ ...one, from: isSeenWhole(one, firstHour) ? one.published : firstHour })),
    scheduled: known.filter(({ publishedAtMs }) => publishedAtMs > nowMs),
  };
}

export interface ShapeCurves {
  readonly week: Float64Array;
  readonly decay: Decay;
}

/** Share of an episode's 56 days that was seen so far, in the shape of the curves. */
export function seenShare(
  { nowHour, weekHourOf }: ObservedPodcast,
  { published, from }: ObservedEpisode,
  curves: ShapeCurves,
) {
  let seen = 0;
  const end = Math.min(nowHour, published + tailAge);
  for (let hour = from; hour < end; hour++)
    seen += decayAt(curves.decay, hour - published) * curves.week[weekHourOf(hour)]!;
  return seen;
}

/** Opportunities in the 56 days of each episode, as what was seen of it says; 0 for one that was not seen. */
export function ownLevels(observed: ObservedPodcast, curves: ShapeCurves): readonly number[] {
  return observed.episodes.map((episode) => {
    const seen = seenShare(observed, episode, curves);
    return seen > 0 ? sumOf(episode.hours.map(([, opportunities]) => opportunities)) / seen : 0;
  });
}

/** Opportunities of the tail in an hour, before the factor of the week. */
export function tailOf({ nowHour, firstHour, tail, weekHourOf }: ObservedPodcast, week: Float64Array): number {
  let exposed = 0;
  for (let hour = Math.max(firstHour, nowHour - recentHours); hour < nowHour; hour++)
    exposed += week[weekHourOf(hour)]!;
  return exposed > 0 ? sumOf(tail.map(([, opportunities]) => opportunities)) / exposed : 0;
}

/** Adds what the episodes say about decay. */
export function addAges(
  sums: CurveSums,
  observed: ObservedPodcast,
  levels: readonly number[],
  week: Float64Array,
): void {
  const { nowHour, weekHourOf } = observed;
  observed.episodes.forEach(({ published, from, hours }, at) => {
    const end = Math.min(nowHour, published + tailAge);
    for (let hour = from; hour < end; hour++)
      sums.exposed[ageBinOf(hour - published)]! += levels[at]! * week[weekHourOf(hour)]!;
    for (const [hour, opportunities] of hours)
      if (hour >= published) sums.observed[ageBinOf(hour - published)]! += opportunities;
  });
}

/** Adds what recent traffic says about the hours of the week. */
export function addWeek(
  sums: CurveSums,
  observed: ObservedPodcast,
  levels: readonly number[],
  { tail, decay }: { readonly tail: number; readonly decay: Decay },
): void {
  const { nowHour, firstHour, weekHourOf } = observed;
  const from = Math.max(firstHour, nowHour - recentHours);
  for (let hour = from; hour < nowHour; hour++) sums.exposed[weekHourOf(hour)]! += tail;
  for (const [hour, opportunities] of observed.tail) sums.observed[weekHourOf(hour)]! += opportunities;
  observed.episodes.forEach(({ published, hours }, at) => {
    const end = Math.min(nowHour, published + tailAge);
    for (let hour = Math.max(from, published); hour < end; hour++)
      sums.exposed[weekHourOf(hour)]! += levels[at]! * decayAt(decay, hour - published);
    for (const [hour, opportunities] of hours) if (hour >= from) sums.observed[weekHourOf(hour)]! += opportunities;
  });
}
