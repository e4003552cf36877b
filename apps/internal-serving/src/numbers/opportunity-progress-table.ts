import type { Pool } from '@longwave/postgres';
import type { Columns } from '../generated/rows.ts';
import type { HourRange } from './opportunity-table.ts';

const leaseSeconds = 60;

/**
 * Hours that are counted and not published, at most a day of them, under a lease of a minute; undefined when there are none, or while another
 * process publishes them.
 */
export async function leaseCountedHours(pool: Pool): Promise<HourRange | undefined> {
  const { rows } = await pool.query<HourRange>({
    name: 'lease-counted-hours',
    text: `with counted as (
             select next_hour, coalesce((select min(hour) from opportunity_hour), next_hour - interval '1 hour') as first from sample_progress)
           insert into opportunity_progress as p (only_row, published_until, leased_until)
           select true, first, now() + make_interval(secs => ${leaseSeconds}) from counted where first < next_hour
           on conflict (only_row) do update set leased_until = excluded.leased_until
             where p.leased_until < now() and p.published_until < (select next_hour from counted)
           returning published_until as from, least((select next_hour from counted), published_until + interval '1 day') as to`,
  });
  return rows[0];
}

/** Ends the lease: up to this hour all is published. */
export async function finishPublished(pool: Pool, until: Date): Promise<void> {
  await pool.query({
    name: 'finish-published',
    text: `update opportunity_progress set published_until = greatest(published_until, $1), leased_until = '-infinity'`,
    values: [until],
  });
}

/** Up to which hour opportunities are counted; undefined before the first one. */
export async function findCountedUntil(pool: Pool): Promise<Date | undefined> {
  const { rows } = await pool.query<Columns<'sample_progress', 'next_hour'>>(`select next_hour from sample_progress`);
  return rows[0]?.next_hour;
}
