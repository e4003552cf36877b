import type { Pool, Transaction } from '@longwave/postgres';
import type { Columns } from '../../generated/rows.ts';

export interface EncodingBalance {
  /** Undefined while the plan is not known yet, null when unlimited. */
  readonly limitMs: number | null | undefined;
  readonly reservedMs: number;
  readonly usedMs: number;
}

/** The UTC month of a balance: "2026-11". */
export const encodingMonth = (now: Date): string => now.toISOString().slice(0, 7);

/** Locks the month's balance of a workspace, so that two starts at once are decided one after the other. */
export async function lockBalance(tx: Transaction, workspaceId: string, month: string): Promise<EncodingBalance> {
  const { rows } = await tx.query<Columns<'encoding_balance', 'reserved_ms' | 'used_ms'>>({
    name: 'lock_balance',
    text: `insert into encoding_balance (workspace_id, month) values ($1, $2)
           on conflict (workspace_id, month) do update set month = excluded.month returning reserved_ms, used_ms`,
    values: [workspaceId, month],
  });
  const limit = await tx.query<Columns<'encoding_limit', 'ms_per_month'>>({
    name: 'read_encoding_limit',
    text: 'select ms_per_month from encoding_limit where workspace_id = $1',
    values: [workspaceId],
  });
  const stored = limit.rows[0]?.ms_per_month;
  return {
    limitMs: stored === undefined || stored === null ? stored : Number(stored),
    reservedMs: Number(rows[0]!.reserved_ms),
    usedMs: Number(rows[0]!.used_ms),
  };
}

/** Adds to the month's reserved and used time; a negative amount takes back what was added before. */
export async function moveBalance(
  tx: Transaction,
  workspaceId: string,
  month: string,
  change: { readonly reservedMs: number; readonly usedMs: number },
): Promise<void> {
  await tx.query({
    name: 'move_balance',
    text: 'update encoding_balance set reserved_ms = reserved_ms + $3, used_ms = used_ms + $4 where workspace_id = $1 and month = $2',
    values: [workspaceId, month, change.reservedMs, change.usedMs],
  });
}

/** The encoding time of a workspace in the current UTC month. */
export async function readEncodingTime(
  pool: Pool,
  workspaceId: string,
  now: Date,
): Promise<EncodingBalance & { readonly month: string }> {
  const month = encodingMonth(now);
  const { rows } = await pool.query<
    Columns<'encoding_balance', 'reserved_ms' | 'used_ms'> & { known: boolean; limit_ms: string | null }
  >({
    name: 'read_encoding_time',
    text: `select l.workspace_id is not null as known, l.ms_per_month as limit_ms,
                  coalesce(b.reserved_ms, 0) as reserved_ms, coalesce(b.used_ms, 0) as used_ms
           from (select $1::text as workspace_id) w
           left join encoding_limit l on l.workspace_id = w.workspace_id
           left join encoding_balance b on b.workspace_id = w.workspace_id and b.month = $2`,
    values: [workspaceId, month],
  });
  const { known, limit_ms: limit, reserved_ms: reserved, used_ms: used } = rows[0]!;
  return {
    month,
    limitMs: known ? (limit === null ? null : Number(limit)) : undefined,
    reservedMs: Number(reserved),
    usedMs: Number(used),
  };
}

/** Saves a plan's limit from an account event; an older event never overwrites a newer one. */
export async function saveEncodingLimit(
  pool: Pool,
  workspaceId: string,
  msPerMonth: number | null,
  accountVersion: number,
): Promise<void> {
  await pool.query({
    name: 'save_encoding_limit',
    text: `insert into encoding_limit (workspace_id, ms_per_month, account_version) values ($1, $2, $3)
           on conflict (workspace_id) do update set ms_per_month = excluded.ms_per_month, account_version = excluded.account_version
           where encoding_limit.account_version < excluded.account_version`,
    values: [workspaceId, msPerMonth, accountVersion],
  });
}
