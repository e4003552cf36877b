import type { Columns } from '@longwave/audience-store';
import { setStatementTimeout, transaction, type Pool } from '@longwave/postgres';
import type { AdStage } from '../ads/ad-entry.ts';
import { beReader } from '../ads/settled-until.ts';
import type { HoursRequest, ServingsRequest, UnitBasis, UnitsRequest } from './ledger-requests.ts';

/** Line items may have had millions of servings. */
const timeoutMs = 120_000;

/** The stage of the ledger that a basis counts, or the report of players: each happens to a serving once. */
const countedBy: Readonly<Record<UnitBasis, { readonly stage: AdStage } | { readonly event: 'start' | 'complete' }>> = {
  reserved: { stage: 'decided' },
  served_bytes: { stage: 'served' },
  ad_delivered: { stage: 'confirmed' },
  client_event: { event: 'start' },
  completes: { event: 'complete' },
};

/** SQL: the tables that the units of line items $2 are read from. */
const ofLineItems = {
  entries: '(select * from ad_entry where line_item_id = any($2)) e',
  events: '(select * from client_event where line_item_id = any($2)) e',
};

/** SQL: the units of workspace $1 in some rows that were known at $3, a row with its units for each change. */
function knownUnits(basis: UnitBasis, { entries, events } = ofLineItems): string {
  const counted = countedBy[basis];
  return 'stage' in counted
    ? `select line_item_id, creative_id, serving_id, hour as at, quantity as units from ${entries}
       where workspace_id = $1 and recorded_at <= $3 and stage = '${counted.stage}'`
    : `select line_item_id, creative_id, serving_id, at, 1 as units from ${events}
       where workspace_id = $1 and counted_at <= $3 and event = '${counted.event}' and judgement = 'eligible'`;
}

/** SQL: when the serving of `u` was decided, if that was known at $3; else when it was counted. */
const decidedAt = `coalesce((
  select s.decided_at from ad_serving s where s.serving_id = u.serving_id and exists (
    select from ad_entry d where d.serving_id = u.serving_id and d.stage = 'decided' and d.recorded_at <= $3)), u.at)`;

/** Units by the decision of their servings, with the versions of the last entry of the line item. */
export interface LineItemUnits {
  /** One more than there are bounds. */
  readonly units: readonly number[];
  /** Empty before the first entry. */
  readonly methodologyVersion: string;
  readonly listsVersion: string;
}

/**
 * The units of a line item as they were known at a time, each serving once. They are of the hour in which the first counted download began
 * that reached the basis; of `reserved` of the decision's hour; of players' reports of the time of the report.
 */
export async function readUnits(pool: Pool, request: UnitsRequest): Promise<LineItemUnits> {
  const { workspaceId, lineItemId, countingBasis, until, knownAt, decidedBounds } = request;
  return transaction(pool, async (tx) => {
    await beReader(tx);
    await setStatementTimeout(tx, timeoutMs);
    const isSplit = decidedBounds.length > 0;
    const { rows } = await tx.query<{ part: number; units: string }>(
      `select ${isSplit ? `width_bucket(${decidedAt}, $5::timestamptz[])` : '0'} as part, sum(units) as units
       from (${knownUnits(countingBasis)}) u where u.at < $4 group by 1`,
      [workspaceId, [lineItemId], knownAt, until, ...(isSplit ? [decidedBounds] : [])],
    );
    const units = new Map(rows.map((row) => [row.part, Number(row.units)]));
    const { rows: versions } = await tx.query<Columns<'ad_entry', 'methodology_version' | 'lists_version'>>(
      // The sum keeps the planner from reading the primary key backwards until an entry of the line item comes.
      `select methodology_version, lists_version from ad_entry where id = (
         select max(id + 0) from ad_entry where line_item_id = $2 and workspace_id = $1 and recorded_at <= $3)`,
      [workspaceId, lineItemId, knownAt],
    );
    return {
      units: Array.from({ length: decidedBounds.length + 1 }, (_, part) => units.get(part) ?? 0),
      methodologyVersion: versions[0]?.methodology_version ?? '',
      listsVersion: versions[0]?.lists_version ?? '',
    };
  });
}

type HourRow = Columns<'ad_entry', 'line_item_id' | 'creative_id' | 'hour'> & { readonly units: string };

/** Hours of one message. */
const batchSize = 1000;

/** Sends the hourly units of line items as they were known at a time, in the order of line item, creative and hour; hours without any are absent. */
export async function sendHours(
  pool: Pool,
  { workspaceId, lineItemIds, countingBasis, range, knownAt }: HoursRequest,
  send: (rows: readonly HourRow[]) => Promise<void>,
): Promise<void> {
  await transaction(pool, async (tx) => {
    await beReader(tx);
    await tx.query(`set local idle_in_transaction_session_timeout = '10min'`);
    await setStatementTimeout(tx, timeoutMs);
    await tx.query(
      `declare hours no scroll cursor for
       select line_item_id, creative_id, date_trunc('hour', at, 'UTC') as hour, sum(units) as units
       from (${knownUnits(countingBasis)}) u where at >= $4 and at < $5
       group by 1, 2, 3 having sum(units) <> 0 order by line_item_id collate "C", creative_id collate "C", 3`,
      [workspaceId, lineItemIds, knownAt, range.from, range.to],
    );
    for (;;) {
      const { rows } = await tx.query<HourRow>(`fetch ${batchSize} from hours`);
      if (rows.length === 0) return;
      await send(rows);
    }
  });
}

/** A serving as the ledger knows it; `hour` is that of its unit, null where it has none. */
type ServingRow = Columns<'ad_entry', 'serving_id' | 'line_item_id' | 'creative_id'> & { readonly hour: Date | null };

/** Those of the servings that were known at a time, each with the hour in which `sendHours` has its unit, in the order of their ids. */
export async function readServings(
  pool: Pool,
  { workspaceId, servingIds, countingBasis, knownAt }: ServingsRequest,
): Promise<readonly ServingRow[]> {
  return transaction(pool, async (tx) => {
    await beReader(tx);
    await setStatementTimeout(tx, timeoutMs);
    const { rows } = await tx.query<ServingRow>(
      // Rows are found by their servings alone: the planner would read the index of all hours of the workspace beside it.
      `with entry as materialized (select * from ad_entry where serving_id = any($2)),
       event as materialized (select * from client_event where serving_id = any($2)),
       serving as (
         select distinct on (serving_id) serving_id, line_item_id, creative_id from entry
         where workspace_id = $1 and recorded_at <= $3 order by serving_id, id),
       counted as (
         select serving_id, date_trunc('hour', at, 'UTC') as hour
         from (${knownUnits(countingBasis, { entries: 'entry', events: 'event' })}) u group by 1, 2 having sum(units) > 0)
       select s.serving_id, s.line_item_id, s.creative_id, max(c.hour) as hour
       from serving s left join counted c on c.serving_id = s.serving_id
       group by 1, 2, 3 order by s.serving_id collate "C"`,
      [workspaceId, servingIds, knownAt],
    );
    return rows;
  });
}
