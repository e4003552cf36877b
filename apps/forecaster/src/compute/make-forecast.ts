import type { ChangesInput } from '@longwave/command-catalog';
import type { ForecastJobInput, PlanLineItem } from '@longwave/events';
import {
  forecastDelivery,
  forecastTraffic,
  simulateDelivery,
  type Interval,
  type TimeRange,
  type TrafficModel,
} from '@longwave/forecasting';
import { findAhead } from './find-ahead.ts';
import { aheadOf, deliveryInputs, modelOf, type ForecastInputs } from './forecast-inputs.ts';
import { intervalIn } from './interval-in.ts';
import { datesOf } from './local-dates.ts';
import { hidesTargeted } from './rare-values.ts';
import { isTooLittleKnown } from './too-little-known.ts';

export type ForecastResult = ChangesInput<'forecast.complete'>;
type Range = ForecastResult['by_day'][number];

const dayMs = 86_400_000;
const maxPodcasts = 50;
/** Line items whose days are told, too. */
const maxWithDays = 20;

const whole = (units: number) => Math.max(0, Math.round(units));

/** Parts of an estimate, each with the relative interval of the whole, and at most what is said. */
function spread(estimate: number, { low, high }: Interval): (units: number, most?: number) => Omit<Range, 'day'> {
  const [down, up] = estimate > 0 ? [low / estimate, high / estimate] : [0, 1];
  return (units, most = Infinity) => {
    const atMost = (share: number) => whole(Math.min(units * share, most));
    return { p10: atMost(down), p50: whole(units), p90: atMost(up) };
  };
}

/** @param isUnknown whether a zero is for want of facts: then nothing says how much there may be at most */
const confidenceOf = ({ level, low, high, method }: Interval, isUnknown: boolean) => ({
  ...{ level, low: whole(low), method },
  ...(!isUnknown && { high: whole(high) }),
});

/** The subject of a forecast. */
interface Question {
  readonly model: TrafficModel;
  readonly range: TimeRange;
  readonly line: PlanLineItem | undefined;
}

/**
 * Says of a result which inputs it has, and how sure its main number is.
 * @param found podcasts that fit, how much of them there is before anybody has it, and the interval of the main number
 */
function basisOf(
  inputs: ForecastInputs,
  { model, range, line }: Question,
  found: { readonly fitting: readonly string[]; readonly capacity: number; readonly interval: Interval },
) {
  const { past, booking, nowMs } = inputs;
  const { plays } = past;
  const [first] = plays;
  const weights = plays.reduce((sum, { weight }) => sum + weight, 0);
  const squares = plays.reduce((sum, { weight }) => sum + weight * weight, 0);
  const tooLittle = isTooLittleKnown(inputs, line, model, found.fitting);
  const learning = [...model.podcasts.values()].filter((podcast) => podcast.learning).map(({ podcastId }) => podcastId);
  return {
    as_of: new Date(nowMs).toISOString(),
    plan_digest: booking.head.planDigest,
    booking_version: Number(booking.head.bookingVersion),
    sample: {
      days: first ? Math.ceil((past.untilMs - first.atMs) / dayMs) : 0,
      rows: plays.length,
      effective: squares > 0 ? Math.round(weights ** 2 / squares) : 0,
    },
    confidence: confidenceOf(found.interval, tooLittle && whole(found.capacity) === 0),
    learning_podcasts: learning.slice(0, 200),
    assumptions: [
      'releases_by_cadence',
      'every_ad_in_every_format',
      ...(plays.length === 0 ? ['no_plays_yet'] : []),
      ...(tooLittle ? ['too_little_known'] : []),
      ...(line && hidesTargeted(line, plays) ? ['rare_values_hidden'] : []),
    ],
    modifiers: booking.head.modifiers
      .filter(({ fromMs, toMs }) => Number(fromMs) < range.toMs && Number(toMs) > range.fromMs)
      .slice(0, 200)
      .map(({ trafficModifierId, factor, fromMs, toMs }) => ({
        traffic_modifier_id: trafficModifierId,
        factor,
        window: { start: new Date(Number(fromMs)).toISOString(), end: new Date(Number(toMs)).toISOString() },
      })),
  };
}

const empty = { by_day: [], by_podcast: [], by_position: [], contending: [], line_items: [] };

