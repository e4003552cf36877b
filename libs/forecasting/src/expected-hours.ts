import { decayAt, hourMs, tailAge } from './curve-sums.ts';
import { expectEpisodes } from './find-cadence.ts';
import { createLocalTime } from './local-time.ts';
import type { TimeRange } from './traffic-history.ts';
import type { ExpectedEpisode, PodcastCurves, TrafficModel } from './traffic-model.ts';

/** What of a podcast's traffic is asked for; absent: all. */
export interface TrafficPart {
  /** Of the age in hours, −1 for the tail. */
  readonly ages?: (ageHours: number) => boolean;
  /** Undefined for an episode that only the cadence expects, and for the tail. */
  readonly episodes?: (episodeId: string | undefined) => boolean;
}

const hoursOf = ({ fromMs, toMs }: TimeRange) => {
  const first = Math.floor(fromMs / hourMs);
  return { first, length: Math.max(0, Math.ceil(toMs / hourMs) - first) };
};

type Modifiers = TrafficModel['modifiers'];

/** Modifiers by podcast, null for those of all, found once for each model: a workspace may have tens of thousands. */
const byPodcast = new WeakMap<Modifiers, ReadonlyMap<string | null, Modifiers>>();

/** The modifiers that touch a podcast in a window. */
function modifiersOf({ modifiers }: TrafficModel, podcastId: string, { fromMs, toMs }: TimeRange): Modifiers {
  const index = byPodcast.get(modifiers) ?? Map.groupBy(modifiers, (one) => one.podcastId);
  byPodcast.set(modifiers, index);
  return [...(index.get(null) ?? []), ...(index.get(podcastId) ?? [])].filter(
    (one) => one.fromMs < toMs + hourMs && fromMs - hourMs < one.toMs,
  );
}

/** Factor of modifiers in an hour. */
function factorAt(modifiers: Modifiers, hour: number): number {
  let factor = 1;
  for (const one of modifiers) if (one.fromMs < (hour + 1) * hourMs && hour * hourMs < one.toMs) factor *= one.factor;
  return factor;
}

/** λ(t): expected opportunities of one podcast by hour of a window, from the hour of its beginning on. */
export function expectedHours(
  model: TrafficModel,
  curves: PodcastCurves,
  window: TimeRange,
  { ages = () => true, episodes: takes = () => true }: TrafficPart = {},
): Float64Array {
  const { first, length } = hoursOf(window);
  const { weekHourOf } = createLocalTimeOnce(model.timeZone);
  const known = curves.episodes.map(({ publishedAtMs }) => publishedAtMs);
  const expected = expectEpisodes(curves.cadence, {
    nowMs: model.nowMs,
    untilMs: window.toMs,
    known,
    level: curves.level,
  });
  const hours = new Float64Array(length);
  const tailCounts = ages(-1) && takes(undefined);
  if (tailCounts) hours.fill(curves.tail);
  const add = ({ episodeId, publishedAtMs, level, probability }: ExpectedEpisode) => {
    if (!takes(episodeId)) return;
    const published = Math.floor(publishedAtMs / hourMs);
    const end = Math.min(first + length, published + tailAge);
    for (let hour = Math.max(first, published); hour < end; hour++)
      if (ages(hour - published)) hours[hour - first]! += level * probability * decayAt(curves.decay, hour - published);
  };
  curves.episodes.forEach(add);
  expected.forEach(add);
  const modifiers = modifiersOf(model, curves.podcastId, window);
  for (let at = 0; at < length; at++) {
    hours[at]! *= curves.week[weekHourOf(first + at)]!;
    if (modifiers.length > 0) hours[at]! *= factorAt(modifiers, first + at);
  }
  return hours;
}

const localTimes = new Map<string, ReturnType<typeof createLocalTime>>();

/** One per zone: asking a zone is dear. */
function createLocalTimeOnce(timeZone: string) {
  const found = localTimes.get(timeZone) ?? createLocalTime(timeZone);
  localTimes.set(timeZone, found);
  return found;
}
