import type { EarlierCharge } from '@longwave/money';
import type { Transaction } from '@longwave/postgres';
import type { Columns } from '../../generated/rows.ts';
import { openStates, standingStates, type Period } from './billing-statement.ts';

/** A statement whose amounts count, without what it charges and what it was computed from. */
export interface StandingStatement extends Columns<'resource', 'id'> {
  readonly number: number;
  readonly currency: string;
  readonly period: Period;
  /** The end of the time that it charges. */
  readonly chargedEnd: string;
}

/** Statements of a campaign: each links to it. */
const ofCampaign = `link l join resource r on r.id = l.from_id
           where l.to_id = $2 and l.name = 'campaign' and r.workspace_id = $1 and r.resource_type = 'billing_statements'
             and r.lifecycle_state = any($3)`;

/** Statements of a campaign whose amounts count, in the order of their numbers. */
export async function listStanding(
  tx: Transaction,
  workspaceId: string,
  campaignId: string,
): Promise<readonly StandingStatement[]> {
  const { rows } = await tx.query<StandingStatement>({
    name: 'list_standing_statements',
    text: `select r.id, (r.attributes ->> 'number')::int as number, r.attributes #>> '{inputs,currency}' as currency,
             r.attributes -> 'period' as period, r.attributes #>> '{inputs,charged,end}' as "chargedEnd"
           from ${ofCampaign} order by number`,
    values: [workspaceId, campaignId, standingStates],
  });
  return rows;
}

/** What the statements of a campaign have charged, by line item and price; one row of each, however many statements there are. */
export async function listEarlierCharges(
  tx: Transaction,
  workspaceId: string,
  campaignId: string,
): Promise<ReadonlyMap<string, readonly EarlierCharge[]>> {
  const { rows } = await tx.query<EarlierCharge & { readonly line_item_id: string }>({
    name: 'list_earlier_charges',
    text: `select c.line_item_id, c.rate_from, sum(c.units)::float8 as units, sum(c.days)::float8 as days, sum(c.amount_micros)::text as amount_micros
           from (select r.attributes -> 'lines' as lines from ${ofCampaign}) s,
             jsonb_to_recordset(s.lines) as c (line_item_id text, rate_from text, units bigint, days bigint, amount_micros numeric)
           group by c.line_item_id, c.rate_from order by c.line_item_id, c.rate_from`,
    values: [workspaceId, campaignId, standingStates],
  });
  const byLineItem = Map.groupBy(rows, ({ line_item_id: id }) => id);
  return new Map([...byLineItem].map(([id, of]) => [id, of.map(({ line_item_id: _id, ...charge }) => charge)]));
}

/** A statement that charges a line item and is neither settled nor voided; undefined when there is none. */
export async function findOpen(
  tx: Transaction,
  workspaceId: string,
  lineItem: { readonly id: string; readonly campaignId: string },
): Promise<{ readonly id: string; readonly number: number; readonly state: string } | undefined> {
  const { rows } = await tx.query<{ readonly id: string; readonly number: number; readonly state: string }>({
    name: 'find_open_statement',
    text: `select r.id, (r.attributes ->> 'number')::int as number, r.lifecycle_state as state
           from ${ofCampaign} and r.attributes -> 'lines' @> jsonb_build_array(jsonb_build_object('line_item_id', $4::text))
           order by number limit 1`,
    values: [workspaceId, lineItem.campaignId, openStates, lineItem.id],
  });
  return rows[0];
}
