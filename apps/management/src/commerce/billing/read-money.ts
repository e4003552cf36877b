import { productCatalog } from '@longwave/command-catalog';
import { findResource, listInStates, listLinkedAt } from '@longwave/command-pipeline';
import type { MoneyDimension, MoneyMetric } from '@longwave/events';
import { add, earnedWithin, roundHalfEven, zero, type LineItemTerms, type Rational } from '@longwave/money';
import { daysOf } from '@longwave/podcast-analytics/zoned-days';
import { transaction, type Pool } from '@longwave/postgres';
import { createTurns } from '@longwave/worker-kit';
import { listCharged } from './charged-table.ts';
import { listFlightVersions } from './flight-history-table.ts';
import { termsOf } from './gather-terms.ts';
import { flightCurrencies } from './rate-terms.ts';
import { readLedger, type Ledger } from './read-ledger.ts';

/** What money is asked for. */
interface MoneyQuestion {
  readonly workspaceId: string;
  readonly from: Date;
  readonly to: Date;
  /** The ledger is read as it was known at this time: its watermark. */
  readonly knownAt: Date;
  readonly dimensions: readonly MoneyDimension[];
  readonly metrics: readonly MoneyMetric[];
  /** Keys by dimension; all of them hold. */
  readonly filters: readonly { readonly dimension: string; readonly keys: readonly string[] }[];
  /** Of all line items, when `type` is a dimension or a filter. */
  readonly lineItemTypes: readonly { readonly lineItemId: string; readonly type: string }[];
  readonly signal: AbortSignal;
}

/** Keys and numbers in the order of the dimensions and metrics. */
interface MoneyRow {
  readonly keys: readonly string[];
  readonly values: readonly bigint[];
}

/** Line items of which one report reads the ledger. */
const maxMoneyLineItems = 2_000;

/** More line items have begun than one report reads, or a line item has had prices in several currencies. */
export class MoneyNotCounted extends Error {}

interface PricedLine {
  readonly campaignId: string;
  readonly advertiserId: string;
  readonly type: string;
  readonly currency: string;
  readonly terms: LineItemTerms;
}

type Keys = Readonly<Record<MoneyDimension, string>>;
type Has = (dimension: MoneyDimension, key: string) => boolean;

/** The line items of these campaigns that are charged, as they were known at a time. */
async function listPriced(
  pool: Pool,
  { workspaceId, knownAt }: MoneyQuestion,
  campaigns: ReadonlyMap<string, string>,
  has: Has,
): Promise<readonly PricedLine[]> {
  const priced: PricedLine[] = [];
  for (const [campaignId, advertiserId] of campaigns) {
    await transaction(pool, async (tx) => {
      const of = { type: 'line_items', name: 'campaign', toId: campaignId } as const;
      const rows = (await listLinkedAt(tx, workspaceId, of, knownAt)).filter(
        ({ id, attributes }) => has('line_item', id) && has('type', attributes.type),
      );
      const versions = await listFlightVersions(
        tx,
        rows.map(({ id }) => id),
        knownAt,
      );
      for (const row of rows) {
        const terms = termsOf(row, versions.get(row.id) ?? [], []);
        if (!terms) continue;
        const [currency, ...others] = new Set(flightCurrencies(row.attributes, versions.get(row.id) ?? []));
        if (currency === undefined) continue;
        if (others.length > 0) throw new MoneyNotCounted(`${row.id} has had prices in several currencies.`);
        priced.push({ campaignId, advertiserId, type: row.attributes.type, currency, terms });
      }
    });
    if (priced.length > maxMoneyLineItems)
      throw new MoneyNotCounted(
        `More than ${maxMoneyLineItems.toLocaleString('en')} line items have begun. Name campaigns or advertisers in a filter.`,
      );
  }
  return priced;
}

