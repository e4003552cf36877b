import type { PlanLineItem } from '@longwave/events';
import { forecastDelivery, forecastTraffic } from '@longwave/forecasting';
import { missingAtEnd } from '@longwave/pacing';
import type { AlertFinding } from '@longwave/rpc/serving';
import { deliveryInputs, modelOf, type ForecastInputs } from './forecast-inputs.ts';
import { intervalIn } from './interval-in.ts';
import { findShortDays } from './short-days.ts';

const dayMs = 86_400_000;
/** Further on a forecast says too little of the end of a line item. */
const aheadMs = 90 * dayMs;

/** Line items that will end short, and those whose days will, and when the inputs were read. */
export interface FoundRisks {
  readonly asOfMs: number;
  readonly atRisk: readonly AlertFinding[];
  readonly shortDays: readonly AlertFinding[];
}

const largestFirst = (findings: readonly AlertFinding[]) => findings.toSorted((a, b) => b.units - a.units);

/**
 * Of these line items with a goal those that are at risk by a forecast of everything that is sold, and those that cannot have the least of a day, the ones that miss most first. Only
 * those that end within 90 days are judged. Pure.
 */
export function findRisks(inputs: ForecastInputs, lineItemIds: readonly string[]): FoundRisks {
  const { nowMs, booking, committed, past } = inputs;
  const asked = new Set(lineItemIds);
  const endOf = ({ window }: PlanLineItem) => Date.parse(window.end);
  const lines = booking.plan.line_items.filter(
    (line) => asked.has(line.line_item_id) && endOf(line) > nowMs && endOf(line) <= nowMs + aheadMs,
  );
  if (lines.length === 0) return { asOfMs: nowMs, atRisk: [], shortDays: [] };
  const range = { fromMs: nowMs, toMs: Math.max(...lines.map(endOf)) };
  const model = modelOf(inputs);
  const { opportunities } = forecastTraffic({ model, window: range, plays: past.plays });
  const { low, high } = intervalIn(inputs, range, opportunities);
  const ends =
    opportunities > 0 ? { low: low / opportunities, high: high / opportunities } : ({ low: 1, high: 1 } as const);
  const { lines: simulated, baseline } = forecastDelivery(deliveryInputs(inputs, model, range), ends);
  const delivered = new Map(simulated.map((line) => [line.lineItemId, line]));
  const had = new Map(committed.map(({ lineItemId, units }) => [lineItemId, units]));
  const asOf = new Date(nowMs).toISOString();
  const atRisk = lines.flatMap(({ line_item_id: lineItemId, goal }): AlertFinding[] => {
    const ahead = delivered.get(lineItemId);
    const before = had.get(lineItemId) ?? 0;
    const [p10, p50] = [before + (ahead?.p10 ?? 0), before + (ahead?.p50 ?? 0)].map(Math.round) as [number, number];
    const units = missingAtEnd({ goal: goal.quantity!, p10, p50, scale: baseline.scale });
    if (units === undefined) return [];
    const forecast = { p10, p50, ...(ahead?.shortBy && { main_verdict: ahead.shortBy }), as_of: asOf };
    return [{ lineItemId, units, detailJson: JSON.stringify({ forecast }) }];
  });
  const rates = new Map(committed.map(({ lineItemId, deliveryRate }) => [lineItemId, deliveryRate]));
  const shortDays = lines.flatMap((line) => {
    const ahead = delivered.get(line.line_item_id);
    const about = { nowMs, timeZone: booking.head.timeZone, scale: baseline.scale };
    const deliveryRate = rates.get(line.line_item_id) ?? 1;
    const found = ahead && findShortDays(line, ahead, { ...about, deliveryRate });
    return found ? [found] : [];
  });
  return { asOfMs: nowMs, atRisk: largestFirst(atRisk), shortDays: largestFirst(shortDays) };
}
