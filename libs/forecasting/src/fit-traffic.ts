import {
  createAgeSums,
  createWeekSums,
  dayHours,
  decayOf,
  flatDecay,
  hourMs,
  weekHours,
  weekOf,
} from './curve-sums.ts';
import { findCadence, medianOf } from './find-cadence.ts';
import { createLocalTime, type LocalTime } from './local-time.ts';
import {
  addAges,
  addWeek,
  observePodcast,
  ownLevels,
  seenShare,
  tailOf,
  type ObservedPodcast,
  type ShapeCurves,
} from './observe-podcast.ts';
import type { PodcastHistory, TrafficInputs } from './traffic-history.ts';
import type { ExpectedEpisode, NetworkCurves, PodcastCurves, SizeClass, TrafficModel } from './traffic-model.ts';

const sizeClasses: readonly SizeClass[] = [0, 1, 2, 3];
/** Levels, decay and week depend on each other: each is found from the others, so many times. */
const rounds = 3;
/** Episodes that say what the next one gets: so many, and all of so many hours. */
const levelEpisodes = 8;
const levelHours = 56 * dayHours;
/** Episodes that other podcasts' first releases weigh as much as, at most. */
const maxPriorEpisodes = 3;
/** Spread of the logarithm of levels where little is known of it, and episodes that it weighs as much as. */
const usualSpread = { sd: 0.35, episodes: 4 };
const learningHours = 14 * dayHours;
const learningEpisodes = 3;

const positive = (values: readonly number[]) => values.filter((one) => one > 0);

/** Levels of the episodes that were heard from their release on; where there is none, of all. */
function tellingOf({ episodes }: ObservedPodcast, levels: readonly number[]) {
  const all = episodes.map(({ published, from }, at) => ({
    published,
    isWhole: from === published,
    level: levels[at]!,
  }));
  const whole = all.filter(({ isWhole, level }) => isWhole && level > 0);
  return whole.length > 0 ? whole : all;
}

function fitNetworkOf(podcasts: readonly ObservedPodcast[]): NetworkCurves {
  let week: Float64Array = new Float64Array(weekHours).fill(1);
  let decays = sizeClasses.map(() => flatDecay);
  for (let round = 0; round < rounds; round++) {
    const all = createAgeSums();
    const ages = sizeClasses.map(() => createAgeSums());
    const weeks = createWeekSums();
    for (const observed of podcasts) {
      const decay = decays[observed.sizeClass]!;
      const levels = ownLevels(observed, { week, decay });
      addAges(ages[observed.sizeClass]!, observed, levels, week);
      addAges(all, observed, levels, week);
      addWeek(weeks, observed, levels, { tail: tailOf(observed, week), decay });
    }
    week = weekOf(weeks, undefined);
    const common = decayOf(all, undefined);
    decays = ages.map((sums) => decayOf(sums, common));
  }
  const firstLevels = podcasts.flatMap((observed) => {
    const own = ownLevels(observed, { week, decay: decays[observed.sizeClass]! });
    const first = positive(tellingOf(observed, own).map(({ level }) => level)).slice(0, 3);
    const { podcastId, language, contentCategories } = observed.history;
    return first.length === 0 ? [] : [{ podcastId, language, contentCategories, level: medianOf(first) }];
  });
  return {
    week,
    decays,
    firstLevels,
    level: firstLevels.length === 0 ? 0 : medianOf(firstLevels.map(({ level }) => level)),
  };
}

/** What levels of other podcasts say about one: the median of its like, and how far these are from each other. */
interface SimilarLevel {
  readonly level: number;
  /** Variance of the logarithm; undefined for fewer than 3. */
  readonly variance: number | undefined;
}

/** The first levels of podcasts with the same category and language, of the same language, or of all. */
function similarLevel(
  { podcastId, language, contentCategories }: PodcastHistory,
  { firstLevels, level }: NetworkCurves,
): SimilarLevel {
  const others = firstLevels.filter((one) => one.podcastId !== podcastId);
  const sameLanguage = others.filter((one) => one.language === language);
  const similar = sameLanguage.filter((one) => one.contentCategories.some((name) => contentCategories.includes(name)));
  const chosen = [similar, sameLanguage, others].find((list) => list.length >= 3);
  if (!chosen) return { level, variance: undefined };
  const logs = chosen.map((one) => Math.log(one.level));
  const mean = logs.reduce((sum, one) => sum + one, 0) / logs.length;
  const squares = logs.reduce((sum, one) => sum + (one - mean) ** 2, 0);
  return { level: medianOf(chosen.map((one) => one.level)), variance: squares / (logs.length - 1) };
}

interface LevelLaw {
  /** Mean of the logarithm. */
  readonly mean: number;
  readonly sd: number;
}

