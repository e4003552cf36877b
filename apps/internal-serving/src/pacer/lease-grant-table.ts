import { transaction, type Pool } from '@longwave/postgres';
import { underTerm } from './pacer-term-table.ts';

/** Where a node's slots of goals come from, and what it was asked for, as its row says. */
export interface LiveNode {
  readonly nodeEpoch: number;
  readonly mode: string;
  /** Slots of each line item that were asked for since it began; line items without plays lately may be absent. */
  readonly asked: ReadonlyMap<string, number>;
}

/** A lease that is not counted as closed. */
export interface LeaseRow {
  readonly nodeEpoch: number;
  readonly lineItemId: string;
  readonly granted: number;
  readonly used: number;
}

/** The mode, and the nodes that are not closed. */
export interface ServingNodes {
  readonly mode: 'guard' | 'lease';
  readonly wanted: 'guard' | 'lease';
  readonly live: readonly LiveNode[];
  /** Registered, and not seen for 15 seconds. */
  readonly silent: readonly number[];
}

/** Leases that are not counted as closed, by line item. */
export type LeasesByLine = ReadonlyMap<string, readonly LeaseRow[]>;

/** A node that was not seen for so long is closed. */
const silentSeconds = 15;
/** Rows of one statement: a node waits for no more of them. */
const maxRows = 2_000;

function* inParts<T>(rows: readonly T[]): Generator<readonly T[]> {
  for (let from = 0; from < rows.length; from += maxRows) yield rows.slice(from, from + maxRows);
}

/** A row of 2,000 line items each second is not worth a schema: it is this service's own, and one that is not as it should be says nothing. */
function askedOf(demand: Readonly<Record<string, { readonly asked?: unknown } | null>>): ReadonlyMap<string, number> {
  const asked = new Map<string, number>();
  for (const lineItemId in demand) {
    const slots = demand[lineItemId]?.asked;
    if (typeof slots === 'number' && slots >= 0) asked.set(lineItemId, slots);
  }
  return asked;
}

/** The database's time, in ms. */
export async function readDatabaseTime(pool: Pool): Promise<number> {
  const { rows } = await pool.query<{ now_ms: number }>({
    name: 'pacer-now',
    text: 'select (extract(epoch from now()) * 1000)::float8 as now_ms',
  });
  return rows[0]!.now_ms;
}

/** The mode, and what the nodes report. */
export async function readServingNodes(pool: Pool): Promise<ServingNodes> {
  const [mode, nodes] = await Promise.all([
    pool.query<Pick<ServingNodes, 'mode' | 'wanted'>>({
      name: 'pacer-mode',
      text: 'select mode, wanted from serving_mode',
    }),
    pool.query<{ node_epoch: number; mode: string; demand: Parameters<typeof askedOf>[0]; is_silent: boolean }>({
      name: 'pacer-nodes',
      text: `select node_epoch::float8, mode, demand, seen_at < now() - make_interval(secs => ${silentSeconds}) as is_silent
             from serving_node where closed_at is null order by node_epoch`,
    }),
  ]);
  return {
    ...mode.rows[0]!,
    live: nodes.rows
      .filter((row) => !row.is_silent)
      .map((row) => ({ nodeEpoch: row.node_epoch, mode: row.mode, asked: askedOf(row.demand) })),
    silent: nodes.rows.filter((row) => row.is_silent).map((row) => row.node_epoch),
  };
}

/** Lists come as text: a row per lease costs the pacer more than everything else that it does with it. */
const splitNumbers = (text: string): readonly number[] => text.split(',').map(Number);

const leaseLists = `select node_epoch::float8, string_agg(line_item_id, ',') as ids, string_agg(granted::text, ',') as granted,
  string_agg(used::text, ',') as used from quota_lease where not counted`;

/**
 * The leases of these line items; undefined: of all.
 * @param turn called between the nodes
 */
