import type { AdBreak } from '@longwave/ad-decision';
import { createDraws, type Draws } from './draws.ts';

export const hourMs = 3_600_000;
export const dayMs = 86_400_000;
const weekMs = 7 * dayMs;
/** A Monday. */
const firstMondayMs = Date.UTC(2024, 0, 1);

export interface WorldEpisode {
  readonly episodeId: string;
  readonly publishedAtMs: number;
  readonly knownAtMs: number;
  /** Plays of its 56 days. */
  readonly level: number;
}

/** How a podcast of the generated world behaves; a forecast does not see it. */
export interface WorldPodcast {
  readonly podcastId: string;
  readonly language: string;
  readonly contentCategories: readonly string[];
  readonly country: string;
  readonly homeShare: number;
  readonly listeners: number;
  readonly release: keyof typeof releases;
  readonly breaks: readonly AdBreak[];
  readonly slots: number;
  /** Mean plays of an episode. */
  readonly level0: number;
  /** Plays an hour of old episodes. */
  readonly tail: number;
  /** Share of an episode's plays in the hour of its age. */
  readonly decayAt: (ageHours: number) => number;
  readonly weekAt: (hour: number) => number;
  readonly episodes: readonly WorldEpisode[];
}

/** Hours of the week at which each kind of podcast releases, and every how many weeks. */
const releases = {
  weekly: { days: 1, everyWeeks: 1 },
  twice: { days: 2, everyWeeks: 1 },
  workdays: { days: 5, everyWeeks: 1 },
  fortnightly: { days: 1, everyWeeks: 2 },
  finished: { days: 0, everyWeeks: 1 },
} as const;

const kinds = [
  ...Array<keyof typeof releases>(7).fill('weekly'),
  ...Array<keyof typeof releases>(4).fill('twice'),
  ...Array<keyof typeof releases>(5).fill('workdays'),
  ...Array<keyof typeof releases>(3).fill('fortnightly'),
  'finished' as const,
];

function breaksOf(podcastId: string, { often }: Draws): readonly AdBreak[] {
  const at = (position: AdBreak['position'], maxSlots: number, positionMs: number): AdBreak => ({
    ...{ key: `${podcastId} ${position} ${positionMs}`, position, maxSlots, positionMs },
    ...{ maxDurationMs: maxSlots * 30_000, slotRules: [] },
  });
  return [at('pre', 1, 0), at('mid', 2, 900_000), ...(often(0.4) ? [at('mid', 2, 1_800_000)] : [])];
}

function decayOf({ unit }: Draws): WorldPodcast['decayAt'] {
  const [first, second] = [0.45 + 0.2 * unit(), 0.25 + 0.1 * unit()];
  const [hours, days] = [12 + 14 * unit(), 96 + 60 * unit()];
  const parts = [
    { share: first, hours },
    { share: second, hours: days },
    { share: 1 - first - second, hours: 500 },
  ];
  const until = (age: number) => parts.reduce((sum, one) => sum + one.share * (1 - Math.exp(-age / one.hours)), 0);
  const all = until(56 * 24);
  const shares = Float64Array.from({ length: 56 * 24 }, (_, age) => (until(age + 1) - until(age)) / all);
  return (age) => shares[age] ?? 0;
}

function weekOf({ normal }: Draws): WorldPodcast['weekAt'] {
  const shift = 0.8 * normal();
  const days = Array.from({ length: 7 }, (_, day) => (day > 4 ? 0.8 : 1.05) * Math.exp(0.08 * normal()));
  const factors = Float64Array.from({ length: 168 }, (_, at) => {
    const hour = (at % 24) - shift;
    const peaks = Math.exp(-(((hour - 8) / 2.5) ** 2)) + 0.9 * Math.exp(-(((hour - 18) / 3.5) ** 2));
    return (0.35 + peaks) * days[Math.floor(at / 24)]!;
  });
  const mean = factors.reduce((sum, one) => sum + one, 0) / 168;
  // 1970-01-01 was a Thursday.
  return (hour) => factors[(hour + 72) % 168]! / mean;
}

