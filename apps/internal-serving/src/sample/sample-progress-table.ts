import type { Pool } from '@longwave/postgres';
import type { Columns } from '../generated/rows.ts';

const leaseSeconds = 600;

/**
 * The next whole hour, under a lease of ten minutes; undefined while another process has it, or it is not over yet. It begins with the
 * oldest decision, at most four weeks back.
 * @param before hours from here on are not over
 */
export async function leaseNextHour(pool: Pool, before: Date): Promise<Date | undefined> {
  const { rows } = await pool.query<Columns<'sample_progress', 'next_hour'>>({
    name: 'lease-sample-hour',
    text: `insert into sample_progress (only_row, next_hour, leased_until)
           select true, date_trunc('hour', coalesce(min(at), $1::timestamptz), 'UTC'), now() + make_interval(secs => ${leaseSeconds})
           from (select at from packed_decision where packed is not null and at >= $1::timestamptz - interval '28 days' order by at limit 1) first
           on conflict (only_row) do update set leased_until = excluded.leased_until
             where sample_progress.leased_until < now() and sample_progress.next_hour < $1::timestamptz
           returning next_hour`,
    values: [before],
  });
  const [row] = rows;
  if (row && row.next_hour < before) return row.next_hour;
  if (row) await releaseHour(pool);
  return undefined;
}

const releaseHour = (pool: Pool) =>
  pool.query({ name: 'release-sample-hour', text: `update sample_progress set leased_until = '-infinity'` });

/** Says that an hour is sampled. */
export async function finishHour(pool: Pool, hour: Date): Promise<void> {
  await pool.query({
    name: 'finish-sample-hour',
    text: `update sample_progress set next_hour = $1::timestamptz + interval '1 hour', leased_until = '-infinity'
           where next_hour = $1`,
    values: [hour],
  });
}
