import { createHmac, randomBytes } from 'node:crypto';
import type { Pool } from '@longwave/postgres';
import type { Columns } from '../generated/rows.ts';

const codeBytes = 6;
/** Plays of the month before are still sampled at the beginning of a month. */
const keptDays = 2;

/** The UTC month of a time, YYYY-MM. */
export const monthOf = (at: Date): string => at.toISOString().slice(0, 7);

/** The secret of a month, made when it is first asked for. */
export async function findOrMakeSecret(pool: Pool, month: string): Promise<Buffer> {
  const { rows } = await pool.query<Columns<'sample_secret', 'secret', { secret: Buffer }>>({
    name: 'make-sample-secret',
    text: `insert into sample_secret (month, secret) values ($1, $2)
           on conflict (month) do update set month = excluded.month returning secret`,
    values: [month, randomBytes(32)],
  });
  return rows[0]!.secret;
}

/** The secrets that were not destroyed yet. */
export async function listSecrets(pool: Pool): Promise<readonly Buffer[]> {
  const { rows } = await pool.query<Columns<'sample_secret', 'secret', { secret: Buffer }>>({
    name: 'list-sample-secrets',
    text: 'select secret from sample_secret',
  });
  return rows.map((row) => row.secret);
}

/** Destroys the secrets of months that ended two days ago: nobody can compute a code of them again. */
export async function destroySecrets(pool: Pool, now: Date): Promise<number> {
  const { rowCount } = await pool.query({
    name: 'destroy-sample-secrets',
    text: 'delete from sample_secret where month < $1',
    values: [monthOf(new Date(now.getTime() - keptDays * 86_400_000))],
  });
  return rowCount ?? 0;
}

/** What plays of one listener in one month have in common. @param bucket of the listener, 16 bytes in hex */
export const listenerCode = (secret: Buffer, bucket: string): Buffer =>
  createHmac('sha256', secret).update(bucket, 'hex').digest().subarray(0, codeBytes);
