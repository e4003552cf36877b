import { seedOf, type DecisionContext } from '@longwave/ad-decision';
import { createLocalTime } from './local-time.ts';
import type { SamplePlay } from './sample-play.ts';
import type { TimeRange } from './traffic-history.ts';

/** Factor by which the traffic of a podcast at a time differs from what `projectPlays` makes of the sample alone. */
export type TrafficFactors = (podcastId: string, atMs: number) => number;

/** A play of a simulation: a decision's context under an id of its own, and its listener. */
export interface SimulatedPlay extends DecisionContext {
  /** '' when there is none. */
  readonly listener: string;
}

/** Plays of equal weight in time order. */
export interface EqualPlays {
  readonly plays: readonly SimulatedPlay[];
  /** Plays of the real traffic for each. */
  readonly scale: number;
}

const dayMs = 86_400_000;
/** Projected plays of one window: about 30 MB. */
const maxProjected = 100_000;

/** Starts of the local days that a window touches. */
export function daysIn({ fromMs, toMs }: TimeRange, dayStartOf: (atMs: number) => number): readonly number[] {
  const days: number[] = [];
  for (let day = dayStartOf(fromMs); day < toMs; day = dayStartOf(day + 1.2 * dayMs)) days.push(day);
  return days;
}

/**
 * Plays of a coming window: for each of its days those of the same weekday of one or more sampled weeks, each week in its turn, with the
 * same age of the episode. They keep their weights, divided by the number of weeks; `resamplePlays` makes them equal. Where a long window
 * would make too many, each week has the plays of a part of the listeners, the next week those of another part.
 * @param plays of whole days, of one week at least
 */
export function projectPlays(
  plays: readonly SamplePlay[],
  window: TimeRange & { readonly timeZone: string },
  factors: TrafficFactors = () => 1,
): readonly SamplePlay[] {
  const { dayStartOf, weekHourOf } = createLocalTime(window.timeZone);
  const weekdayOf = (day: number) => Math.floor(weekHourOf(Math.ceil(day / 3_600_000)) / 24);
  const sampled = new Map<number, SamplePlay[]>();
  for (const play of plays) {
    const day = dayStartOf(play.atMs);
    const ofDay = sampled.get(day);
    if (ofDay) ofDay.push(play);
    else sampled.set(day, [play]);
  }
  const byWeekday = Array.from({ length: 7 }, (): number[] => []);
  const sampledDays = [...sampled.keys()].sort((a, b) => a - b);
  for (const day of sampledDays) byWeekday[weekdayOf(day)]!.push(day);
  const targets = daysIn(window, dayStartOf);
  const weeks = Math.ceil(targets.length / 7);
  const projected: SamplePlay[] = [];
  const sourcesOf = (target: number, week: number) => {
    const same = byWeekday[weekdayOf(target)]!;
    const sources = same.length > 0 ? same : sampledDays;
    const used = sources.length > 0 ? Math.max(1, Math.floor(sources.length / weeks)) : 0;
    return Array.from({ length: used }, (_, turn) => sources[(week * used + turn) % sources.length]!);
  };
  const sources = targets.map((target, at) => sourcesOf(target, Math.floor(at / 7)));
  const rows = sources.flat().reduce((sum, source) => sum + sampled.get(source)!.length, 0);
  const parts = Math.ceil(rows / maxProjected);
  const isTaken = (listener: string, week: number, nth: number) =>
    parts <= 1 || ((listener === '' ? nth : seedOf(listener)) + week) % parts === 0;
  targets.forEach((target, at) => {
    const used = sources[at]!.length;
    for (const [turn, source] of sources[at]!.entries()) {
      for (const [nth, play] of sampled.get(source)!.entries()) {
        const atMs = play.atMs - source + target;
        if (atMs < window.fromMs || atMs >= window.toMs) continue;
        if (!isTaken(play.listener, Math.floor(at / 7), nth)) continue;
        const weight = (Math.max(1, parts) * play.weight * factors(play.podcastId, atMs)) / used;
        if (weight <= 0) continue;
        // Two weeks that stand for one have different listeners in it.
        const listener = play.listener === '' || turn === 0 ? play.listener : `${play.listener}+${turn}`;
        projected.push({ ...play, atMs, publishedAtMs: play.publishedAtMs - source + target, listener, weight });
      }
    }
  });
  return projected;
}

