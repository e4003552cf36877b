import type { Pool } from '@longwave/postgres';
import type { Columns } from '../../generated/rows.ts';
import { standingStates, type BillingStatement } from './billing-statement.ts';

/** What a statement has charged. */
export interface ChargedStatement extends Columns<'resource', 'id'> {
  readonly campaign_id: string;
  readonly currency: string;
  readonly lines: NonNullable<BillingStatement['lines']>;
}

/** Statements have up to 5,000 lines. */
const pageRows = 20;

/**
 * Statements of these campaigns whose amounts count and whose charged time ends in a window, in the order of their ids. A page of them is in
 * memory at a time, without what they were computed from.
 */
export async function* listCharged(
  pool: Pool,
  workspaceId: string,
  { campaignIds, ...window }: { readonly campaignIds: readonly string[]; readonly after: Date; readonly until: Date },
): AsyncGenerator<ChargedStatement> {
  for (let afterId = ''; ;) {
    const { rows } = await pool.query<ChargedStatement>({
      name: 'list_charged_statements',
      text: `select id, attributes #>> '{inputs,campaign_id}' as campaign_id, attributes #>> '{inputs,currency}' as currency,
               coalesce(attributes -> 'lines', '[]') as lines
             from resource where workspace_id = $1 and resource_type = 'billing_statements' and lifecycle_state = any($2)
               and attributes #>> '{inputs,campaign_id}' = any($3) and id > $6
               and instant_of(attributes #>> '{inputs,charged,end}') > $4 and instant_of(attributes #>> '{inputs,charged,end}') <= $5
             order by id limit ${pageRows}`,
      values: [workspaceId, standingStates, campaignIds, window.after, window.until, afterId],
    });
    yield* rows;
    if (rows.length < pageRows) return;
    afterId = rows.at(-1)!.id;
  }
}