function forecastOfTraffic(inputs: ForecastInputs, range: TimeRange, line: PlanLineItem | undefined): ForecastResult {
  const { booking, past } = inputs;
  const model = modelOf(inputs);
  const traffic = forecastTraffic({ model, window: range, plays: past.plays, ...(line && { line }) });
  const interval = intervalIn(inputs, range, traffic.opportunities);
  const rangeOf = spread(traffic.opportunities, interval);
  const dateOf = datesOf(booking.head.timeZone);
  const fitting = traffic.byPodcast.filter(({ opportunities }) => opportunities > 0).map(({ podcastId }) => podcastId);
  return {
    ...basisOf(inputs, { model, range, line }, { fitting, capacity: traffic.opportunities, interval }),
    ...empty,
    capacity: rangeOf(traffic.opportunities),
    by_day: traffic.byDay.map((day) => ({ day: dateOf(day.dayMs), ...rangeOf(day.opportunities) })),
    by_podcast: traffic.byPodcast
      .toSorted((a, b) => b.opportunities - a.opportunities)
      .slice(0, maxPodcasts)
      .map(({ podcastId, opportunities }) => ({ podcast_id: podcastId, ...rangeOf(opportunities) })),
    by_position: traffic.byPosition.map(({ position, opportunities }) => ({
      position: position as 'pre' | 'mid' | 'post',
      ...rangeOf(opportunities),
    })),
  };
}

function forecastOfAvailability(inputs: ForecastInputs, range: TimeRange, line: PlanLineItem): ForecastResult {
  const { booking } = inputs;
  const model = modelOf(inputs);
  const { baseline } = simulateDelivery(deliveryInputs(inputs, model, range));
  const { found, had } = findAhead(inputs, line, baseline);
  // More traffic leaves a day no more than its daily maximum.
  const ofTraffic = intervalIn(inputs, range, found.available, found.samplingError);
  const interval = { ...ofTraffic, high: Math.min(ofTraffic.high, found.mostOfDays) };
  const capacities = spread(found.capacity, intervalIn(inputs, range, found.capacity, found.matched.samplingError));
  const rangeOf = spread(found.available, interval);
  const total = (ahead: Omit<Range, 'day'>) => ({ p10: ahead.p10 + had, p50: ahead.p50 + had, p90: ahead.p90 + had });
  const dateOf = datesOf(booking.head.timeZone);
  const ends = { ...interval, low: interval.low + had, high: interval.high + had };
  const fitting = [...found.matched.byPodcast.keys()];
  return {
    ...basisOf(inputs, { model, range, line }, { fitting, capacity: found.capacity + had, interval: ends }),
    ...empty,
    capacity: total(capacities(found.capacity)),
    available: total(rangeOf(found.available)),
    possible: total(rangeOf(found.possible, found.mostOfDays)),
    by_day: found.byDay.map(({ dayMs: startMs, available }) => {
      return { day: dateOf(startMs), ...rangeOf(available, found.mostOfDay) };
    }),
    by_podcast: found.byPodcast
      .slice(0, maxPodcasts)
      .map(({ podcastId, available }) => ({ podcast_id: podcastId, ...rangeOf(available) })),
    contending: found.contending.map(({ lineItemId, loses, ofGoal, tier }) => ({
      ...{ line_item_id: lineItemId, loses: whole(loses), tier },
      ...(ofGoal !== undefined && { of_goal: whole(ofGoal) }),
    })),
  };
}

function forecastOfDelivery(
  inputs: ForecastInputs,
  range: TimeRange,
  ids: readonly string[] | undefined,
): ForecastResult {
  const { booking } = inputs;
  const model = modelOf(inputs);
  const traffic = forecastTraffic({ model, window: range, plays: inputs.past.plays });
  const interval = intervalIn(inputs, range, traffic.opportunities);
  const { opportunities } = traffic;
  const ends =
    opportunities > 0
      ? { low: interval.low / opportunities, high: interval.high / opportunities }
      : { low: 1, high: 1 };
  const { lines } = forecastDelivery(deliveryInputs(inputs, model, range), ends);
  const asked = ids && new Set(ids);
  const told = lines.filter(({ lineItemId }) => asked?.has(lineItemId) ?? true).slice(0, 1000);
  const dateOf = datesOf(booking.head.timeZone);
  return {
    ...basisOf(inputs, { model, range, line: undefined }, { fitting: [], capacity: opportunities, interval }),
    ...empty,
    line_items: told.map((line) => ({
      line_item_id: line.lineItemId,
      ...(line.goalLeft !== undefined && { goal: whole(line.goalLeft) }),
      ...{ p10: whole(line.p10), p50: whole(line.p50), p90: whole(line.p90) },
      ...(line.shortBy !== undefined && { verdict: line.shortBy }),
      ...(told.length <= maxWithDays && {
        by_day: line.byDay.map((day) => ({ day: dateOf(day.dayMs), quantity: whole(day.p50) })),
      }),
    })),
  };
}

/** Makes one forecast. Pure. */
export function makeForecast(
  inputs: ForecastInputs,
  { kind, window, line_item: line, line_item_ids: ids }: ForecastJobInput,
): ForecastResult {
  const range = aheadOf(window, inputs.nowMs);
  if (kind === 'traffic') return forecastOfTraffic(inputs, range, line);
  if (kind === 'availability') return forecastOfAvailability(inputs, range, line!);
  return forecastOfDelivery(inputs, range, ids);
}
