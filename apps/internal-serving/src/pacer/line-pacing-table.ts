import type { PastPrice } from '@longwave/pacing';
import type { Pool } from '@longwave/postgres';
import type { Columns } from '../generated/rows.ts';
import { underTerm } from './pacer-term-table.ts';

/** What a pacer leaves to the next one of a line item, and to those who look. */
export interface LinePacing {
  readonly lineItemId: string;
  readonly workspaceId: string;
  readonly goal: number;
  readonly basis: string;
  readonly windowStartMs: number;
  readonly windowEndMs: number;
  readonly planDigest: string | undefined;
  readonly closedUsed: number;
  readonly committed: number;
  readonly target: number;
  readonly deliveryRate: number;
  readonly urgency: number;
  readonly state: string;
  /** Number of the local day since 1970, and the slots that had been given when it began. */
  readonly day: { readonly number: number; readonly usedAtStart: number } | undefined;
  readonly used: number;
  readonly campaignId: string | undefined;
  readonly unitPriceMicros: number;
  /** Prices before that one, oldest first, and what is committed at all of them, in millionths of the currency. */
  readonly pastPrices: readonly PastPrice[];
  readonly committedMicros: number;
  readonly updatedAtMs: number;
  readonly pacingVersion: number;
}

/** An hour of a line item's pacing. */
export interface PacingHour {
  readonly lineItemId: string;
  readonly workspaceId: string;
  readonly hourMs: number;
  readonly target: number;
  readonly committed: number;
  readonly granted: number;
  readonly used: number;
  /** plan, day, goal or budget; undefined where nothing held it back. */
  readonly shortBy: string | undefined;
}

type Row = Columns<
  'line_pacing',
  | 'line_item_id'
  | 'workspace_id'
  | 'basis'
  | 'plan_digest'
  | 'committed'
  | 'target'
  | 'delivery_rate'
  | 'urgency'
  | 'state'
> & {
  readonly goal: number;
  readonly closed_used: number;
  readonly used: number;
  readonly pacing_version: number;
  readonly start_ms: number;
  readonly end_ms: number;
  readonly updated_ms: number;
  readonly day: { number: number; used_at_start: number } | null;
  readonly campaign_id: string | null;
  readonly unit_price_micros: number | null;
  readonly past_prices: { price_micros: number; used_until: number; until_ms: number }[] | null;
  readonly committed_micros: number;
};

const rowColumns = `line_item_id, workspace_id, basis, plan_digest, committed, target, delivery_rate, urgency, state, goal::float8,
  closed_used::float8, used::float8, pacing_version::float8, day, campaign_id, unit_price_micros::float8, past_prices,
  coalesce(committed_micros, committed * unit_price_micros / 1000, 0)::float8 as committed_micros,
  (extract(epoch from window_start) * 1000)::float8 as start_ms, (extract(epoch from window_end) * 1000)::float8 as end_ms,
  (extract(epoch from updated_at) * 1000)::float8 as updated_ms`;

const toLinePacing = (row: Row): LinePacing => ({
  lineItemId: row.line_item_id,
  workspaceId: row.workspace_id,
  goal: row.goal,
  basis: row.basis,
  windowStartMs: row.start_ms,
  windowEndMs: row.end_ms,
  planDigest: row.plan_digest ?? undefined,
  closedUsed: row.closed_used,
  committed: row.committed,
  target: row.target,
  deliveryRate: row.delivery_rate,
  urgency: row.urgency,
  state: row.state,
  day: row.day ? { number: row.day.number, usedAtStart: row.day.used_at_start } : undefined,
  used: row.used,
  campaignId: row.campaign_id ?? undefined,
  unitPriceMicros: row.unit_price_micros ?? 0,
  pastPrices: (row.past_prices ?? []).map((one) => ({
    ...{ priceMicros: one.price_micros, usedUntil: one.used_until, untilMs: one.until_ms },
  })),
  committedMicros: row.committed_micros,
  updatedAtMs: row.updated_ms,
  pacingVersion: row.pacing_version,
});

