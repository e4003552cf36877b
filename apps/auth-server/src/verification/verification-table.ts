import type { Pool } from '@longwave/postgres';
import type { Columns } from '../generated/rows.ts';

/** Session setting by which this release tells the triggers that it awaits holders after its changes. */
export const awaitsHolders = { 'longwave.awaits_holders': 'on' };

/** The changes that verification obeys, and the holders of leases. */
export interface VerificationChanges {
  /** Of the newest change. */
  readonly position: bigint;
  /** Whose credentials the changes after the known position touch, one for each change that is still recorded; '': every account's. */
  readonly accountIds: readonly string[];
  readonly holderIds: readonly string[];
}

/** Reads the changes after a position; undefined while a session changes something that awaits no holders: then no lease is renewed. */
export async function readChanges(pool: Pool, known: bigint): Promise<VerificationChanges | undefined> {
  const { rows } = await pool.query<{
    readonly position: string;
    readonly account_ids: readonly string[];
    readonly holder_ids: readonly string[];
  }>({ name: 'read_verification_changes', text: 'select * from read_verification_changes($1)', values: [known] });
  const [row] = rows;
  return row && { position: BigInt(row.position), accountIds: row.account_ids, holderIds: row.holder_ids };
}

/** Records that a process holds leases of this length and which changes it has heard of. */
export async function saveHolder(
  pool: Pool,
  { id, acknowledged, leaseMs }: { readonly id: string; readonly acknowledged: bigint; readonly leaseMs: number },
): Promise<void> {
  await pool.query({
    name: 'save_verification_holder',
    text: `insert into verification_holder (id, acknowledged, lease_ms) values ($1, $2, $3)
           on conflict (id) do update set acknowledged = excluded.acknowledged, lease_ms = excluded.lease_ms, expulsion = null`,
    values: [id, acknowledged, leaseMs],
  });
}

/** Removes a process that uses no lease any more. */
export async function deleteHolder(pool: Pool, id: string): Promise<void> {
  await pool.query('delete from verification_holder where id = $1', [id]);
}

/** The position of the newest change, and the holders that have not heard of it. */
export interface HoldersBehind {
  readonly position: bigint;
  readonly holders: readonly {
    readonly acknowledged: bigint;
    readonly leaseMs: number;
    readonly expulsion: string | null;
  }[];
}

/** Without a holder behind, one row tells the position alone. */
type Row = { readonly newest: string; readonly acknowledged: string | null } & Columns<
  'verification_holder',
  'lease_ms' | 'expulsion'
>;

export async function readHoldersBehind(pool: Pool): Promise<HoldersBehind> {
  const { rows } = await pool.query<Row>({
    name: 'read_verification_holders_behind',
    text: `select newest, acknowledged, lease_ms, expulsion
           from (select coalesce((select position from verification_position where id = 1), 0) as newest) as change
           left join verification_holder on acknowledged < newest`,
  });
  const holders = rows.flatMap(({ acknowledged, lease_ms: leaseMs, expulsion }) =>
    acknowledged === null ? [] : [{ acknowledged: BigInt(acknowledged), leaseMs, expulsion }],
  );
  return { position: BigInt(rows[0]?.newest ?? 0), holders };
}

/**
 * Expels the holders that are behind a position: they get no lease before they register again. Removes those of the given expulsions,
 * whose last lease has ended since.
 */
export async function expelHolders(pool: Pool, position: bigint, endedExpulsions: readonly string[]): Promise<void> {
  await pool.query('delete from verification_holder where expulsion = any($1)', [endedExpulsions]);
  await pool.query(
    `update verification_holder set expulsion = gen_random_uuid()::text where acknowledged < $1 and expulsion is null`,
    [position],
  );
}

/** Removes changes that every process has heard of long ago. Answers how many. */
export async function removeOldChanges(pool: Pool, maxRows: number): Promise<number> {
  const { rowCount } = await pool.query(
    `delete from verification_change where position in (
       select position from verification_change where at < now() - interval '5 minutes' order by position limit $1)`,
    [maxRows],
  );
  return rowCount ?? 0;
}