const compareStrings = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

/** Even in [0, 1), by the name. */
const shareOf = (name: string) => seedOf(name) / 2 ** 32;

interface Drawn {
  readonly play: SamplePlay;
  /** Number of the copy of its listener. */
  readonly copy: number;
}

/** Systematic: a comb of equal distances over the weights of the plays, podcast by podcast and each in time order. */
function drawPlays(plays: readonly SamplePlay[], scale: number, start: number): readonly Drawn[] {
  const ordered = plays.toSorted(
    (a, b) => compareStrings(a.podcastId, b.podcastId) || a.atMs - b.atMs || compareStrings(a.listener, b.listener),
  );
  const drawn: Drawn[] = [];
  let sum = start;
  for (const play of ordered) {
    sum += play.weight / scale;
    for (let copy = 0; sum >= 1; copy++, sum--) drawn.push({ play, copy });
  }
  return drawn;
}

/**
 * Systematic over listeners, those with as many plays side by side: copies of a listener by the largest of its weights, and of each copy
 * every play in proportion to its own.
 */
function drawListeners(plays: readonly SamplePlay[], scale: number, start: number): readonly Drawn[] {
  const listeners = new Map<string, SamplePlay[]>();
  plays.forEach((play, at) => {
    const key = `${play.podcastId} ${play.listener || `#${at}`}`;
    const found = listeners.get(key);
    if (found) found.push(play);
    else listeners.set(key, [play]);
  });
  const ordered = [...listeners]
    .map(([key, own]) => ({ key, own, podcastId: own[0]!.podcastId, share: shareOf(key) }))
    .sort((a, b) => compareStrings(a.podcastId, b.podcastId) || a.own.length - b.own.length || a.share - b.share);
  const drawn: Drawn[] = [];
  let sum = start;
  for (const { key, own } of ordered) {
    const most = own.reduce((max, { weight }) => Math.max(max, weight), 0);
    sum += most / scale;
    for (let copy = 0; sum >= 1; copy++, sum--)
      own.forEach((play, at) => {
        if (play.weight >= most || shareOf(`${key} ${copy} ${at}`) < play.weight / most) drawn.push({ play, copy });
      });
  }
  return drawn;
}

/**
 * Plays of equal weight, drawn systematically from weighted ones (docs/adr/0084-simulated-samples-have-equal-weights.md), each under a
 * new decision id. Copies of a listener are different listeners.
 * @param options.byListener all plays of a listener or none, so that caps hold as they would; the number of plays then varies a little
 */
export function resamplePlays(
  plays: readonly SamplePlay[],
  { count, seed, byListener = false }: { readonly count: number; readonly seed: number; readonly byListener?: boolean },
): EqualPlays {
  const total = plays.reduce((sum, { weight }) => sum + weight, 0);
  const scale = total / count;
  if (!(scale > 0)) return { plays: [], scale: 1 };
  const drawn = (byListener ? drawListeners : drawPlays)(plays, scale, shareOf(`start ${seed}`));
  const simulated = drawn.map(({ play, copy }, at): SimulatedPlay => {
    const { weight: _weight, lineItemIds: _lineItemIds, noAdReason: _noAdReason, ...context } = play;
    return {
      ...context,
      decisionId: `simulated ${seed} ${at}`,
      loudnessLufs: undefined,
      listener: play.listener === '' || copy === 0 ? play.listener : `${play.listener}/${copy}`,
    };
  });
  simulated.sort((a, b) => a.atMs - b.atMs || compareStrings(a.decisionId, b.decisionId));
  return { plays: simulated, scale: total / Math.max(1, simulated.length) };
}
