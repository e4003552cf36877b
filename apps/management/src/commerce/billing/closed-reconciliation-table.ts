import type { Transaction } from '@longwave/postgres';
import type { Columns } from '../../generated/rows.ts';
import type { Period } from './billing-statement.ts';

/** A closed reconciliation. */
export interface ClosedReconciliation {
  readonly id: string;
  readonly closedAt: Date;
}

/**
 * Closed reconciliations of the whole of a period that cover a campaign: by its name, or by every one of its line items. In the order of
 * their closing; provisional ones are left out.
 */
export async function findClosedReconciliations(
  tx: Transaction,
  workspaceId: string,
  campaign: { readonly id: string; readonly lineItemIds: readonly string[] },
  period: Period,
): Promise<readonly ClosedReconciliation[]> {
  const { rows } = await tx.query<Columns<'resource', 'id' | 'updated_at'>>({
    name: 'find_closed_reconciliations',
    text: `select id, updated_at from resource
           where workspace_id = $1 and resource_type = 'reconciliations' and lifecycle_state = 'closed'
             and coalesce(attributes ->> 'provisional', 'false') <> 'true'
             and instant_of(attributes #>> '{period,start}') <= $4 and instant_of(attributes #>> '{period,end}') >= $5
             and (attributes #> '{scope,campaign_ids}' ? $2 or attributes #> '{scope,line_item_ids}' ?& $3::text[])
           order by updated_at, id`,
    values: [workspaceId, campaign.id, campaign.lineItemIds, period.start, period.end],
  });
  return rows.map(({ id, updated_at: closedAt }) => ({ id, closedAt }));
}
