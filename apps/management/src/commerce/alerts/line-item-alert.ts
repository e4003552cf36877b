import { lineItemAlertSchema, type LineItemAlert } from '@longwave/command-catalog';
import type { Alert, AlertFigures } from '@longwave/rpc/serving';

const isoOf = (ms: bigint) => new Date(Number(ms)).toISOString();

const figuresOf = ({ goal, target, committed, confirmed, units, shortBy, budgetPercent }: AlertFigures) => ({
  ...{ goal: Number(goal), target, committed, confirmed, units },
  ...(shortBy !== '' && { short_by: shortBy }),
  ...(budgetPercent !== undefined && { budget_percent: budgetPercent }),
});

/** An alert of internal-serving as readers see it. */
export function lineItemAlert({ clearedAtMs, cleared, ...alert }: Alert): LineItemAlert {
  return lineItemAlertSchema.parse({
    ...{ alert_id: alert.alertId, line_item_id: alert.lineItemId, kind: alert.kind },
    state: cleared ? 'closed' : 'open',
    ...{ raised_at: isoOf(alert.raisedAtMs), raised: alert.raised && figuresOf(alert.raised) },
    ...(cleared && {
      ...{ cleared_at: clearedAtMs === undefined ? undefined : isoOf(clearedAtMs), cleared: figuresOf(cleared) },
      cleared_by: alert.clearedBy,
    }),
  });
}