export async function readLeasesOf(
  pool: Pool,
  turn: () => Promise<void>,
  lineItemIds?: readonly string[],
): Promise<LeasesByLine> {
  const { rows } = await pool.query<{ node_epoch: number; ids: string; granted: string; used: string }>(
    lineItemIds === undefined
      ? { name: 'pacer-leases', text: `${leaseLists} group by node_epoch` }
      : {
          name: 'pacer-leases-of',
          text: `${leaseLists} and line_item_id = any ($1::text[]) group by node_epoch`,
          values: [lineItemIds],
        },
  );
  const byLine = new Map<string, LeaseRow[]>();
  for (const row of rows) {
    const [granted, used] = [splitNumbers(row.granted), splitNumbers(row.used)];
    row.ids.split(',').forEach((lineItemId, at) => {
      const lease = { nodeEpoch: row.node_epoch, lineItemId, granted: granted[at]!, used: used[at]! };
      const others = byLine.get(lineItemId);
      if (others) others.push(lease);
      else byLine.set(lineItemId, [lease]);
    });
    await turn();
  }
  return byLine;
}

/** A change of a lease; `known` is what it had been granted when that was decided. */
export interface Grant {
  readonly nodeEpoch: number;
  readonly lineItemId: string;
  readonly known: number;
  readonly granted: number;
  readonly ratePerS: number;
  readonly burst: number;
}

const columns = (grants: readonly Grant[]) => [
  grants.map((one) => one.nodeEpoch),
  grants.map((one) => one.lineItemId),
  grants.map((one) => one.known),
  grants.map((one) => one.granted),
  grants.map((one) => one.ratePerS),
  grants.map((one) => one.burst),
];

/** SQL: the arguments of `columns`, from $2 on. */
const given = `given as (
    select * from unnest($2::bigint[], $3::text[], $4::bigint[], $5::bigint[], $6::float8[], $7::int[])
      as one (node_epoch, line_item_id, known, granted, rate_per_s, burst))`;

/** SQL: the rows of the given leases, locked in the order in which nodes lock theirs. */
const held = (condition: string) => `held as (
    select g.* from given g join quota_lease l using (node_epoch, line_item_id), term
    where not l.closed and ${condition} order by node_epoch, line_item_id for update of l)`;

/** Lowers leases, none below what its row says is used by then; answers the rows as they are afterwards. */
export async function lowerLeases(pool: Pool, term: number, grants: readonly Grant[]): Promise<readonly LeaseRow[]> {
  const lowered: LeaseRow[] = [];
  for (const batch of inParts(grants)) {
    const { rows } = await pool.query<{ node_epoch: number; line_item_id: string; granted: number; used: number }>({
      name: 'pacer-lower',
      text: `${underTerm}, ${given}, ${held('l.granted > g.granted')}
             update quota_lease l set granted = least(l.granted, greatest(l.used, held.granted)), rate_per_s = held.rate_per_s,
               burst = held.burst, revised_at = now()
             from held where l.node_epoch = held.node_epoch and l.line_item_id = held.line_item_id
             returning l.node_epoch::float8, l.line_item_id, l.granted::float8, l.used::float8`,
      values: [term, ...columns(batch)],
    });
    for (const row of rows)
      lowered.push({
        nodeEpoch: row.node_epoch,
        lineItemId: row.line_item_id,
        granted: row.granted,
        used: row.used,
      });
  }
  return lowered;
}

/** Raises leases that still have what they had been granted, or changes their buckets. A statement that runs twice changes nothing the second time. */
export async function raiseLeases(pool: Pool, term: number, grants: readonly Grant[]): Promise<void> {
  for (const batch of inParts(grants))
    await pool.query({
      name: 'pacer-raise',
      text: `${underTerm}, ${given}, ${held('l.granted = g.known')}
             update quota_lease l set granted = held.granted, rate_per_s = held.rate_per_s, burst = held.burst, revised_at = now()
             from held where l.node_epoch = held.node_epoch and l.line_item_id = held.line_item_id`,
      values: [term, ...columns(batch)],
    });
}

