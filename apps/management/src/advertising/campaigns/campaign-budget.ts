import { listLinked, StalePreparation, type ResourceRow } from '@longwave/command-pipeline';
import { daysOf } from '@longwave/podcast-analytics/zoned-days';
import type { Transaction } from '@longwave/postgres';
import { listFlightVersions } from '../../commerce/billing/flight-history-table.ts';
import { afterAmendment, countedUnits, type LineItem } from '../line-items/line-item.ts';
import type { Campaign } from './campaign.ts';

type LineItemRow = ResourceRow<'line_items'>;
/** What of a line item says what it costs. */
type SoldRow = Pick<LineItemRow, 'id' | 'attributes' | 'lifecycle_state'>;
type Budget = NonNullable<Campaign['budget']>;

/** States in which a line item is charged, or has been. */
const chargedStates: readonly string[] = [
  'booked',
  'delivering',
  'delivery_extended',
  'paused',
  'completed',
  'stopped',
];

/** Whether what a line item costs is in the currency of a budget. */
export const isPaidFrom = ({ rate }: Pick<LineItem, 'rate'>, { currency }: Budget) => rate.price?.currency === currency;

/** Sold by units, with a price for each, and without a goal that says how many: only a pacer bounds those, by leases that it has not. */
const isUnbounded = ({ rate: { model }, goal }: LineItem) =>
  (model === 'cpm' || model === 'cpcv') && !countedUnits.includes(goal.unit);

/** Whether a line item has, or will have by its waiting amendment, a flat price or a price of days. */
export const hasFixedPrice = (lineItem: LineItem): boolean =>
  [lineItem, afterAmendment(lineItem)].some((one) => one?.rate.model === 'flat' || one?.rate.model === 'cpd');

/**
 * What a line item costs whatever it delivers, in millionths: its flat price, or its price of a day for each local day of its window.
 * @param campaignEnd an extended flight lasts until then
 */
function fixedMicrosOf({ attributes, lifecycle_state: state }: SoldRow, campaignEnd: string, timeZone: string) {
  const { rate, window, makegood_of: makegoodOf, type } = attributes;
  if (!rate.price || makegoodOf !== undefined || type === 'house') return 0n;
  const price = BigInt(rate.price.amount_micros);
  if (rate.model === 'flat') return price;
  if (rate.model !== 'cpd') return 0n;
  const { dayAt } = daysOf(timeZone);
  const end = state === 'delivery_extended' ? campaignEnd : window.end;
  return price * BigInt(Math.max(1, dayAt(Date.parse(end) - 1) - dayAt(Date.parse(window.start)) + 1));
}

/** The line items of a campaign that are charged, or have been; an archived one where it had begun. */
async function listCharged(tx: Transaction, workspaceId: string, campaignId: string): Promise<readonly LineItemRow[]> {
  const rows = await listLinked(tx, workspaceId, 'line_items', 'campaign', campaignId);
  const archived = rows.filter(({ lifecycle_state: state }) => state === 'archived');
  const until = new Date(Math.max(0, ...archived.map((row) => row.updated_at.getTime())));
  const ids = archived.map(({ id }) => id);
  const versions = ids.length > 0 ? await listFlightVersions(tx, ids, until) : undefined;
  const hadBegun = ({ id }: LineItemRow) =>
    versions?.get(id)?.some(({ state }) => state === 'completed' || state === 'stopped') === true;
  return rows.filter((row) => chargedStates.includes(row.lifecycle_state) || hadBegun(row));
}

/** A campaign with its budget, in a workspace's zone. */
interface BudgetedCampaign {
  readonly workspaceId: string;
  readonly campaignId: string;
  readonly campaign: Pick<Campaign, 'budget' | 'window'>;
  readonly timeZone: string;
}

/** What the line items of a campaign cost whatever they deliver, in millionths of the currency: its budget has that less for units. */
export async function readFixedMicros(
  tx: Transaction,
  { workspaceId, campaignId, campaign, timeZone }: BudgetedCampaign,
): Promise<bigint> {
  if (!campaign.budget) return 0n;
  const charged = await listCharged(tx, workspaceId, campaignId);
  return sumFixed(charged, campaign.budget, campaign.window.end, timeZone);
}

/** Of each line item what it costs now, or what it will when its waiting amendment takes effect: the larger. */
const sumFixed = (rows: readonly SoldRow[], budget: Budget, campaignEnd: string, timeZone: string): bigint =>
  rows.reduce((sum, row) => {
    const after = afterAmendment(row.attributes);
    const costs = [row.attributes, ...(after ? [after] : [])]
      .filter(({ rate }) => isPaidFrom({ rate }, budget))
      .map((attributes) => fixedMicrosOf({ ...row, attributes }, campaignEnd, timeZone));
    return sum + costs.reduce((most, one) => (one > most ? one : most), 0n);
  }, 0n);

/** The change that is asked for: a line item as it would be sold, in place of the one that is, or the budget itself. */
interface BudgetChange {
  readonly selling?: Pick<SoldRow, 'id' | 'attributes'>;
  /** Whether the budget has less than before. */
  readonly isLower?: boolean;
  /** What the units of the campaign's line items cost by now, in millionths; undefined where nobody has asked. */
  readonly unitMicros: bigint | undefined;
}

/** Whether a budget has less than the one of before, or takes the place of none or of one in another currency. */
export const isLowerBudget = (before: Budget | undefined, after: Budget): boolean =>
  before?.currency !== after.currency || BigInt(after.amount_micros) < BigInt(before.amount_micros);

/**
 * Why the budget of a campaign could not be kept (docs/pacing.md#budgets), in words for the seller; undefined where it can. Throws
 * `StalePreparation` when more is to be put aside, or the budget is lower, and nobody has asked what units cost.
 */
export async function findBudgetIssue(
  tx: Transaction,
  { workspaceId, campaignId, campaign, timeZone }: BudgetedCampaign,
  { selling, isLower = false, unitMicros }: BudgetChange,
): Promise<string | undefined> {
  const { budget, window } = campaign;
  if (!budget) return undefined;
  const charged = await listCharged(tx, workspaceId, campaignId);
  const others = charged.filter(({ id }) => id !== selling?.id);
  const sold: readonly SoldRow[] = selling ? [...others, { ...selling, lifecycle_state: 'booked' }] : charged;
  const unbounded = sold.find(({ attributes }) =>
    [attributes, afterAmendment(attributes)].some((one) => one && isPaidFrom(one, budget) && isUnbounded(one)),
  );
  if (unbounded)
    return `The campaign has a budget, and line item ${unbounded.id} has a price for each ad and no goal, so nothing would stop it at the budget. Give it a goal in impressions or completes, or the campaign no budget.`;
  const fixed = sumFixed(sold, budget, window.end, timeZone);
  if (fixed > BigInt(budget.amount_micros))
    return `The line items with a flat price or a price of days together cost more than the campaign's budget.`;
  if (!isLower && fixed <= sumFixed(charged, budget, window.end, timeZone)) return undefined;
  if (unitMicros === undefined) throw new StalePreparation('The campaign has just changed. Try again.');
  if (fixed + unitMicros <= BigInt(budget.amount_micros)) return undefined;
  return isLower
    ? `What the campaign's line items have had by units, with the flat prices and the prices of days, already costs more than this budget.`
    : `What the campaign's line items have had by units already takes so much of the budget that the flat prices and the prices of days do not fit beside it.`;
}
