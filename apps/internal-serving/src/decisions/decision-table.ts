import { idFromUuid, idToUuid, isId } from '@longwave/ids';
import type { Pool } from '@longwave/postgres';
import type { Columns } from '../generated/rows.ts';
import { countsOf, sumCounts, type LineItemSum } from './line-item-count-table.ts';
import type { NewDecision } from './stored-decision.ts';

/** A decision as its row has it. */
export interface PackedRow {
  readonly decisionId: string;
  readonly workspaceId: string;
  readonly atMs: number;
  readonly packed: Buffer;
}

/** A row that names the object of the archive, or (`elsewhere`) only claims its id for the row of a release up to 0.4.0. */
export type FoundRow =
  | ({ readonly kind: 'packed' } & PackedRow)
  | { readonly kind: 'archived'; readonly day: string; readonly digest: string }
  | { readonly kind: 'elsewhere' };

/** A new decision in its packed form. */
export interface NewRow {
  readonly decision: NewDecision;
  readonly packed: Buffer;
}

/** Decisions of a workspace from a time until before another, behind a position. */
export interface DecisionPosition {
  readonly workspaceId: string;
  readonly from: Date;
  readonly to: Date;
  readonly after: { readonly atMs: number; readonly decisionId: string } | undefined;
}

/** Whole rows of one UTC day as lines of the archive. */
export interface OldestDay {
  readonly day: string;
  readonly rows: readonly { readonly id: string; readonly line: string }[];
}

/** Seconds that the node which stored decisions has to publish them. A node that has not done so by then counts as dead. */
export const leaseSeconds = 30;

/** What the decisions of a batch count besides themselves. */
interface Counting {
  /** Slots of goals by leases. */
  readonly leases: boolean;
  /** Slots of goals by the guard, and shares of modes in which a release may count them that knows no leases. */
  readonly guard: boolean;
  readonly shares: boolean;
  /** By sums of the whole batch, not by decision. */
  readonly isSummed: boolean;
}

const countColumnsText = `$8::text[], $9::float8[], $10::int[], $11::int[], $12::int[], $13::text[], $14::bigint[]`;
const countNames = 'line_item_id, hour_ms, goal_slots, share_servings, share_opportunities, mode, node_epoch';

/** Sums of all decisions together: they count when all are new. Where only some are, the statement fails, and is done again with `countsOfNew`. */
const countsOfAll = `
  count_of as (
    select * from unnest(${countColumnsText}) as one (${countNames})
    where (select count(*) from written) = cardinality($2::uuid[])),`;

/** The same by decision: those count that are new. */
const countsOfNew = `
  count_of as (
    select * from unnest(${countColumnsText}, $15::uuid[]) as one (${countNames}, decision_id) join written using (decision_id)),`;

// What the stored decisions, and no repeated ones, take from leases: a lease that has not as much, or is missing, fails the statement.
// Leases are updated in the order in which `taken` is sorted, by node and line item, as the pacer locks them.
const useLeases = `
  taken as (
    select node_epoch, line_item_id, sum(goal_slots) as slots from count_of
    where goal_slots > 0 and mode = 'lease' group by node_epoch, line_item_id order by node_epoch, line_item_id),
  used as (
    update quota_lease l set used = l.used + taken.slots from taken
    where l.node_epoch = taken.node_epoch and l.line_item_id = taken.line_item_id returning l.line_item_id),`;

const countByGuard = `
  counted as (
    insert into line_item_count (line_item_id, hour, batch_id, goal_slots, share_servings, share_opportunities, mode)
    select line_item_id, to_timestamp(hour_ms / 1000.0), $1, sum(goal_slots), sum(share_servings), sum(share_opportunities),
           coalesce(min(mode) filter (where goal_slots > 0), 'none')
    from count_of where mode <> 'lease' group by line_item_id, hour_ms),`;

const countShares = `
  shared as (
    insert into share_hour (line_item_id, hour, node_epoch, opportunities, served)
    select line_item_id, to_timestamp(hour_ms / 1000.0), node_epoch, sum(share_opportunities), sum(share_servings)
    from count_of where share_opportunities > 0 or share_servings > 0
    group by line_item_id, hour_ms, node_epoch order by line_item_id, hour_ms, node_epoch
    on conflict (line_item_id, hour, node_epoch) do update
      set opportunities = share_hour.opportunities + excluded.opportunities, served = share_hour.served + excluded.served),`;

const refusedLeases = `case when (select count(*) from taken) > (select count(*) from used) then refuse_slots('quota_lease_held') end`;
const refusedSums = `case when (select count(*) from written) < cardinality($2::uuid[]) then refuse_slots('decisions_repeated') end`;