/** Opens leases of nodes that live. One that was closed and counted begins anew. */
export async function openLeases(
  pool: Pool,
  term: number,
  grants: readonly (Grant & { readonly workspaceId: string })[],
): Promise<void> {
  for (const batch of inParts(grants))
    await pool.query({
      name: 'pacer-open',
      text: `${underTerm}, given as (
               select * from unnest($2::bigint[], $3::text[], $4::bigint[], $5::float8[], $6::int[], $7::text[])
                 as one (node_epoch, line_item_id, granted, rate_per_s, burst, workspace_id))
             insert into quota_lease as l (node_epoch, line_item_id, workspace_id, granted, rate_per_s, burst)
             select g.node_epoch, g.line_item_id, g.workspace_id, g.granted, g.rate_per_s, g.burst
             from term, given g join serving_node n on n.node_epoch = g.node_epoch and n.closed_at is null
             order by g.node_epoch, g.line_item_id
             on conflict (node_epoch, line_item_id) do update set granted = excluded.granted, used = 0, rate_per_s = excluded.rate_per_s,
               burst = excluded.burst, revised_at = now(), closed = false, counted = false
             where l.counted`,
      values: [
        term,
        batch.map((one) => one.nodeEpoch),
        batch.map((one) => one.lineItemId),
        batch.map((one) => one.granted),
        batch.map((one) => one.ratePerS),
        batch.map((one) => one.burst),
        batch.map((one) => one.workspaceId),
      ],
    });
}

/** Removes leases that were closed and counted an hour ago; answers how many. */
export async function removeClosedLeases(pool: Pool, maxRemoved: number): Promise<number> {
  const { rowCount } = await pool.query(
    `delete from quota_lease where (node_epoch, line_item_id) in (
       select node_epoch, line_item_id from quota_lease
       where counted and revised_at < now() - interval '1 hour' limit $1 for update skip locked)`,
    [maxRemoved],
  );
  return rowCount ?? 0;
}

/** What is to be closed: whole nodes, and line items at every node. */
export interface Closing {
  readonly silent: readonly number[];
  /** Nodes that were closed before. */
  readonly gone: readonly number[];
  readonly lineItemIds: readonly string[];
}

/**
 * Closes leases and counts what they used, each once, in one transaction; answers the counts of closed leases that changed. A node that
 * was seen meanwhile stays open.
 */
export async function closeLeases(
  pool: Pool,
  term: number,
  { silent, gone, lineItemIds }: Closing,
): Promise<ReadonlyMap<string, number>> {
  return transaction(pool, async (tx) => {
    const { rows: closed } = await tx.query<{ node_epoch: number }>(
      `${underTerm}
       update serving_node set closed_at = now() from term
       where node_epoch = any ($2::bigint[]) and closed_at is null and seen_at < now() - make_interval(secs => ${silentSeconds})
       returning node_epoch::float8`,
      [term, silent],
    );
    const nodes = [...gone, ...closed.map((row) => row.node_epoch)];
    const { rows } = await tx.query<{ line_item_id: string; closed_used: number }>(
      `${underTerm}, held as (
         select l.node_epoch, l.line_item_id from quota_lease l, term
         where not l.counted and (l.node_epoch = any ($2::bigint[]) or l.line_item_id = any ($3::text[]))
         order by l.node_epoch, l.line_item_id for update of l),
       done as (
         update quota_lease l set granted = l.used, closed = true, counted = true, revised_at = now()
         from held where l.node_epoch = held.node_epoch and l.line_item_id = held.line_item_id
         returning l.line_item_id, l.used),
       sums as (select line_item_id, sum(used) as used from done group by line_item_id)
       update line_pacing p set closed_used = p.closed_used + sums.used
       from sums where p.line_item_id = sums.line_item_id
       returning p.line_item_id, p.closed_used::float8`,
      [term, nodes, lineItemIds],
    );
    return new Map(rows.map((row) => [row.line_item_id, row.closed_used]));
  });
}