/** Releases in their slots; one in 24 is left out, one in twelve comes a day late. Half of them are scheduled three days ahead. */
function episodesOf(
  podcastId: string,
  release: keyof typeof releases,
  level: number,
  { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
  { below, often, normal, unit }: Draws,
): WorldEpisode[] {
  const { days, everyWeeks } = releases[release];
  const hour = 3 + below(5);
  const first = days === 5 ? 0 : below(7);
  const weekdays = Array.from({ length: days }, (_, at) => (first + at * (days === 2 ? 3 : 1)) % 7);
  const scheduled = often(0.5);
  const episodes: WorldEpisode[] = [];
  const offset = below(everyWeeks);
  for (let week = Math.floor((fromMs - firstMondayMs) / weekMs); firstMondayMs + week * weekMs < toMs; week++) {
    if ((week + offset) % everyWeeks !== 0) continue;
    for (const weekday of weekdays.toSorted((a, b) => a - b)) {
      const luck = unit();
      const size = level * Math.exp(0.35 * normal());
      const publishedAtMs = firstMondayMs + week * weekMs + (weekday + (luck < 1 / 12 ? 1 : 0)) * dayMs + hour * hourMs;
      if (luck > 23 / 24 || publishedAtMs < fromMs || publishedAtMs >= toMs) continue;
      const knownAtMs = scheduled ? publishedAtMs - 3 * dayMs : publishedAtMs;
      episodes.push({ episodeId: `${podcastId}_e${episodes.length}`, publishedAtMs, knownAtMs, level: size });
    }
  }
  return episodes;
}

export interface WorldOptions {
  readonly seed: number;
  readonly podcasts: number;
  /** From when on episodes exist; traffic is steady 56 days later. Whole days of UTC. */
  readonly fromMs: number;
  readonly toMs: number;
  /** Of all podcasts together, about. */
  readonly playsPerDay: number;
}

const countries = ['DE', 'US', 'GB', 'FR', 'AT'] as const;
const languages = { DE: 'de', US: 'en', GB: 'en', FR: 'fr', AT: 'de' } as const;
export const categories = ['news', 'true_crime', 'comedy', 'sports', 'business'] as const;

/** Podcasts of sizes with a log-normal spread, with releases, levels of episodes with a log-normal spread of 0.35, and a tail. */
export function createPodcasts(options: WorldOptions): readonly WorldPodcast[] {
  const sizes = createDraws(options.seed);
  const weights = Array.from({ length: options.podcasts }, () => Math.exp(0.9 * sizes.normal()));
  const sum = weights.reduce((total, one) => total + one, 0);
  return weights.map((weight, at) => {
    const draws = createDraws(options.seed * 7919 + at);
    const podcastId = `pod_${String(at).padStart(3, '0')}`;
    const release = draws.pick(kinds);
    const playsPerDay = (options.playsPerDay * weight) / sum;
    const { days, everyWeeks } = releases[release];
    const tailShare = days === 0 ? 1 : 0.3 + 0.3 * draws.unit();
    const level = days === 0 ? 0 : (playsPerDay * (1 - tailShare) * 7 * everyWeeks) / days;
    const country = draws.pick(countries);
    const breaks = breaksOf(podcastId, draws);
    return {
      ...{ podcastId, release, country, breaks },
      language: languages[country],
      contentCategories: [draws.pick(categories)],
      homeShare: 0.6 + 0.3 * draws.unit(),
      listeners: Math.max(50, Math.round(playsPerDay * (2 + 3 * draws.unit()))),
      slots: breaks.reduce((total, { maxSlots }) => total + maxSlots, 0),
      level0: level * Math.exp(0.35 ** 2 / 2),
      tail: (playsPerDay * tailShare) / 24,
      decayAt: decayOf(draws),
      weekAt: weekOf(draws),
      episodes: episodesOf(podcastId, release, level, options, draws),
    };
  });
}