/** Sums by the keys of a report; in millionths that are not rounded. */
function createSums({ dimensions, metrics }: MoneyQuestion) {
  const sums = new Map<string, { readonly keys: readonly string[]; readonly values: Map<MoneyMetric, Rational> }>();
  return {
    add: (of: Keys, metric: MoneyMetric, exact: Rational) => {
      const keys = dimensions.map((dimension) => of[dimension]);
      const name = JSON.stringify(keys);
      const sum = sums.get(name) ?? { keys, values: new Map<MoneyMetric, Rational>() };
      sum.values.set(metric, add(sum.values.get(metric) ?? zero, exact));
      sums.set(name, sum);
    },
    rows: (): MoneyRow[] =>
      [...sums.values()]
        .map(({ keys, values }) => ({ keys, values: metrics.map((one) => roundHalfEven(values.get(one) ?? zero)) }))
        .filter(({ values }) => values.some((value) => value !== 0n))
        .toSorted((a, b) => Buffer.compare(Buffer.from(a.keys.join('\n')), Buffer.from(b.keys.join('\n')))),
  };
}

/**
 * Reads what line items earned in a window, from the terms that statements are computed from, and what issued statements have charged whose
 * time ends in it. Each number is exact until it is rounded to millionths, once. Throws `MoneyNotCounted`.
 */
export async function readMoney(pool: Pool, ledger: Ledger, question: MoneyQuestion): Promise<readonly MoneyRow[]> {
  const { workspaceId, from, to, knownAt, metrics, filters } = question;
  const has: Has = (dimension, key) =>
    filters.every((filter) => filter.dimension !== dimension || filter.keys.includes(key));
  const { campaigns: ofCampaigns } = productCatalog.resources;
  const campaigns = new Map(
    (await listInStates(pool, workspaceId, 'campaigns', ofCampaigns.states))
      .map(({ id, attributes }) => [id, attributes.advertiser_id] as const)
      .filter(([id, advertiserId]) => has('campaign', id) && has('advertiser', advertiserId)),
  );
  const sums = createSums(question);
  // Nothing is earned by days to come.
  const end = new Date(Math.max(from.getTime(), Math.min(to.getTime(), knownAt.getTime())));
  if (metrics.includes('revenue_micros')) {
    const priced = await listPriced(pool, question, campaigns, has);
    const charged = { start: from.toISOString(), end: end.toISOString() };
    const lineItems = priced.map(({ terms }) => terms);
    const asked = { line_items: lineItems, charged, known_at: knownAt.toISOString() };
    const { readings } = await readLedger(ledger, workspaceId, asked, question.signal);
    const workspace = await findResource(pool, workspaceId, 'workspaces', workspaceId);
    const calendar = daysOf(workspace?.attributes.time_zone ?? 'UTC');
    const turn = createTurns();
    for (const [place, { campaignId, advertiserId, type, currency, terms }] of priced.entries()) {
      await turn();
      const of = { campaign: campaignId, advertiser: advertiserId, line_item: terms.line_item_id, type, currency };
      for (const { rate, exact } of earnedWithin(terms, readings[place]!, charged, calendar))
        sums.add({ ...of, basis: rate.basis }, 'revenue_micros', exact);
    }
  }
  if (!metrics.includes('charged_micros') && !metrics.includes('charged_units')) return sums.rows();
  const types = new Map(question.lineItemTypes.map(({ lineItemId, type }) => [lineItemId, type]));
  const ended = { campaignIds: [...campaigns.keys()], after: from, until: to };
  for await (const { campaign_id: campaign, currency, lines } of listCharged(pool, workspaceId, ended)) {
    question.signal.throwIfAborted();
    const of = { campaign, advertiser: campaigns.get(campaign)!, currency };
    for (const { line_item_id: lineItemId, basis, units, amount_micros: micros } of lines) {
      const type = types.get(lineItemId) ?? 'unknown';
      if (!has('line_item', lineItemId) || !has('type', type)) continue;
      const keys = { ...of, line_item: lineItemId, type, basis };
      sums.add(keys, 'charged_micros', { numerator: BigInt(micros), denominator: 1n });
      sums.add(keys, 'charged_units', { numerator: BigInt(units), denominator: 1n });
    }
  }
  return sums.rows();
}
