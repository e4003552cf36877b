import type { PlanLineItem } from '@longwave/events';
import { daysIn, projectPlays, type TrafficFactors } from './compose-plays.ts';
import { countSlices, type Slice } from './count-slices.ts';
import { hourMs } from './curve-sums.ts';
import { expectedHours, type TrafficPart } from './expected-hours.ts';
import type { MatchOptions } from './find-matched.ts';
import { createLocalTime } from './local-time.ts';
import type { SamplePlay } from './sample-play.ts';
import type { TimeRange } from './traffic-history.ts';
import type { PodcastCurves, TrafficModel } from './traffic-model.ts';

/** Expected opportunities (slots) of a window. */
export interface TrafficForecast {
  readonly opportunities: number;
  /** By the start of the day in the model's zone. */
  readonly byDay: readonly { readonly dayMs: number; readonly opportunities: number }[];
  /** The largest first. */
  readonly byPodcast: readonly { readonly podcastId: string; readonly opportunities: number }[];
  /** By the shares of the sampled plays of each podcast; empty without a sample. */
  readonly byPosition: readonly { readonly position: string; readonly opportunities: number }[];
  /** Podcasts that know too little of themselves. */
  readonly learningPodcasts: readonly string[];
  /** Modifiers that change a number of the answer. */
  readonly modifierIds: readonly string[];
}

/** What of a podcast's traffic a line item targets by podcast, episode, age and hour; undefined for a podcast that it does not. */
function partOf({ targeting }: PlanLineItem, podcastId: string): TrafficPart | undefined {
  const { podcasts, episodes, episode_age_hours: age } = targeting;
  const takes = ({ include, exclude }: typeof podcasts, id: string) =>
    (include.length === 0 || include.includes(id)) && !exclude.includes(id);
  if (!takes(podcasts, podcastId)) return undefined;
  const { min = 0, max = Infinity } = age;
  return {
    ...((min > 0 || max < Infinity) && {
      // The tail is older than 56 days.
      ages: (hours) => (hours < 0 ? max === Infinity : hours >= min && hours < max),
    }),
    ...(episodes.include.length + episodes.exclude.length > 0 && {
      episodes: (id) => (id === undefined ? episodes.include.length === 0 : takes(episodes, id)),
    }),
  };
}

/** Whether the line item may serve in an hour, by its dayparts. */
function hourTest({ targeting: { dayparts } }: PlanLineItem): (hour: number) => boolean {
  if (dayparts === null) return () => true;
  const { weekHourOf } = createLocalTime(dayparts.time_zone);
  const hours = new Set(dayparts.hours);
  return (hour) => hours.has(weekHourOf(hour));
}

/** Opportunities of one podcast by hour that fit a line item. */
function fittingHours(
  model: TrafficModel,
  curves: PodcastCurves,
  window: TimeRange,
  line: PlanLineItem,
  share: Slice['shareOf'],
  weekHourOf: (hour: number) => number,
): Float64Array | undefined {
  const part = partOf(line, curves.podcastId);
  if (!part) return undefined;
  const isServing = hourTest(line);
  const first = Math.floor(window.fromMs / hourMs);
  return expectedHours(model, curves, window, part).map((count, at) =>
    count > 0 && isServing(first + at) ? count * share(curves.podcastId, weekHourOf(first + at)) : 0,
  );
}

const sumOf = (values: Float64Array) => values.reduce((sum, one) => sum + one, 0);

/** Shares of positions in the slots of each podcast's sampled plays. */
function positionShares(plays: readonly SamplePlay[]): (podcastId: string) => ReadonlyMap<string, number> {
  const slots = new Map<string, Map<string, number>>();
  for (const { podcastId, breaks, weight } of plays) {
    const own = slots.get(podcastId) ?? new Map<string, number>();
    slots.set(podcastId, own);
    for (const { position, maxSlots } of breaks) own.set(position, (own.get(position) ?? 0) + maxSlots * weight);
  }
  return (podcastId) => {
    const own = slots.get(podcastId) ?? new Map<string, number>();
    const all = [...own.values()].reduce((sum, one) => sum + one, 0);
    return new Map([...own].map(([position, count]) => [position, count / all]));
  };
}

export interface TrafficQuestion extends MatchOptions {
  readonly model: TrafficModel;
  readonly window: TimeRange;
  /** The sample, for shares by position, and for what `line` fits. */
  readonly plays?: readonly SamplePlay[];
  /** Counts only what it fits: its targeting and renditions, not its window. */
  readonly line?: PlanLineItem;
}

