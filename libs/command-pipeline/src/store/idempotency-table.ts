import type { Pool, Transaction } from '@longwave/postgres';
import type { Columns } from '../generated/rows.ts';

export interface IdempotencyScope {
  readonly clientId: string;
  readonly workspaceId: string;
  readonly commandType: string;
  readonly key: string;
}

export type IdempotencyRecord = Readonly<
  Columns<'idempotency_record', 'digest' | 'unversioned_digest' | 'operation_id' | 'status' | 'answer'>
>;

/** The record of a key; none when the key is free. */
export async function findIdempotencyRecords(pool: Pool, scope: IdempotencyScope): Promise<IdempotencyRecord[]> {
  const { rows } = await pool.query<IdempotencyRecord>({
    name: 'find_idempotency_record',
    text: 'select digest, unversioned_digest, operation_id, status, answer from idempotency_record where client_id = $1 and workspace_id = $2 and command_type = $3 and key = $4',
    values: [scope.clientId, scope.workspaceId, scope.commandType, scope.key],
  });
  return rows;
}

/**
 * Claims a key inside the command's transaction. False when another command holds it; waits for one that still runs,
 * at most `lock_timeout`.
 */
export async function claimKey(
  tx: Transaction,
  scope: IdempotencyScope,
  { payloadDigest, unversionedDigest }: { readonly payloadDigest: string; readonly unversionedDigest: string },
  operationId: string,
  now: Date,
): Promise<boolean> {
  const { rowCount } = await tx.query({
    name: 'claim_idempotency_key',
    text: `insert into idempotency_record (client_id, workspace_id, command_type, key, digest, operation_id, status, answer, created_at, unversioned_digest)
           values ($1, $2, $3, $4, $5, $6, 0, '', $7, $8) on conflict do nothing`,
    values: [
      scope.clientId,
      scope.workspaceId,
      scope.commandType,
      scope.key,
      payloadDigest,
      operationId,
      now,
      unversionedDigest,
    ],
  });
  return rowCount === 1;
}
