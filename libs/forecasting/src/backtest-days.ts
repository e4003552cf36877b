import { buildIndex, preparePlay } from '@longwave/ad-decision';
import type { PlanLineItem } from '@longwave/events';
import { hourMs } from './curve-sums.ts';
import { planAlone } from './find-matched.ts';
import type { SamplePlay } from './sample-play.ts';
import type { PodcastHistory } from './traffic-history.ts';

const dayMs = 24 * hourMs;
/** Days before an origin that the baselines read. */
export const baselineDays = 28;

/** Opportunities by day, of 24 hours each, from 28 days before an origin on. */
export type DaySeries = Float64Array;

export const sumDays = (days: ArrayLike<number>, from = 0, to = days.length): number => {
  let sum = 0;
  for (let day = from; day < to; day++) sum += days[day]!;
  return sum;
};

/** The opportunities of a podcast. */
export function podcastDays({ episodes }: PodcastHistory, originMs: number, horizon: number): DaySeries {
  const days = new Float64Array(baselineDays + horizon);
  const first = Math.floor(originMs / hourMs) - baselineDays * 24;
  for (const { hours } of episodes)
    for (const [hour, opportunities] of hours) {
      const day = Math.floor((hour - first) / 24);
      if (day >= 0 && day < days.length) days[day]! += opportunities;
    }
  return days;
}

/** Share of the last 28 days' opportunities that episodes of less than a week of age had. */
export function freshShare({ episodes }: PodcastHistory, originMs: number): number {
  const end = Math.floor(originMs / hourMs);
  let [fresh, all] = [0, 0];
  for (const { publishedAtMs, hours } of episodes)
    for (const [hour, opportunities] of hours) {
      if (hour < end - baselineDays * 24 || hour >= end) continue;
      all += opportunities;
      if (hour * hourMs < publishedAtMs + 7 * dayMs) fresh += opportunities;
    }
  return all > 0 ? fresh / all : 0;
}

/** Weighted slots of sampled plays that each line item fits, by targeting and renditions. */
export function lineDays(
  lines: readonly PlanLineItem[],
  plays: readonly SamplePlay[],
  originMs: number,
  horizon: number,
): readonly DaySeries[] {
  const index = buildIndex(...planAlone(lines, {}));
  const first = originMs - baselineDays * dayMs;
  const series = new Map(lines.map((line) => [line.line_item_id, new Float64Array(baselineDays + horizon)]));
  const ofOrdinal = index.lines.map(({ lineItemId }) => series.get(lineItemId)!);
  for (const play of plays) {
    const day = Math.floor((play.atMs - first) / dayMs);
    if (day < 0 || day >= baselineDays + horizon) continue;
    preparePlay(index, { ...play, decisionId: '', loudnessLufs: undefined }).eligible.forEach(({ bits }, at) => {
      const slots = play.breaks[at]!.maxSlots * play.weight;
      for (let word = 0; word < bits.length; word++)
        for (let rest = bits[word]!; rest !== 0; rest &= rest - 1)
          ofOrdinal[word * 32 + 31 - Math.clz32(rest & -rest)]![day]! += slots;
    });
  }
  return lines.map((line) => series.get(line.line_item_id)!);
}

/** The mean of the last 28 days by weekday. */
export const weekdayMean = (days: DaySeries, horizon: number): Float64Array =>
  Float64Array.from({ length: horizon }, (_, day) => {
    const weekday = day % 7;
    return (days[weekday]! + days[weekday + 7]! + days[weekday + 14]! + days[weekday + 21]!) / 4;
  });

/** The last 7 days again. */
export const lastWeek = (days: DaySeries, horizon: number): Float64Array =>
  Float64Array.from({ length: horizon }, (_, day) => days[21 + (day % 7)]!);
