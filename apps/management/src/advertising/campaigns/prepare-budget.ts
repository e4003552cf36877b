import { findResource, listLinked, lockResource } from '@longwave/command-pipeline';
import type { Pool, Transaction } from '@longwave/postgres';
import { timeZoneOf } from '../../workspace/time-zone-of.ts';
import { unsoldStates, type LineItem } from '../line-items/line-item.ts';
import type { Campaign } from './campaign.ts';
import { findBudgetIssue, hasFixedPrice, isPaidFrom } from './campaign-budget.ts';
import type { SumUnitCosts } from './sum-unit-costs.ts';

interface BudgetDeps {
  readonly pool: Pool;
  readonly sumUnitCosts: SumUnitCosts;
}

/** Asks what the units of the line items that a budget of a campaign pays for cost by now, in millionths. Drafts have had none. */
export async function sumCampaignUnits(
  { pool, sumUnitCosts }: BudgetDeps,
  { workspaceId, campaignId }: { readonly workspaceId: string; readonly campaignId: string },
  budget: NonNullable<Campaign['budget']>,
): Promise<bigint> {
  const all = await listLinked(pool, workspaceId, 'line_items', 'campaign', campaignId);
  const paid = all.filter(
    ({ attributes, lifecycle_state: state }) => !unsoldStates.includes(state) && isPaidFrom(attributes, budget),
  );
  return paid.length === 0
    ? 0n
    : sumUnitCosts(
        workspaceId,
        paid.map(({ id }) => id),
      );
}

/**
 * Why the budget of a line item's campaign could not be kept if it were sold so, in words for the seller; undefined where it can. Locks the
 * campaign for the transaction: others who sell in it wait, so that each counts what the one before has sold.
 */
type FindIssue = (tx: Transaction, attributes: LineItem) => Promise<string | undefined>;

/**
 * Asks outside of the transaction what the units of the campaign's line items cost by now, where a fixed price is to be put aside beside them.
 * @param lineItem as it would be after the command; undefined: the budget is not looked at
 */
export async function prepareBudget(
  deps: BudgetDeps,
  { workspaceId, id, lineItem }: { readonly workspaceId: string; readonly id: string; readonly lineItem?: LineItem },
): Promise<FindIssue> {
  const unitMicros = lineItem && hasFixedPrice(lineItem) ? await unitMicrosOf(lineItem.campaign_id) : undefined;

  async function unitMicrosOf(campaignId: string): Promise<bigint | undefined> {
    const budget = (await findResource(deps.pool, workspaceId, 'campaigns', campaignId))?.attributes.budget;
    return budget && sumCampaignUnits(deps, { workspaceId, campaignId }, budget);
  }

  return async (tx, attributes) => {
    const campaignId = attributes.campaign_id;
    await lockResource(tx, workspaceId, 'campaigns', campaignId);
    const { attributes: campaign } = (await findResource(tx, workspaceId, 'campaigns', campaignId))!;
    if (!campaign.budget) return undefined;
    const timeZone = await timeZoneOf(tx, workspaceId);
    const selling = { id, attributes };
    return findBudgetIssue(tx, { workspaceId, campaignId, campaign, timeZone }, { selling, unitMicros });
  };
}
