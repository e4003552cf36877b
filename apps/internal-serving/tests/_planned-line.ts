import { newId } from '@longwave/ids';
import type { Cohort } from '@longwave/rpc/audience';
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

/** Streams that were decided in a quarter of an hour, and how many of them were heard. */
export const cohortOf = (lineItemId: string, quarterMs: number, decided: number, delivered: number): Cohort => ({
  ...{ lineItemId, surfaceClass: 'stream', quarterMs: BigInt(Math.floor(quarterMs / 900_000) * 900_000) },
  ...{ decided: BigInt(decided), served: BigInt(delivered), delivered: BigInt(delivered), held: 0n },
  ...{ clientStarted: 0n, clientCompleted: 0n },
});
