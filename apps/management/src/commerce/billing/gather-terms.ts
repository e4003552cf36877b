import { findResource, listLinkedAt, type ResourceRow } from '@longwave/command-pipeline';
import type { LineItemTerms } from '@longwave/money';
import type { Transaction } from '@longwave/postgres';
import { Problem } from '@longwave/problems';
import { refuseField } from '../../workspace/refuse-field.ts';
import { chargedUntil, type BillingStatement, type Period } from './billing-statement.ts';
import { findClosedReconciliations } from './closed-reconciliation-table.ts';
import { listFlightVersions } from './flight-history-table.ts';
import { flightCurrencies, flightTerms } from './rate-terms.ts';
import { listEarlierCharges, listStanding, type StandingStatement } from './standing-statement-table.ts';

type Inputs = BillingStatement['inputs'];
type LineItemRow = ResourceRow<'line_items'>;

const campaignPath = '/changes/campaign_id';
const maxLineItems = 1000;
const hourMs = 3_600_000;

/** What is asked for. */
interface Request {
  readonly workspaceId: string;
  readonly campaignId: string;
  /** The statement that a credit note corrects. */
  readonly corrects: string | undefined;
  readonly period: Period | undefined;
  readonly waiver: string | undefined;
  /** The ledger is read as it was known at this time. */
  readonly knownAt: Date;
}

/** A line item that has begun, that somebody pays for, as its statement charges it. Undefined for any other. */
export function termsOf(
  { id, version, attributes }: LineItemRow,
  versions: Parameters<typeof flightTerms>[1],
  earlier: LineItemTerms['earlier'],
): LineItemTerms | undefined {
  const { name, type, window, makegood_of: makegoodOf } = attributes;
  // Units that are made good, and ads of the house, are never billable.
  if (makegoodOf !== undefined || type === 'house') return undefined;
  const flight = flightTerms(attributes, versions);
  if (!flight || flight.rates.every(({ model }) => model === 'none')) return undefined;
  return {
    ...{ line_item_id: id, version, name, window: { start: window.start, end: window.end } },
    ...flight,
    earlier,
  };
}

/**
 * The one currency of the prices. Throws `validation_failed` where there is none, or where there are several.
 * @param priced currencies of all prices that are charged, or were by earlier statements
 */
function currencyOf(priced: readonly string[], ofWorkspace: string | undefined): string {
  const currencies = [
    ...new Set([...priced, ...(ofWorkspace !== undefined && priced.length > 0 ? [ofWorkspace] : [])]),
  ];
  if (currencies.length === 0)
    refuseField(
      campaignPath,
      'no_currency',
      'No line item of this campaign has begun and has a price, so there is nothing to charge and no currency to charge in.',
    );
  if (currencies.length > 1)
    refuseField(
      campaignPath,
      'mixed_currencies',
      `Prices of this campaign and its workspace are in ${currencies.toSorted().join(' and ')}. A statement has one currency, and none is converted: give all line items prices in ${ofWorkspace ?? 'one currency'}.`,
    );
  return currencies[0]!;
}

/** Throws `validation_failed` unless a period consists of whole hours of UTC, by which the ledger is kept. */
function checkHours({ start, end }: Period): void {
  if ([start, end].some((instant) => Date.parse(instant) % hourMs !== 0))
    refuseField('/changes/period', 'not_whole_hours', 'Name whole hours of UTC: ads are counted by them.');
}

/** The period of a statement, and the time that it charges. */
function spanOf(
  { period, corrects }: Request,
  earlier: readonly StandingStatement[],
): { period: Period; charged: Period } {
  const until = chargedUntil(earlier);
  if (corrects === undefined) {
    checkHours(period!);
    if (until !== undefined && Date.parse(period!.start) < Date.parse(until))
      refuseField(
        '/changes/period',
        'charged_already',
        `Statements of this campaign have charged everything until ${until}. Choose a period from then on; what has changed of earlier ones comes as a correction.`,
      );
    return { period: period!, charged: period! };
  }
  const corrected = earlier.find(({ id }) => id === corrects);
  if (!corrected)
    refuseField(
      '/changes/corrects',
      'not_correctable',
      'A credit note corrects a statement of the same campaign that is issued and not voided.',
    );
  return { period: corrected.period, charged: { start: until!, end: until! } };
}

