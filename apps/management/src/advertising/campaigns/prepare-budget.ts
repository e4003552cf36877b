import { findResource, holdResource, listLinked } from '@longwave/command-pipeline';
import type { Pool, Transaction } from '@longwave/postgres';
import { timeZoneOf } from '../../workspace/time-zone-of.ts';
import type { LineItem } from '../line-items/line-item.ts';
import { findBudgetIssue, hasFixedPrice, isPaidFrom } from './campaign-budget.ts';
import type { SumUnitCosts } from './sum-unit-costs.ts';

/**
 * Why the budget of a line item's campaign could not be kept if it were sold so, in words for the seller; undefined where it can. Holds the
 * campaign for the transaction.
 */
type FindIssue = (tx: Transaction, attributes: LineItem) => Promise<string | undefined>;

/**
 * Asks outside of the transaction what the units of the campaign's line items cost by now, where a fixed price is to be put aside beside them.
 * @param lineItem as it would be after the command; undefined: the budget is not looked at
 */
export async function prepareBudget(
  { pool, sumUnitCosts }: { readonly pool: Pool; readonly sumUnitCosts: SumUnitCosts },
  { workspaceId, id, lineItem }: { readonly workspaceId: string; readonly id: string; readonly lineItem?: LineItem },
): Promise<FindIssue> {
  const unitMicros = lineItem && hasFixedPrice(lineItem) ? await unitMicrosOf(lineItem.campaign_id) : undefined;

  async function unitMicrosOf(campaignId: string): Promise<bigint | undefined> {
    const budget = (await findResource(pool, workspaceId, 'campaigns', campaignId))?.attributes.budget;
    if (!budget) return undefined;
    const all = await listLinked(pool, workspaceId, 'line_items', 'campaign', campaignId);
    const paid = all.filter(({ attributes }) => isPaidFrom(attributes, budget));
    return sumUnitCosts(
      workspaceId,
      paid.map((row) => row.id),
    );
  }

  return async (tx, attributes) => {
    const campaignId = attributes.campaign_id;
    await holdResource(tx, workspaceId, 'campaigns', campaignId);
    const { attributes: campaign } = (await findResource(tx, workspaceId, 'campaigns', campaignId))!;
    if (!campaign.budget) return undefined;
    const timeZone = await timeZoneOf(tx, workspaceId);
    return findBudgetIssue(tx, { workspaceId, campaignId, campaign, timeZone }, { id, attributes, unitMicros });
  };
}
