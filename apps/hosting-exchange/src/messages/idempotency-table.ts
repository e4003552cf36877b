import type { Pool, Transaction } from '@longwave/postgres';
import type { Columns } from '../generated/rows.ts';

/** The name that a client gives a write of one kind. */
export interface WriteKey {
  readonly clientId: string;
  readonly workspaceId: string;
  readonly operation: string;
  readonly key: string;
}

/** A write under its key; without an answer while it is under way, or after a crash before its answer. */
export type IdempotencyRecord = Columns<'idempotency_record', 'digest' | 'status' | 'answer'>;

const named = ({ clientId, workspaceId, operation, key }: WriteKey) => [clientId, workspaceId, operation, key];

export async function findRecord(
  db: Pick<Pool, 'query'> | Transaction,
  write: WriteKey,
): Promise<IdempotencyRecord | undefined> {
  const { rows } = await db.query<IdempotencyRecord>({
    name: 'find_record',
    text: `select digest, status, answer from idempotency_record
           where client_id = $1 and workspace_id = $2 and operation = $3 and key = $4`,
    values: named(write),
  });
  return rows[0];
}

/** Takes the key for a payload, and answers the record that holds it: another digest than this one belongs to another payload. */
export async function claimKey(
  db: Pick<Pool, 'query'> | Transaction,
  write: WriteKey,
  digest: string,
): Promise<IdempotencyRecord> {
  const { rows } = await db.query<IdempotencyRecord>({
    name: 'claim_key',
    text: `insert into idempotency_record (client_id, workspace_id, operation, key, digest) values ($1, $2, $3, $4, $5)
           on conflict (client_id, workspace_id, operation, key) do update set key = excluded.key
           returning digest, status, answer`,
    values: [...named(write), digest],
  });
  return rows[0]!;
}

/** Gives a key back whose write was refused, so that the corrected one may have it. */
export async function releaseKey(db: Pick<Pool, 'query'>, write: WriteKey): Promise<void> {
  await db.query({
    name: 'release_key',
    text: `delete from idempotency_record
           where client_id = $1 and workspace_id = $2 and operation = $3 and key = $4 and answer is null`,
    values: named(write),
  });
}

/** Keeps the first answer under its key. */
export async function keepAnswer(
  db: Pick<Pool, 'query'> | Transaction,
  write: WriteKey,
  { status, body }: { readonly status: number; readonly body: string },
): Promise<void> {
  await db.query({
    name: 'keep_answer',
    text: `update idempotency_record set status = $5, answer = $6
           where client_id = $1 and workspace_id = $2 and operation = $3 and key = $4 and answer is null`,
    values: [...named(write), status, body],
  });
}

/** Removes up to `maxRows` records that are older than a time; answers how many. */
export async function removeRecords(pool: Pool, before: Date, maxRows: number): Promise<number> {
  const { rowCount } = await pool.query({
    name: 'remove_records',
    text: `delete from idempotency_record where ctid = any(array(
             select ctid from idempotency_record where created_at < $1 order by created_at limit $2))`,
    values: [before, maxRows],
  });
  return rowCount ?? 0;
}
