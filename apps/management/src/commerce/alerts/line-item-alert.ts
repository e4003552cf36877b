import { lineItemAlertSchema, type LineItemAlert } from '@longwave/command-catalog';
import type { Alert, AlertFigures } from '@longwave/rpc/serving';

const isoOf = (ms: bigint) => new Date(Number(ms)).toISOString();

const figuresOf = (
  { goal, target, committed, confirmed, units, shortBy, budgetPercent, detailJson }: AlertFigures,
  isOfLineItem: boolean,
) => ({
  ...(isOfLineItem && { goal: Number(goal), target, committed, confirmed }),
  units,
  ...(detailJson !== '' && (JSON.parse(detailJson) as object)),
  ...(shortBy !== '' && { short_by: shortBy }),
  ...(budgetPercent !== undefined && { budget_percent: budgetPercent }),
});

/** An alert of internal-serving as readers see it; what it says beside its figures is checked by their closed schema. */
export function lineItemAlert({ clearedAtMs, cleared, ...alert }: Alert): LineItemAlert {
  const isOfLineItem = alert.lineItemId !== '';
  return lineItemAlertSchema.parse({
    ...{ alert_id: alert.alertId, kind: alert.kind },
    ...(isOfLineItem ? { line_item_id: alert.lineItemId } : { podcast_id: alert.podcastId }),
    state: cleared ? 'closed' : 'open',
    ...{ raised_at: isoOf(alert.raisedAtMs), raised: alert.raised && figuresOf(alert.raised, isOfLineItem) },
    ...(cleared && {
      ...{
        cleared_at: clearedAtMs === undefined ? undefined : isoOf(clearedAtMs),
        cleared: figuresOf(cleared, isOfLineItem),
      },
      cleared_by: alert.clearedBy,
    }),
  });
}
