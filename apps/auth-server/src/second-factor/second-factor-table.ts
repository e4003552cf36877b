import type { Pool, Transaction } from '@longwave/postgres';
import type { Columns } from '../generated/rows.ts';

/** The codes at sign-in that a person has switched on. */
export interface SecondFactor {
  /** The encrypted secret. */
  readonly sealed: string;
  readonly since: Date;
  /** Recovery codes that have not been used. */
  readonly codesLeft: number;
}

/** The second factor of a person; undefined while it is off. */
export async function findSecondFactor(pool: Pool, userId: string): Promise<SecondFactor | undefined> {
  const { rows } = await pool.query<Columns<'second_factor', 'sealed' | 'since'> & { codes_left: number }>({
    name: 'find_second_factor',
    text: `select sealed, since, (select count(*)::int from recovery_code c where c.user_id = f.user_id) as codes_left
           from second_factor f where user_id = $1`,
    values: [userId],
  });
  const row = rows[0];
  return row && { sealed: row.sealed, since: row.since, codesLeft: row.codes_left };
}

/** Stores a second factor and its recovery codes. Answers false, and changes nothing, for a person who has one. */
export async function insertSecondFactor(
  tx: Transaction,
  userId: string,
  factor: { readonly sealed: string; readonly step: number; readonly codeDigests: readonly string[] },
  now: Date,
): Promise<boolean> {
  const { rowCount } = await tx.query(
    `insert into second_factor (user_id, sealed, last_step, since) values ($1, $2, $3, $4) on conflict do nothing`,
    [userId, factor.sealed, factor.step, now],
  );
  if (rowCount === 0) return false;
  await replaceRecoveryCodes(tx, userId, factor.codeDigests);
  return true;
}

/**
 * Uses a time step of this second factor and those before it up: of two requests with the same code at once, one gets true. Stores the
 * secret as it is sealed now.
 */
export async function takeStep(
  pool: Pool,
  userId: string,
  { since, step, sealed }: { readonly since: Date; readonly step: number; readonly sealed: string },
): Promise<boolean> {
  const { rowCount } = await pool.query(
    'update second_factor set last_step = $3, sealed = $4 where user_id = $1 and since = $2 and last_step < $3',
    [userId, since, step, sealed],
  );
  return rowCount === 1;
}

/** Uses a recovery code up: of two requests at once, one gets true. */
export async function takeRecoveryCode(pool: Pool, userId: string, digest: string): Promise<boolean> {
  const { rowCount } = await pool.query('delete from recovery_code where user_id = $1 and digest = $2', [
    userId,
    digest,
  ]);
  return rowCount === 1;
}

/** Stores recovery codes of a second factor in place of those before. */
export async function replaceRecoveryCodes(tx: Transaction, userId: string, digests: readonly string[]): Promise<void> {
  await tx.query('select from second_factor where user_id = $1 for update', [userId]);
  await tx.query('delete from recovery_code where user_id = $1', [userId]);
  await tx.query(
    `insert into recovery_code (user_id, digest)
     select user_id, unnest($2::text[]) from second_factor where user_id = $1`,
    [userId, digests],
  );
}

/** Switches a second factor off; sign-ins that wait for its code wait in vain. Answers whether it was on. */
export async function deleteSecondFactor(tx: Transaction, userId: string): Promise<boolean> {
  await tx.query('delete from recovery_code where user_id = $1', [userId]);
  const { rowCount } = await tx.query('delete from second_factor where user_id = $1', [userId]);
  return rowCount === 1;
}