/** Every line item that was ever paced and may still matter: those in a window, and those of campaigns with a budget. */
export async function listLinePacing(pool: Pool): Promise<readonly LinePacing[]> {
  const { rows } = await pool.query<Row>(`select ${rowColumns} from line_pacing`);
  return rows.map(toLinePacing);
}

/** Those of these line items that belong to the workspace. */
export async function readLinePacing(
  pool: Pool,
  workspaceId: string,
  lineItemIds: readonly string[],
): Promise<readonly LinePacing[]> {
  const { rows } = await pool.query<Row>(
    `select ${rowColumns} from line_pacing where workspace_id = $1 and line_item_id = any ($2) order by line_item_id`,
    [workspaceId, lineItemIds],
  );
  return rows.map(toLinePacing);
}

const toStoredPrice = ({ priceMicros, usedUntil, untilMs }: PastPrice) => ({
  ...{ price_micros: priceMicros, used_until: usedUntil, until_ms: untilMs },
});

const columns = (lines: readonly LinePacing[]) => [
  lines.map((one) => one.lineItemId),
  lines.map((one) => one.workspaceId),
  lines.map((one) => one.goal),
  lines.map((one) => one.basis),
  lines.map((one) => one.windowStartMs),
  lines.map((one) => one.windowEndMs),
  lines.map((one) => one.planDigest ?? null),
  lines.map((one) => one.closedUsed),
  lines.map((one) => one.committed),
  lines.map((one) => one.target),
  lines.map((one) => one.deliveryRate),
  lines.map((one) => one.urgency),
  lines.map((one) => one.state),
  lines.map(({ day }) => (day ? JSON.stringify({ number: day.number, used_at_start: day.usedAtStart }) : null)),
  lines.map((one) => one.used),
  lines.map((one) => one.campaignId ?? null),
  lines.map((one) => one.unitPriceMicros),
  lines.map(({ pastPrices }) => (pastPrices.length === 0 ? null : JSON.stringify(pastPrices.map(toStoredPrice)))),
  lines.map((one) => one.committedMicros),
];

/**
 * Keeps what the pacer knows. What closed leases used is set for a new line item only: afterwards closing a lease adds to it, in the same
 * transaction.
 */
export async function saveLinePacing(pool: Pool, term: number, lines: readonly LinePacing[]): Promise<void> {
  if (lines.length === 0) return;
  await pool.query({
    name: 'pacer-save-lines',
    text: `${underTerm}
      insert into line_pacing as p (line_item_id, workspace_id, goal, basis, window_start, window_end, plan_digest, closed_used, committed,
        target, delivery_rate, urgency, state, day, used, campaign_id, unit_price_micros, past_prices, committed_micros, bound,
        pacing_version, updated_at)
      select line_item_id, workspace_id, goal, basis, to_timestamp(start_ms / 1000.0), to_timestamp(end_ms / 1000.0), plan_digest,
        closed_used, committed, target, delivery_rate, urgency, state, day, used, campaign_id, unit_price_micros, past_prices, committed_micros, goal,
        1, now()
      from term, unnest($2::text[], $3::text[], $4::bigint[], $5::text[], $6::float8[], $7::float8[], $8::text[], $9::bigint[],
        $10::float8[], $11::float8[], $12::float8[], $13::int[], $14::text[], $15::jsonb[], $16::bigint[], $17::text[], $18::bigint[], $19::jsonb[],
        $20::float8[])
        as one (line_item_id, workspace_id, goal, basis, start_ms, end_ms, plan_digest, closed_used, committed, target, delivery_rate,
          urgency, state, day, used, campaign_id, unit_price_micros, past_prices, committed_micros)
      order by line_item_id
      on conflict (line_item_id) do update set workspace_id = excluded.workspace_id, goal = excluded.goal, basis = excluded.basis,
        window_start = excluded.window_start, window_end = excluded.window_end, plan_digest = excluded.plan_digest,
        committed = excluded.committed, target = excluded.target, delivery_rate = excluded.delivery_rate, urgency = excluded.urgency,
        state = excluded.state, day = excluded.day, used = excluded.used, campaign_id = excluded.campaign_id,
        unit_price_micros = excluded.unit_price_micros, past_prices = excluded.past_prices, committed_micros = excluded.committed_micros,
        bound = greatest(excluded.goal, case when excluded.goal < p.goal then ceil(greatest(p.committed, excluded.committed))::bigint
          else coalesce(p.bound, p.goal) end), pacing_version = p.pacing_version + 1, updated_at = now()`,
    values: [term, ...columns(lines)],
  });
}

