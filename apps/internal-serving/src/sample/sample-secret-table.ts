import { createHmac, randomBytes } from 'node:crypto';
import { transaction, type Pool } from '@longwave/postgres';
import type { Columns } from '../generated/rows.ts';
import { blankCodes } from './play-sample-table.ts';

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

/**
 * Ends months that were over two days ago: blanks their codes, which an erasure could not find any more, and then destroys their secret,
 * so that nobody can compute one again.
 * @returns how many hours of the sample had codes; while that is `maxRows` there may be more
 */
export const destroySecrets = (pool: Pool, now: Date, maxRows: number): Promise<number> =>
  transaction(pool, async (tx) => {
    const { rows } = await tx.query<Columns<'sample_secret', 'month'>>({
      name: 'lock-ended-secrets',
      text: 'select month from sample_secret where month < $1 order by month for update',
      values: [monthOf(new Date(now.getTime() - keptDays * 86_400_000))],
    });
    const last = rows.at(-1)?.month;
    if (last === undefined) return 0;
    const blanked = await blankCodes(tx, endOf(last), maxRows);
    if (blanked < maxRows)
      await tx.query({
        name: 'destroy-sample-secrets',
        text: 'delete from sample_secret where month <= $1',
        values: [last],
      });
    return blanked;
  });

const endOf = (month: string) => new Date(Date.UTC(Number(month.slice(0, 4)), Number(month.slice(5))));

/**
 * What plays of one listener in one workspace and month have in common.
 * @param listener.bucket 16 bytes in hex
 */
export const listenerCode = (
  secret: Buffer,
  { workspaceId, bucket }: { readonly workspaceId: string; readonly bucket: string },
): Buffer =>
  createHmac('sha256', secret).update(`${workspaceId}\n`).update(bucket, 'hex').digest().subarray(0, codeBytes);