/** The law of an episode's level: log-normal, from the last 8, or all of 8 weeks, that were seen for two days or more. */
function levelLaw(observed: ObservedPodcast, levels: readonly number[], network: NetworkCurves): LevelLaw {
  const { nowHour, history } = observed;
  const seen = tellingOf(observed, levels).filter(
    ({ published, level }) => level > 0 && published <= nowHour - 2 * dayHours,
  );
  const last = seen
    .filter(({ published }, at) => at >= seen.length - levelEpisodes || published > nowHour - levelHours)
    .map(({ level }) => Math.log(level));
  const usual = usualSpread.sd ** 2 * usualSpread.episodes;
  const own = last.reduce((sum, one) => sum + one, 0) / Math.max(1, last.length);
  const squares = last.reduce((sum, one) => sum + (one - own) ** 2, 0);
  const sd = Math.sqrt((squares + usual) / (Math.max(0, last.length - 1) + usualSpread.episodes));
  if (last.length >= levelEpisodes) return { mean: own, sd };
  const { level: similar, variance } = similarLevel(history, network);
  if (!(similar > 0)) return { mean: last.length > 0 ? own : -Infinity, sd };
  // Podcasts that differ more than the episodes of one say little about it: the mean that is the likeliest (James and Stein 1961).
  const prior = variance ? Math.min(maxPriorEpisodes, sd ** 2 / variance) : maxPriorEpisodes;
  const weight = last.length / (last.length + prior);
  return { mean: weight * own + (1 - weight) * Math.log(similar), sd };
}

/** Levels of episodes that are out: each by its own hours as far as they say more than the law. */
function outLevels(observed: ObservedPodcast, levels: readonly number[], curves: ShapeCurves, law: LevelLaw) {
  return observed.episodes.map((episode, at): ExpectedEpisode => {
    const { episodeId, publishedAtMs } = episode.episode;
    const counted = episode.hours.reduce((sum, [, opportunities]) => sum + opportunities, 0);
    const seen = seenShare(observed, episode, curves);
    const known = counted > 0 && law.mean > -Infinity;
    const own = 1 / (counted + 1) + (0.2 * Math.max(0, 1 - seen)) ** 2;
    const weight = law.sd ** 2 / (law.sd ** 2 + own);
    const log = known ? weight * Math.log(levels[at]!) + (1 - weight) * law.mean : law.mean;
    const variance = known ? weight * own : law.sd ** 2;
    const level = counted > 0 && !known ? levels[at]! : Math.exp(log + variance / 2);
    return { episodeId, publishedAtMs, level, probability: 1 };
  });
}

function fitObserved(
  observed: ObservedPodcast,
  network: NetworkCurves,
  nowMs: number,
  local: LocalTime,
): PodcastCurves {
  const { history, sizeClass, nowHour, firstHour, scheduled } = observed;
  const prior = network.decays[sizeClass]!;
  let curves: ShapeCurves = { week: network.week, decay: prior };
  for (let round = 0; round < rounds; round++) {
    const levels = ownLevels(observed, curves);
    const [ages, weeks] = [createAgeSums(), createWeekSums()];
    addAges(ages, observed, levels, curves.week);
    addWeek(weeks, observed, levels, { tail: tailOf(observed, curves.week), decay: curves.decay });
    curves = { week: weekOf(weeks, network.week), decay: decayOf(ages, prior) };
  }
  const levels = ownLevels(observed, curves);
  const law = levelLaw(observed, levels, network);
  // The mean of a log-normal law, because hours are added up.
  const level = Math.exp(law.mean + law.sd ** 2 / 2);
  const releases = history.episodes.filter(
    ({ publishedAtMs, knownAtMs = -Infinity }) => publishedAtMs <= nowMs && knownAtMs <= nowMs,
  );
  const seen = nowHour - firstHour;
  const tail = tailOf(observed, curves.week);
  return {
    ...{ podcastId: history.podcastId, sizeClass, ...curves, level, tail },
    isNew: seen < learningHours || !(level > 0 || tail > 0),
    cadence: findCadence(
      releases
        .map(({ publishedAtMs }) => publishedAtMs)
        .filter((at) => at >= firstHour * hourMs - dayHours * hourMs)
        .sort((a, b) => a - b),
      nowMs,
      local,
    ),
    episodes: [
      ...outLevels(observed, levels, curves, law),
      ...scheduled.map(({ episodeId, publishedAtMs }) => ({ episodeId, publishedAtMs, level, probability: 1 })),
    ],
    learning: seen < learningHours || (positive(levels).length < learningEpisodes && observed.tail.length === 0),
  };
}

/** The curves that podcasts have in common. */
export function fitNetwork({ podcasts, nowMs, timeZone }: TrafficInputs): NetworkCurves {
  const local = createLocalTime(timeZone);
  return fitNetworkOf(podcasts.map((history) => observePodcast(history, nowMs, local)));
}

/** The curves of one podcast, as of `nowMs`. */
export function fitPodcast(
  history: PodcastHistory,
  network: NetworkCurves,
  { nowMs, timeZone }: Pick<TrafficInputs, 'nowMs' | 'timeZone'>,
): PodcastCurves {
  const local = createLocalTime(timeZone);
  return fitObserved(observePodcast(history, nowMs, local), network, nowMs, local);
}

/** The curves of all podcasts, as of `nowMs`. */
export function fitTraffic({ podcasts, nowMs, timeZone, modifiers = [] }: TrafficInputs): TrafficModel {
  const local = createLocalTime(timeZone);
  const observed = podcasts.map((history) => observePodcast(history, nowMs, local));
  const network = fitNetworkOf(observed);
  const curves = observed.map((one) => fitObserved(one, network, nowMs, local));
  return { nowMs, timeZone, network, modifiers, podcasts: new Map(curves.map((one) => [one.podcastId, one])) };
}