/** Traffic of the podcasts of a model, or what of it one line item fits. */
export function forecastTraffic({ model, window, plays = [], line, ...options }: TrafficQuestion): TrafficForecast {
  const { weekHourOf, dayStartOf } = createLocalTime(model.timeZone);
  const [slice] = line && plays.length > 0 ? countSlices([line], plays, { ...options, timeZone: model.timeZone }) : [];
  const share = slice?.shareOf ?? (() => 1);
  const byDay = new Map(daysIn(window, dayStartOf).map((dayMs) => [dayMs, 0]));
  const byPosition = new Map<string, number>();
  const byPodcast: { readonly podcastId: string; readonly opportunities: number }[] = [];
  const positionsOf = positionShares(plays);
  const positions = line && new Set<string>(line.break_positions);
  const first = Math.floor(window.fromMs / hourMs);
  for (const curves of model.podcasts.values()) {
    const hours = line
      ? fittingHours(model, curves, window, line, share, weekHourOf)
      : expectedHours(model, curves, window);
    if (!hours) continue;
    const opportunities = sumOf(hours);
    byPodcast.push({ podcastId: curves.podcastId, opportunities });
    hours.forEach((count, at) => {
      const dayMs = dayStartOf(Math.max(window.fromMs, (first + at) * hourMs));
      byDay.set(dayMs, (byDay.get(dayMs) ?? 0) + count);
    });
    const shares = [...positionsOf(curves.podcastId)].filter(([position]) => !positions || positions.has(position));
    const all = shares.reduce((sum, [, one]) => sum + one, 0);
    for (const [position, one] of shares)
      byPosition.set(position, (byPosition.get(position) ?? 0) + (opportunities * one) / all);
  }
  const touches = (podcastId: string | null) =>
    podcastId === null || byPodcast.some((one) => one.podcastId === podcastId && one.opportunities > 0);
  return {
    opportunities: byPodcast.reduce((sum, one) => sum + one.opportunities, 0),
    byDay: [...byDay].map(([dayMs, opportunities]) => ({ dayMs, opportunities })).sort((a, b) => a.dayMs - b.dayMs),
    byPodcast: byPodcast.sort((a, b) => b.opportunities - a.opportunities),
    byPosition: [...byPosition].map(([position, opportunities]) => ({ position, opportunities })),
    learningPodcasts: byPodcast.map(({ podcastId }) => podcastId).filter((id) => model.podcasts.get(id)!.learning),
    modifierIds: model.modifiers
      .filter((one) => one.fromMs < window.toMs && one.toMs > window.fromMs && touches(one.podcastId))
      .map(({ modifierId }) => modifierId),
  };
}

export interface OpportunityInputs extends MatchOptions {
  readonly model: TrafficModel;
  readonly plays: readonly SamplePlay[];
  readonly window: TimeRange;
}

/** Opportunities of each line item by hour of a window, by shares of slots, or of breaks. */
export function fittingHoursOf(
  lines: readonly PlanLineItem[],
  { model, plays, window, ...options }: OpportunityInputs,
  by: keyof Slice,
): readonly Float64Array[] {
  const { weekHourOf } = createLocalTime(model.timeZone);
  const slices = countSlices(lines, plays, { ...options, timeZone: model.timeZone });
  const length = Math.max(0, Math.ceil(window.toMs / hourMs) - Math.floor(window.fromMs / hourMs));
  const first = Math.floor(window.fromMs / hourMs);
  const whole = new Map<string, Float64Array>();
  return lines.map((line, at) => {
    const shareOf = slices[at]![by];
    const isServing = hourTest(line);
    const fitting = new Float64Array(length);
    for (const curves of model.podcasts.values()) {
      const part = partOf(line, curves.podcastId);
      if (!part) continue;
      let hours = part.ages || part.episodes ? expectedHours(model, curves, window, part) : whole.get(curves.podcastId);
      if (!hours) whole.set(curves.podcastId, (hours = expectedHours(model, curves, window)));
      for (let hour = 0; hour < length; hour++)
        if (hours[hour]! > 0 && isServing(first + hour))
          fitting[hour]! += hours[hour]! * shareOf(curves.podcastId, weekHourOf(first + hour));
    }
    return fitting;
  });
}

/**
 * F(t): the breaks that each line item fits, by hour of a window, from which the pacer's plans are made; the most that it could have.
 * @returns per line item one number per hour from `Math.floor(fromMs / 3_600_000)` on
 */
export const expectedOpportunitiesOf = (
  lines: readonly PlanLineItem[],
  inputs: OpportunityInputs,
): readonly Float64Array[] => fittingHoursOf(lines, inputs, 'capacityShare');

/** F(t) of one line item. */
export const expectedOpportunities = (line: PlanLineItem, inputs: OpportunityInputs): Float64Array =>
  expectedOpportunitiesOf([line], inputs)[0]!;

/**
 * Forecast of each podcast and day ÷ what `projectPlays` makes of the sample there. What a podcast is expected to have on days of which
 * the sample has no play of it is spread over its other days; a podcast without any play has no factor.
 */
export function findTrafficFactors(
  model: TrafficModel,
  plays: readonly SamplePlay[],
  window: TimeRange,
): TrafficFactors {
  const { timeZone, podcasts } = model;
  const { dayStartOf } = createLocalTime(timeZone);
  const projected = new Map<string, Map<number, number>>();
  for (const { podcastId, atMs, weight, breaks } of projectPlays(plays, { ...window, timeZone })) {
    const days = projected.get(podcastId) ?? new Map<number, number>();
    projected.set(podcastId, days);
    const day = dayStartOf(atMs);
    const slots = breaks.reduce((sum, { maxSlots }) => sum + maxSlots, 0);
    days.set(day, (days.get(day) ?? 0) + slots * weight);
  }
  const first = Math.floor(window.fromMs / hourMs);
  const factors = new Map<string, Map<number, number>>();
  for (const [podcastId, curves] of podcasts) {
    const days = projected.get(podcastId);
    if (!days) continue;
    const expected = new Map<number, number>();
    expectedHours(model, curves, window).forEach((count, at) => {
      const day = dayStartOf((first + at) * hourMs);
      expected.set(day, (expected.get(day) ?? 0) + count);
    });
    const held = [...expected].reduce((sum, [day, count]) => sum + (days.has(day) ? count : 0), 0);
    const all = [...expected.values()].reduce((sum, count) => sum + count, 0);
    const spread = held > 0 ? all / held : 1;
    factors.set(
      podcastId,
      new Map([...days].map(([day, count]) => [day, ((expected.get(day) ?? 0) / count) * spread])),
    );
  }
  return (podcastId, atMs) => factors.get(podcastId)?.get(dayStartOf(atMs)) ?? 1;
}
