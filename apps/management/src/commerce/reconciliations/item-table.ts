import type { Pool, Transaction } from '@longwave/postgres';
import type { Columns } from '../../generated/rows.ts';

type Named = 'source' | 'line_item_id' | 'creative_id' | 'day' | 'ours_basis' | 'theirs_basis' | 'ambiguity' | 'beyond';

/** An item as the matching makes it; `day` is a date in the zone of the source, null for the whole period. */
export type NewItem = Readonly<Columns<'reconciliation_item', 'item_id' | Named>> & {
  readonly ours: number;
  readonly theirs: number;
  /** Units of ours whose servings the source names; null where it names none. */
  readonly matched: number | null;
  readonly verdict: 'ours' | null;
};

/** An item with its verdict. Units are safe integers. */
export type StoredItem = Readonly<
  Columns<'reconciliation_item', 'item_id' | 'position' | 'verdict' | 'note' | 'decided_by' | 'changed_version' | Named>
> & {
  readonly ours: number;
  readonly theirs: number;
  readonly matched: number | null;
  /** Of the verdict agreed_value. */
  readonly value: number | null;
  readonly adjusted: number | null;
};

const columns = `item_id, position, source, line_item_id, creative_id, day, ours::float8 as ours, theirs::float8 as theirs, matched::float8 as matched, ours_basis,
  theirs_basis, ambiguity, beyond, verdict, value::float8 as value, note, decided_by, changed_version,
  adjusted::float8 as adjusted`;

/** Makes commands about the reconciliations of a workspace wait for each other until the transaction ends. */
export async function lockReconciliations(tx: Transaction, workspaceId: string): Promise<void> {
  await tx.query({
    name: 'lock_reconciliations',
    text: `select pg_advisory_xact_lock(hashtextextended($1, 5))`,
    values: [workspaceId],
  });
}

const batchRows = 5_000;

/** Removes the items of a reconciliation. */
export async function removeItems(tx: Transaction, reconciliationId: string): Promise<void> {
  await tx.query({
    name: 'remove_reconciliation_items',
    text: 'delete from reconciliation_item where reconciliation_id = $1',
    values: [reconciliationId],
  });
}

/**
 * Replaces the items of a reconciliation; the order of the items is that of its list.
 * @param about.version of the reconciliation while it is matched
 */
export async function replaceItems(
  tx: Transaction,
  about: { readonly workspaceId: string; readonly reconciliationId: string; readonly version: number },
  items: readonly NewItem[],
): Promise<void> {
  const { workspaceId, reconciliationId, version } = about;
  await removeItems(tx, reconciliationId);
  for (let first = 0; first < items.length; first += batchRows) {
    const rows = items.slice(first, first + batchRows).map((item, index) => ({ ...item, position: first + index + 1 }));
    await tx.query({
      name: 'insert_reconciliation_items',
      text: `insert into reconciliation_item (reconciliation_id, workspace_id, item_id, position, source, line_item_id, creative_id, day,
               ours, theirs, matched, ours_basis, theirs_basis, ambiguity, beyond, verdict, changed_version)
             select $1, $2, item_id, position, source, line_item_id, creative_id, day, ours, theirs, matched, ours_basis, theirs_basis, ambiguity,
               beyond, verdict, $4
             from json_to_recordset($3::json) as i (item_id text, position int, source text, line_item_id text, creative_id text, day text,
               ours bigint, theirs bigint, matched bigint, ours_basis text, theirs_basis text, ambiguity text, beyond boolean, verdict text)`,
      values: [reconciliationId, workspaceId, JSON.stringify(rows), version],
    });
  }
}

/** An item, locked until the transaction ends; undefined when there is none. */
export async function lockItem(
  tx: Transaction,
  reconciliationId: string,
  itemId: string,
): Promise<StoredItem | undefined> {
  const { rows } = await tx.query<StoredItem>({
    name: 'lock_reconciliation_item',
    text: `select ${columns} from reconciliation_item where reconciliation_id = $1 and item_id = $2 for update`,
    values: [reconciliationId, itemId],
  });
  return rows[0];
}