// Sorted by id, so that two nodes that write the same ids wait for each other and never deadlock.
function insertText({ leases, guard, shares, isSummed }: Counting): string {
  const counts = [leases && useLeases, guard && countByGuard, shares && countShares].filter(Boolean);
  const refused = [leases && refusedLeases, isSummed && counts.length > 0 && refusedSums].filter(Boolean);
  return `
  with given as (
    select * from unnest($2::uuid[], $3::uuid[], $4::float8[], $5::bytea[], $6::text[], $7::boolean[])
      as one (decision_id, workspace_id, at_ms, packed, old_id, is_filled)),
  written as (
    insert into packed_decision (decision_id, workspace_id, at, packed)
    select decision_id, workspace_id, to_timestamp(at_ms / 1000.0), packed from given
    where not exists (select from decision where decision.decision_id = old_id)
    order by decision_id on conflict (decision_id) do nothing
    returning decision_id),
  ${counts.length === 0 ? '' : isSummed ? countsOfAll : countsOfNew} ${counts.join('')}
  announced as (
    insert into announcement_batch (batch_id, leased_until, decision_ids)
    select $1, now() + make_interval(secs => ${leaseSeconds}), array_agg(decision_id)
    from written join given using (decision_id) where is_filled having count(*) > 0)
  select ${['decision_id', ...refused].join(', ')} from written`;
}

/** The constraints by which the database refuses slots of goals (docs/pacing.md). */
const refusals: readonly unknown[] = ['quota_lease_used_within_granted', 'quota_lease_held', 'goal_slots_by_guard'];

/** Whether decisions were refused because of the slots of goals that one of them takes. Nothing of them was stored. */
export const areSlotsRefused = (error: unknown): boolean =>
  refusals.includes((error as { readonly constraint?: unknown } | null)?.constraint);

const countColumns = (counts: readonly LineItemSum[]) => [
  counts.map((each) => each.lineItemId),
  counts.map((each) => each.hourMs),
  counts.map((each) => each.goalSlots),
  counts.map((each) => each.shareServings),
  counts.map((each) => each.shareOpportunities),
  counts.map((each) => each.mode),
  counts.map((each) => each.nodeEpoch),
];

/** Some decisions of a batch had been stored, so its sums are not theirs. */
const areSomeRepeated = (error: unknown): boolean =>
  (error as { readonly constraint?: unknown } | null)?.constraint === 'decisions_repeated';

/**
 * Writes decisions of different ids by one statement, with what they count and their announcement, each unless its id has a decision.
 * Answers the ids that were written. Rejects for all of them when a lease does not pay for what they take (`areSlotsRefused`).
 * @param batchId a UUID that was never used before
 */
export async function insertDecisions(
  pool: Pool,
  batchId: string,
  newRows: readonly NewRow[],
): Promise<ReadonlySet<string>> {
  const decisions = newRows.map(({ decision }) => decision);
  const decisionIds = decisions.map((each) => idToUuid(each.decisionId));
  const counts = decisions.map(countsOf);
  const sums = sumCounts(counts.flat());
  const parts = {
    leases: sums.some((each) => each.goalSlots > 0 && each.mode === 'lease'),
    guard: sums.some((each) => each.mode !== 'lease'),
    shares: sums.some((each) => each.shareOpportunities + each.shareServings > 0),
  };
  const names = (['leases', 'guard', 'shares'] as const).filter((part) => parts[part]);
  const insert = async (isSummed: boolean) => {
    const counted = isSummed ? sums : counts.flat();
    const ofDecision = isSummed ? null : counts.flatMap((each, at) => each.map(() => decisionIds[at]));
    const { rows } = await pool.query<Columns<'packed_decision', 'decision_id'>>({
      name: ['insert-decisions', ...names, ...(isSummed ? [] : ['each'])].join('-'),
      text: insertText({ ...parts, isSummed }),
      values: [
        ...[batchId, decisionIds],
        decisions.map((each) => idToUuid(each.workspaceId)),
        decisions.map((each) => each.atMs),
        newRows.map((each) => each.packed),
        decisions.map((each) => each.decisionId),
        decisions.map((each) => each.answer.picks.length > 0),
        ...(names.length === 0 ? [] : [...countColumns(counted), ...(ofDecision ? [ofDecision] : [])]),
      ],
    });
    return new Set(rows.map((row) => idFromUuid('dec', row.decision_id)));
  };
  try {
    return await insert(true);
  } catch (error) {
    if (!areSomeRepeated(error)) throw error;
    return insert(false);
  }
}

type Row = Columns<'packed_decision', 'decision_id' | 'workspace_id' | 'packed', { packed: Buffer }> & {
  readonly at_ms: number;
};

/** SQL: the columns of `Row`, of table `d`. */
const rowColumns = 'd.decision_id, d.workspace_id, d.packed, (extract(epoch from d.at) * 1000)::float8 as at_ms';

/** SQL: the UTC day of row `d`. */
const dayOf = `to_char(d.at at time zone 'UTC', 'YYYY-MM-DD')`;

const toPackedRow = (row: Row): PackedRow => ({
  decisionId: idFromUuid('dec', row.decision_id),
  workspaceId: idFromUuid('ws', row.workspace_id),
  atMs: row.at_ms,
  packed: row.packed,
});