/** Keeps the hours in which they are; rows of past hours stay as they are. */
export async function saveHours(pool: Pool, term: number, hours: readonly PacingHour[]): Promise<void> {
  if (hours.length === 0) return;
  await pool.query({
    name: 'pacer-save-hours',
    text: `${underTerm}
      insert into pacing_hour (line_item_id, hour, workspace_id, target, committed, granted, used, short_by)
      select line_item_id, to_timestamp(hour_ms / 1000.0), workspace_id, target, committed, granted, used, short_by
      from term, unnest($2::text[], $3::float8[], $4::text[], $5::float8[], $6::float8[], $7::bigint[], $8::bigint[], $9::text[])
        as one (line_item_id, hour_ms, workspace_id, target, committed, granted, used, short_by)
      order by line_item_id
      on conflict (line_item_id, hour) do update set target = excluded.target, committed = excluded.committed,
        granted = excluded.granted, used = excluded.used, short_by = excluded.short_by`,
    values: [
      term,
      hours.map((one) => one.lineItemId),
      hours.map((one) => one.hourMs),
      hours.map((one) => one.workspaceId),
      hours.map((one) => one.target),
      hours.map((one) => one.committed),
      hours.map((one) => one.granted),
      hours.map((one) => one.used),
      hours.map((one) => one.shortBy ?? null),
    ],
  });
}

/** Hours of a line item from a time until before another, oldest first; of another workspace none. */
export async function readHours(
  pool: Pool,
  workspaceId: string,
  lineItemId: string,
  range: { readonly fromMs: number; readonly toMs: number },
): Promise<readonly PacingHour[]> {
  const { rows } = await pool.query<
    Columns<'pacing_hour', 'target' | 'committed' | 'short_by'> & { hour_ms: number; granted: number; used: number }
  >(
    `select (extract(epoch from hour) * 1000)::float8 as hour_ms, target, committed, granted::float8, used::float8, short_by
     from pacing_hour where line_item_id = $1 and workspace_id = $2
       and hour >= to_timestamp($3 / 1000.0) and hour < to_timestamp($4 / 1000.0) order by hour`,
    [lineItemId, workspaceId, range.fromMs, range.toMs],
  );
  return rows.map((row) => ({
    ...{ lineItemId, workspaceId, hourMs: row.hour_ms, target: row.target, committed: row.committed },
    ...{ granted: row.granted, used: row.used, shortBy: row.short_by ?? undefined },
  }));
}

/**
 * Raises what line items had given before leases, and what that cost at their last known price, of which the budgets of their campaigns
 * are short also when they have left their plans; used at change-over, when no lease is open. What their days had before is not known
 * any more: counts by the hour say it.
 */
export async function carryCountsOver(
  session: Pick<Pool, 'query'>,
  counts: ReadonlyMap<string, number>,
): Promise<void> {
  await session.query(
    `update line_pacing p set closed_used = greatest(p.closed_used, one.slots), day = null,
       committed_micros = coalesce(p.committed_micros, p.committed * p.unit_price_micros / 1000, 0)
         + greatest(0, greatest(p.closed_used, one.slots) - p.used) * coalesce(p.unit_price_micros, 0) / 1000.0
     from unnest($1::text[], $2::bigint[]) as one (line_item_id, slots) where p.line_item_id = one.line_item_id`,
    [[...counts.keys()], [...counts.values()]],
  );
}

/** What was given of line items so far, by the guard and under leases that are closed. */
export async function listUsed(
  session: Pick<Pool, 'query'>,
  lineItemIds: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const { rows } = await session.query<{ line_item_id: string; closed_used: number }>(
    'select line_item_id, closed_used::float8 from line_pacing where line_item_id = any ($1)',
    [lineItemIds],
  );
  return new Map(rows.map((row) => [row.line_item_id, row.closed_used]));
}