/** Throws `state_not_allowed` unless everything before the end of what is charged is counted. */
function checkWatermark({ end }: Period, knownAt: Date): void {
  if (Date.parse(end) > knownAt.getTime())
    throw new Problem(
      'state_not_allowed',
      `Deliveries are counted until ${knownAt.toISOString()}, and the period ends at ${end}. Make the statement when they are counted until then.`,
    );
}

/** Reconciliations that settle the numbers of a period. Throws `state_not_allowed` where there is none and nobody waives it. */
async function reconciled(
  tx: Transaction,
  { workspaceId, campaignId, waiver, knownAt }: Request,
  { lineItemIds, period }: { readonly lineItemIds: readonly string[]; readonly period: Period },
): Promise<Pick<Inputs, 'reconciliation_ids' | 'reconciliation_waiver'>> {
  const closed = await findClosedReconciliations(tx, workspaceId, { id: campaignId, lineItemIds }, period);
  if (closed.length === 0 && waiver === undefined)
    throw new Problem(
      'state_not_allowed',
      'No closed reconciliation covers this campaign and period. Close one, or name the reason to charge without one in waive_reconciliation; two others then approve it.',
    );
  if (closed.some(({ closedAt }) => closedAt > knownAt))
    throw new Problem(
      'temporarily_unavailable',
      'A reconciliation of this period was closed a moment ago, and its adjustments are not counted yet. Try again in a few minutes.',
      { retryAfterSeconds: 60 },
    );
  return {
    reconciliation_ids: closed.map(({ id }) => id),
    ...(waiver !== undefined && { reconciliation_waiver: waiver }),
  };
}

/** Everything that a statement is computed from, beside the ledger, as it is when it is asked for. Throws the refusals of the command. */
export async function gatherTerms(
  tx: Transaction,
  request: Request,
): Promise<{ readonly period: Period; readonly inputs: Inputs }> {
  const { workspaceId, campaignId, knownAt } = request;
  const campaign = await findResource(tx, workspaceId, 'campaigns', campaignId);
  if (!campaign) throw new Problem('link_not_found', `There is no campaign ${campaignId}.`);
  const workspace = await findResource(tx, workspaceId, 'workspaces', workspaceId);
  const earlier = await listStanding(tx, workspaceId, campaignId);
  const { period, charged } = spanOf(request, earlier);
  checkWatermark(charged, knownAt);
  const of = { type: 'line_items', name: 'campaign', toId: campaignId } as const;
  const lineItems = await listLinkedAt(tx, workspaceId, of, knownAt);
  const lineItemIds = lineItems.map(({ id }) => id);
  const charges = await listEarlierCharges(tx, workspaceId, campaignId);
  const versions = await listFlightVersions(tx, lineItemIds, knownAt);
  const terms = lineItems.flatMap(
    (each) => termsOf(each, versions.get(each.id) ?? [], charges.get(each.id) ?? []) ?? [],
  );
  const chargedIds = new Set(terms.map(({ line_item_id: id }) => id));
  const priced = lineItems
    .filter(({ id }) => chargedIds.has(id))
    .flatMap(({ id, attributes }) => flightCurrencies(attributes, versions.get(id) ?? []));
  const currency = currencyOf([...priced, ...earlier.map((each) => each.currency)], workspace?.attributes.currency);
  if (terms.length > maxLineItems)
    refuseField(campaignPath, 'too_many_line_items', `A statement has at most ${maxLineItems} line items.`);
  const basis = await reconciled(tx, request, { lineItemIds: terms.map(({ line_item_id: id }) => id), period });
  return {
    period,
    inputs: {
      ...{ campaign_id: campaignId, campaign_version: campaign.version, currency },
      ...{ time_zone: workspace?.attributes.time_zone ?? 'UTC', charged, known_at: knownAt.toISOString() },
      line_items: terms.map((each) => ({ ...each, rates: [...each.rates], earlier: [...each.earlier] })),
      earlier_statement_ids: earlier.map(({ id }) => id),
      ...basis,
    },
  };
}
