import type { PlanLineItem } from '@longwave/events';
import type { DeliveryQuantiles } from '@longwave/forecasting';
import { missingOfDay } from '@longwave/pacing';
import type { AlertFinding } from '@longwave/rpc/serving';
import { datesOf } from './local-dates.ts';

const dayMs = 86_400_000;
/** Days that are looked at: further on releases are guesses. */
const aheadDays = 7;

/** The time, the zone and the rates that the days of a line item are judged by. */
interface About {
  readonly nowMs: number;
  readonly timeZone: string;
  readonly deliveryRate: number;
  /** Units that one simulated unit stands for. */
  readonly scale: number;
}

/**
 * Of the next seven whole days of a line item those that do not reach the least of a day even at the upper end of a forecast, told by the one that misses
 * most. Days count what is given. Undefined where there is none, and in the mode `asap`, which knows no days. Pure.
 */
export function findShortDays(
  { line_item_id: lineItemId, window, pacing }: PlanLineItem,
  { byDay, goalLeft = 0 }: DeliveryQuantiles,
  { nowMs, timeZone, deliveryRate, scale }: About,
): AlertFinding | undefined {
  const least = pacing?.daily_min;
  if (least === undefined || pacing!.mode === 'asap') return undefined;
  const [startMs, endMs] = [Date.parse(window.start), Date.parse(window.end)];
  const fromMs = Math.max(nowMs, startMs);
  // A goal that is too small for the least of every day is no matter of traffic.
  const perDay = Math.min(least, goalLeft / deliveryRate / Math.max(1, (endMs - fromMs) / dayMs));
  let left = goalLeft / deliveryRate;
  const short = byDay.flatMap((day, at) => {
    const [expected, most] = [day.p50 / deliveryRate, day.p90 / deliveryRate];
    const wanted = Math.min(perDay, left);
    left = Math.max(0, left - expected);
    const nextMs = byDay[at + 1]?.dayMs ?? Infinity;
    if (day.dayMs < fromMs || nextMs > endMs || nextMs > nowMs + (aheadDays + 1) * dayMs) return [];
    const units = missingOfDay({ wanted, expected, most, scale });
    return units === undefined ? [] : [{ units, expected, most, dayMs: day.dayMs }];
  });
  const [worst] = short.toSorted((a, b) => b.units - a.units || a.dayMs - b.dayMs);
  if (!worst) return undefined;
  const day = {
    ...{ day: datesOf(timeZone)(worst.dayMs), daily_min: least, days: short.length },
    ...{ p50: Math.round(worst.expected), p90: Math.round(worst.most), as_of: new Date(nowMs).toISOString() },
  };
  return { lineItemId, units: Math.round(worst.units), detailJson: JSON.stringify({ day }) };
}
