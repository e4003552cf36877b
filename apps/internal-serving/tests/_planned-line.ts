import { newId } from '@longwave/ids';
import type { PlannedLine } from '../src/plans/paced-lines.ts';

export const hourMs = 3_600_000;

/** A line item whose window is open: as soon as possible, of 1,000 units. */
export function plannedLine(nowMs: number, given: Partial<PlannedLine> = {}): PlannedLine {
  return {
    ...{
      workspaceId: newId('ws'),
      lineItemId: newId('li'),
      campaignId: newId('cmp'),
      goal: 1_000,
      basis: 'ad_delivered',
    },
    ...{
      windowStartMs: nowMs - hourMs,
      windowEndMs: nowMs + 240 * hourMs,
      mode: 'asap',
      velocity: 1,
      finishEarlyPct: 0,
    },
    ...{
      dailyMin: undefined,
      dailyMax: undefined,
      timeZone: 'UTC',
      unitPriceMicros: 0,
      campaignBudgetMicros: undefined,
    },
    ...given,
  };
}
