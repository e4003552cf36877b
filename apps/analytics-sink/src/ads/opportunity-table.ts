import type { Columns } from '@longwave/audience-store';
import type { OpportunitiesCounted } from '@longwave/events';
import { transaction, type Pool, type Session } from '@longwave/postgres';

/**
 * Stores counted opportunities. A number of a key only grows, so that the larger one is the newer one: messages may come twice and in any
 * order.
 */
export async function saveOpportunities(pool: Pool, messages: readonly OpportunitiesCounted[]): Promise<void> {
  const rows = messages.flatMap((message) => message.rows);
  const [until] = messages
    .flatMap(({ counted_until }) => (counted_until === undefined ? [] : [new Date(counted_until)]))
    .toSorted((a, b) => b.getTime() - a.getTime());
  await transaction(pool, async (tx) => {
    if (rows.length > 0)
      await tx.query(
        `insert into opportunity_hour as o (workspace_id, hour, podcast_id, episode_id, country, break_key, no_ad_reason, requests,
           opportunities, positions)
         select distinct on (1, 2, 3, 4, 5, 6, 7) workspace_id, hour, podcast_id, episode_id, country, break_key, no_ad_reason, requests,
           opportunities, positions
         from json_populate_recordset(null::opportunity_hour, $1)
         order by 1, 2, 3, 4, 5, 6, 7, requests desc, opportunities desc, positions is null
         on conflict (workspace_id, hour, podcast_id, episode_id, country, break_key, no_ad_reason) do update
           set requests = greatest(o.requests, excluded.requests), opportunities = greatest(o.opportunities, excluded.opportunities),
             positions = case when excluded.opportunities >= o.opportunities then coalesce(excluded.positions, o.positions) else o.positions end`,
        [JSON.stringify(rows)],
      );
    if (until)
      await tx.query(
        `insert into opportunity_progress as p (counted_until) values ($1)
         on conflict (only_row) do update set counted_until = greatest(p.counted_until, excluded.counted_until)`,
        [until],
      );
  });
}

/** Up to when opportunities are counted; 0 before the first hour. */
export async function opportunitiesUntilMs(session: Pick<Session, 'query'>): Promise<number> {
  const { rows } = await session.query<Columns<'opportunity_progress', 'counted_until'>>(
    'select counted_until from opportunity_progress',
  );
  return rows[0]?.counted_until.getTime() ?? 0;
}