/** A decision's row, or undefined. @param workspaceId a decision of another workspace is not found; absent: of any */
export async function findDecisionRow(
  pool: Pool,
  decisionId: string,
  workspaceId?: string,
): Promise<FoundRow | undefined> {
  if (!isId(decisionId, 'dec') || (workspaceId !== undefined && !isId(workspaceId, 'ws'))) return undefined;
  const { rows } = await pool.query<Row & { day: string; digest: string | null }>({
    name: 'find-decision',
    text: `select ${rowColumns}, ${dayOf} as day, encode(archived_in, 'hex') as digest
           from packed_decision d where decision_id = $1 and ($2::uuid is null or workspace_id = $2)`,
    values: [idToUuid(decisionId), workspaceId === undefined ? null : idToUuid(workspaceId)],
  });
  const [row] = rows;
  if (!row) return undefined;
  if (row.digest !== null) return { kind: 'archived', day: row.day, digest: row.digest };
  return (row.packed as Buffer | null) === null ? { kind: 'elsewhere' } : { kind: 'packed', ...toPackedRow(row) };
}

/** The rows of these decisions that were neither moved nor written by a release up to 0.4.0. */
export async function listDecisionRows(pool: Pool, decisionIds: readonly string[]): Promise<readonly PackedRow[]> {
  const { rows } = await pool.query<Row>({
    name: 'list-decisions',
    text: `select ${rowColumns} from packed_decision d where decision_id = any ($1::uuid[]) and packed is not null`,
    values: [decisionIds.map(idToUuid)],
  });
  return rows.map(toPackedRow);
}

const firstUuid = '00000000-0000-0000-0000-000000000000';

/** Decisions of a workspace within a time that were not moved, the newest first, behind a position; at most so many. */
export async function readDecisionRows(
  pool: Pool,
  { workspaceId, from, to, after }: DecisionPosition,
  limit: number,
): Promise<readonly PackedRow[]> {
  const { rows } = await pool.query<Row>({
    name: 'read-decisions',
    text: `select ${rowColumns} from packed_decision d
           where workspace_id = $1 and packed is not null and at >= $2 and at < $3
             and at <= $4 and (at, decision_id) < ($4, $5::uuid)
           order by at desc, decision_id desc limit $6`,
    // The position bounds the index also in a plan for any values, so the first page begins at the end, which no row is at.
    values: [
      ...[idToUuid(workspaceId), from, to],
      ...[after ? new Date(after.atMs) : to, after ? idToUuid(after.decisionId) : firstUuid, limit],
    ],
  });
  return rows.map(toPackedRow);
}

/** Decisions of all workspaces from a time until before another, the oldest first, behind a position; at most so many. */
export async function readDecisionsBetween(
  pool: Pool,
  from: Date,
  to: Date,
  after: { readonly at: Date; readonly decisionId: string } | undefined,
  limit: number,
): Promise<readonly PackedRow[]> {
  const { rows } = await pool.query<Row>({
    name: 'read-decisions-between',
    text: `select ${rowColumns} from packed_decision d
           where packed is not null and at >= $1 and at < $2 and (at, decision_id) > ($1, $3::uuid)
           order by at, decision_id limit $4`,
    values: [after?.at ?? from, to, after ? idToUuid(after.decisionId) : firstUuid, limit],
  });
  return rows.map(toPackedRow);
}

/**
 * Rows of the oldest UTC day before a time, always in the same order; undefined when there is none.
 * @param behind rows up to this one are left out
 */
export async function readOldestDay(
  pool: Pool,
  before: Date,
  maxRows: number,
  behind?: Pick<PackedRow, 'atMs' | 'decisionId'>,
): Promise<{ readonly day: string; readonly rows: readonly PackedRow[] } | undefined> {
  // A decision that is not published yet stays: its publication reads the row.
  const movable = `d.packed is not null and d.at < $1 and ($3::timestamptz is null or (d.at, d.decision_id) > ($3, $4::uuid))
    and d.decision_id not in (select unnest(decision_ids) from announcement_batch)`;
  const { rows } = await pool.query<Row & { day: string }>({
    name: 'read-oldest-decisions',
    text: `with oldest as (select date_trunc('day', d.at, 'UTC') as day from packed_decision d where ${movable} order by d.at limit 1)
           select ${rowColumns}, ${dayOf} as day from oldest, packed_decision d
           where ${movable} and d.at >= oldest.day and d.at < oldest.day + interval '1 day'
           order by d.at, d.decision_id limit $2`,
    values: [before, maxRows, behind && new Date(behind.atMs), behind && idToUuid(behind.decisionId)],
  });
  const [first] = rows;
  return first && { day: first.day, rows: rows.map(toPackedRow) };
}

/** Empties rows that an object of the archive holds, and records its digest. Their ids stay taken. */
export async function markArchived(pool: Pool, decisionIds: readonly string[], digest: string): Promise<void> {
  await pool.query({
    name: 'mark-archived',
    text: `update packed_decision set archived_in = decode($2, 'hex'), packed = null
           where decision_id = any ($1::uuid[]) and packed is not null`,
    values: [decisionIds.map(idToUuid), digest],
  });
}
