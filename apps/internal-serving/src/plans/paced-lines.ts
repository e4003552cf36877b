import type { PlanLineItem, ServingPlanDocument } from '@longwave/events';
import type { PacedLine } from '@longwave/pacing';

/** A line item with a goal of units, as a plan describes it to the pacer. */
export interface PlannedLine extends PacedLine {
  readonly workspaceId: string;
  readonly campaignId: string;
  /** Millionths of the currency for a thousand units; 0 when it is not sold by units. */
  readonly unitPriceMicros: number;
  /** Budget of the campaign; undefined when it has none. */
  readonly campaignBudgetMicros: number | undefined;
}

/** Of a line item in a plan of a release that said nothing about pacing. */
const asSoonAsPossible = {
  mode: 'asap',
  velocity: 1,
  finish_early_pct: 0,
  counting_basis: 'ad_delivered',
  time_zone: 'UTC',
} as const satisfies PlanLineItem['pacing'];

function pacedLine(workspaceId: string, line: PlanLineItem): PlannedLine {
  const pacing: NonNullable<PlanLineItem['pacing']> = line.pacing ?? asSoonAsPossible;
  return {
    workspaceId,
    lineItemId: line.line_item_id,
    campaignId: line.campaign_id,
    goal: line.goal.quantity!,
    basis: line.goal.unit === 'completes' ? 'completes' : pacing.counting_basis,
    windowStartMs: Date.parse(line.window.start),
    windowEndMs: Date.parse(line.window.end),
    mode: pacing.mode,
    velocity: pacing.velocity,
    finishEarlyPct: pacing.finish_early_pct,
    dailyMin: pacing.daily_min,
    dailyMax: pacing.daily_max,
    timeZone: pacing.time_zone,
    unitPriceMicros: pacing.unit_price_micros ?? 0,
    campaignBudgetMicros: pacing.campaign_budget_micros,
  };
}

/** The line items of a plan that have a goal of units. */
export const listPacedLines = (plan: ServingPlanDocument): readonly PlannedLine[] =>
  plan.line_items
    .filter(({ goal }) => goal.unit === 'impressions' || goal.unit === 'completes')
    .map((line) => pacedLine(plan.workspace_id, line));
