import { expectedOpportunitiesOf, type TrafficModel } from '@longwave/forecasting';
import type { PlanLineItem } from '@longwave/events';
import type { PacingPlan } from '@longwave/rpc/serving';
import { modelOf, type ForecastInputs } from './forecast-inputs.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
/** Facts of fewer days say too little of a week. */
const learnedMs = 14 * dayMs;
/** How far a plan tells hours; behind them the pacer goes on at the mean. Every night the end moves on. */
const aheadMs = 35 * dayMs;
/** Line items that are counted in one pass over the sample: their hours are in memory together. */
const batchSize = 500;

/** Plans, and when their inputs were read. */
export interface MadePlans {
  readonly asOfMs: number;
  readonly plans: readonly PacingPlan[];
}

const isPaced = ({ goal: { unit } }: PlanLineItem) => unit === 'impressions' || unit === 'completes';

/** To four digits: a plan whose hours differ by less is the same. */
const rounded = (opportunities: number) => Number(opportunities.toPrecision(4));

const sumOf = (hours: Float64Array) => hours.reduce((sum, one) => sum + one, 0);

/** The same model with the podcasts alone that know enough of themselves. */
function learnedPart(model: TrafficModel): TrafficModel {
  const podcasts = [...model.podcasts].filter(([, { learning }]) => !learning);
  return { ...model, podcasts: new Map(podcasts) };
}

/**
 * The plans of all line items with a goal whose window is open or opens soon. A line item whose podcasts all have less than 14 days of
 * facts is learning: its plan has no hours, so that the week of the network stands in. Pure.
 */
export function makePacingPlans(inputs: ForecastInputs): MadePlans {
  const { past, booking, nowMs } = inputs;
  const fromMs = Math.floor(nowMs / hourMs) * hourMs;
  const window = { fromMs, toMs: fromMs + aheadMs };
  const lines = booking.plan.line_items.filter(
    (line) => isPaced(line) && Date.parse(line.window.end) > nowMs && Date.parse(line.window.start) < window.toMs,
  );
  const [first] = past.plays;
  const knows = first !== undefined && nowMs - first.atMs >= learnedMs;
  const model = modelOf(inputs);
  const learned = learnedPart(model);
  const hoursOf = (own: readonly PlanLineItem[], of: TrafficModel) =>
    expectedOpportunitiesOf(own, { model: of, plays: past.plays, window });

  function planOf(line: PlanLineItem, hours: Float64Array | undefined): PacingPlan {
    const startsAtMs = Math.max(fromMs, Math.floor(Date.parse(line.window.start) / hourMs) * hourMs);
    const base = { lineItemId: line.line_item_id, startsAtMs: BigInt(startsAtMs) };
    if (!hours) return { ...base, hours: [], learning: true };
    const end = Math.ceil((Math.min(window.toMs, Date.parse(line.window.end)) - fromMs) / hourMs);
    return { ...base, hours: Array.from(hours.slice((startsAtMs - fromMs) / hourMs, end), rounded), learning: false };
  }

  const plans: PacingPlan[] = [];
  for (let at = 0; at < lines.length; at += batchSize) {
    const batch = lines.slice(at, at + batchSize);
    const known = knows ? hoursOf(batch, learned) : [];
    // Podcasts that are new count where others are known.
    const whole = knows && learned.podcasts.size < model.podcasts.size ? hoursOf(batch, model) : known;
    batch.forEach((line, place) => {
      const isKnown = known[place] !== undefined && sumOf(known[place]) > 0;
      plans.push(planOf(line, isKnown ? whole[place] : undefined));
    });
  }
  return { asOfMs: nowMs, plans };
}