/** The source of another item that covers some of the same servings and was not decided as ours; undefined when there is none. */
export async function findOtherSource(
  tx: Transaction,
  reconciliationId: string,
  item: Pick<StoredItem, 'source' | 'line_item_id' | 'creative_id' | 'day'>,
): Promise<string | undefined> {
  const { rows } = await tx.query<Columns<'reconciliation_item', 'source'>>({
    name: 'find_other_source',
    text: `select source from reconciliation_item
           where reconciliation_id = $1 and source <> $2 and line_item_id = $3 and verdict in ('theirs', 'agreed_value')
             and ($4::text is null or creative_id is null or creative_id = $4) and ($5::text is null or day is null or day = $5)
           limit 1`,
    values: [reconciliationId, item.source, item.line_item_id, item.creative_id, item.day],
  });
  return rows[0]?.source;
}

/** How many items without a verdict are beyond the tolerance, or have one of these ambiguities. */
export async function countUndecided(
  tx: Transaction,
  reconciliationId: string,
  ambiguities: readonly string[],
): Promise<number> {
  const { rows } = await tx.query<{ readonly count: number }>({
    name: 'count_undecided_items',
    text: `select count(*)::int as count from reconciliation_item
           where reconciliation_id = $1 and verdict is null and (beyond or ambiguity = any($2))`,
    values: [reconciliationId, ambiguities],
  });
  return rows[0]!.count;
}

/** Saves the verdict of a person. */
export async function saveVerdict(
  tx: Transaction,
  reconciliationId: string,
  itemId: string,
  decided: {
    readonly verdict: string;
    readonly value: number | undefined;
    readonly note: string;
    readonly decidedBy: string;
    /** Of the reconciliation. */
    readonly version: number;
  },
): Promise<void> {
  const { verdict, value, note, decidedBy, version } = decided;
  await tx.query({
    name: 'save_reconciliation_verdict',
    text: `update reconciliation_item set verdict = $3, value = $4, note = $5, decided_by = $6, changed_version = $7
           where reconciliation_id = $1 and item_id = $2`,
    values: [reconciliationId, itemId, verdict, value ?? null, note, decidedBy, version],
  });
}

/** The people who have decided items, each once. */
export async function listDeciders(tx: Transaction, reconciliationId: string): Promise<readonly string[]> {
  const { rows } = await tx.query<{ readonly decided_by: string }>({
    name: 'list_reconciliation_deciders',
    text: 'select distinct decided_by from reconciliation_item where reconciliation_id = $1 and decided_by is not null',
    values: [reconciliationId],
  });
  return rows.map((row) => row.decided_by);
}

/** A page of items. */
interface ItemPage {
  /** Position of the item before it. */
  readonly after: number;
  readonly limit: number;
  /** Only those without a verdict, of one source, or of one line item. */
  readonly undecided?: boolean | undefined;
  readonly source?: string | undefined;
  readonly lineItemId?: string | undefined;
}

export type ListReconciliationItems = (reconciliationId: string, page: ItemPage) => Promise<readonly StoredItem[]>;

/** Lists the items of a reconciliation by their positions. */
export const createListItems =
  (pool: Pool): ListReconciliationItems =>
  async (reconciliationId, { after, limit, undecided = false, source = null, lineItemId = null }) => {
    const { rows } = await pool.query<StoredItem>({
      name: 'list_reconciliation_items',
      text: `select ${columns} from reconciliation_item
             where reconciliation_id = $1 and position > $2 and (not $4 or verdict is null) and ($5::text is null or source = $5)
               and ($6::text is null or line_item_id = $6)
             order by position limit $3`,
      values: [reconciliationId, after, limit, undecided, source, lineItemId],
    });
    return rows;
  };

/** The items that were decided otherwise than as ours, in the order of their ids. */
export async function listAdjustedItems(pool: Pool, reconciliationId: string): Promise<readonly StoredItem[]> {
  const { rows } = await pool.query<StoredItem>({
    name: 'list_adjusted_items',
    text: `select ${columns} from reconciliation_item
           where reconciliation_id = $1 and verdict in ('theirs', 'agreed_value') order by item_id`,
    values: [reconciliationId],
  });
  return rows;
}

/** A source that differs from us about a line item, beyond the tolerance and undecided. */
export interface Discrepancy {
  readonly lineItemId: string;
  readonly reconciliationId: string;
  readonly source: string;
  readonly days: number;
  readonly ours: number;
  readonly theirs: number;
}

/** A source must differ on so many days. */
const leastDays = 3;

/** Workspaces that have, or once had, a reconciliation. */
export async function listReconcilingWorkspaces(pool: Pool): Promise<readonly string[]> {
  const { rows } = await pool.query<Columns<'resource', 'workspace_id'>>({
    name: 'list_reconciling_workspaces',
    text: `select distinct workspace_id from resource where resource_type = 'reconciliations'`,
  });
  return rows.map((row) => row.workspace_id);
}

/** The reconciliations that wait for verdicts. Whatever changes their items changes their version. */
export async function listInReview(
  pool: Pool,
): Promise<readonly Columns<'resource', 'id' | 'workspace_id' | 'version'>[]> {
  const { rows } = await pool.query<Columns<'resource', 'id' | 'workspace_id' | 'version'>>({
    name: 'list_reconciliations_in_review',
    text: `select id, workspace_id, version from resource where resource_type = 'reconciliations' and lifecycle_state = 'review'
           order by workspace_id, id`,
  });
  return rows;
}

/**
 * The line items about which a source of a reconciliation differs on three days at least, each with the source that differs most, in the order
 * of their ids. An item of a whole period has the days of that.
 */
export async function listDiscrepancies(pool: Pool, reconciliationId: string): Promise<readonly Discrepancy[]> {
  const { rows } = await pool.query<Discrepancy>({
    name: 'list_discrepancies',
    text: `with differing as (
             select i.line_item_id as "lineItemId", i.reconciliation_id as "reconciliationId", i.source,
               case when bool_or(i.day is null) then max(d.days) else count(distinct i.day)::int end as days,
               sum(i.ours)::float8 as ours, sum(i.theirs)::float8 as theirs
             from resource r join reconciliation_item i on i.reconciliation_id = r.id,
               lateral (select round(extract(epoch from instant_of(r.attributes #>> '{period,end}')
                 - instant_of(r.attributes #>> '{period,start}')) / 86400)::int as days) d
             where r.id = $1 and i.beyond and i.verdict is null
             group by i.line_item_id, i.reconciliation_id, i.source)
           select distinct on ("lineItemId") * from differing where days >= $2
           order by "lineItemId", abs(ours - theirs) desc, source`,
    values: [reconciliationId, leastDays],
  });
  return rows;
}

/** What closed reconciliations have added to a line item, or taken from it; no day: on the last one of the period. */
interface PostedAdjustment {
  readonly lineItemId: string;
  readonly basis: string;
  readonly day: string | null;
  readonly quantity: number;
  readonly period: { readonly start: string; readonly end: string };
  readonly timeZone: string;
  /** Of `day`; null: that of the reconciliation. */
  readonly sourceZone: string | null;
}

/** What other closed reconciliations have posted for line items whose period overlaps in any zone. */
export async function listPosted(
  pool: Pool,
  about: {
    readonly workspaceId: string;
    readonly period: { readonly start: string; readonly end: string };
    readonly lineItemIds: readonly string[];
    /** Its own are left out. */
    readonly but: string;
  },
): Promise<readonly PostedAdjustment[]> {
  const { rows } = await pool.query<PostedAdjustment>({
    name: 'list_posted_adjustments',
    text: `select i.line_item_id as "lineItemId", i.ours_basis as basis, i.day, i.adjusted::float8 as quantity, r.attributes -> 'period' as period,
             r.attributes ->> 'time_zone' as "timeZone",
             (select s ->> 'time_zone' from jsonb_array_elements(r.attributes -> 'sources') s where s ->> 'name' = i.source) as "sourceZone"
           from resource r join reconciliation_item i on i.reconciliation_id = r.id
           where r.workspace_id = $1 and r.resource_type = 'reconciliations' and r.lifecycle_state = 'closed' and r.id <> $2
             and instant_of(r.attributes #>> '{period,start}') < $4::timestamptz + interval '2 days'
             and instant_of(r.attributes #>> '{period,end}') > $3::timestamptz - interval '2 days'
             and i.line_item_id = any($5) and i.adjusted is not null
           order by r.id, i.item_id`,
    values: [about.workspaceId, about.but, about.period.start, about.period.end, about.lineItemIds],
  });
  return rows;
}

/** Saves what closing posts for items. */
export async function saveAdjusted(
  tx: Transaction,
  reconciliationId: string,
  adjusted: readonly { readonly item_id: string; readonly quantity: number }[],
): Promise<void> {
  await tx.query({
    name: 'save_adjusted_items',
    text: `update reconciliation_item i set adjusted = a.quantity
           from json_to_recordset($2::json) as a (item_id text, quantity bigint)
           where i.reconciliation_id = $1 and i.item_id = a.item_id`,
    values: [reconciliationId, JSON.stringify(adjusted)],
  });
}
