import type { Pool } from '@longwave/postgres';
import type { Columns, Rows } from '../generated/rows.ts';

/** An announcement that is due, claimed until `dueAt`. A process that is killed meanwhile leaves it to another. */
export interface ClaimedAnnouncement {
  readonly podcastId: string;
  readonly port: string;
  /** As text, so that it comes back exactly. */
  readonly dueAt: string;
  /** How often it was claimed, this time included. */
  readonly attempts: number;
  /** Undefined when there is nothing to announce any more. */
  readonly subdomain: string | undefined;
}

type ClaimRow = Columns<'announcement', 'podcast_id' | 'port' | 'attempts'> & {
  readonly due_at: string;
  readonly subdomain: Rows['feed']['subdomain'];
};

/** Claims due announcements of the ports; no two processes claim the same. */
export async function claimAnnouncements(
  pool: Pool,
  ports: readonly string[],
  leaseMs: number,
  limit: number,
): Promise<ClaimedAnnouncement[]> {
  const { rows } = await pool.query<ClaimRow>({
    name: 'claim_announcements',
    text: `with due as (
        select podcast_id, port from announcement where due_at <= clock_timestamp() and port = any($1)
        order by due_at limit $3 for update skip locked
      ), claimed as (
        update announcement a set due_at = clock_timestamp() + $2 * interval '1 millisecond', attempts = a.attempts + 1
        from due where a.podcast_id = due.podcast_id and a.port = due.port
        returning a.podcast_id, a.port, a.due_at::text, a.attempts
      )
      select c.*, f.subdomain from claimed c
        left join feed f on f.podcast_id = c.podcast_id and f.state = 'published' and f.new_feed_url is null`,
    values: [ports, leaseMs, limit],
  });
  return rows.map((row) => ({
    podcastId: row.podcast_id,
    port: row.port,
    dueAt: row.due_at,
    attempts: row.attempts,
    subdomain: row.subdomain ?? undefined,
  }));
}

/** Removes an announcement, unless the feed changed again meanwhile. */
export async function settleAnnouncement(pool: Pool, { podcastId, port, dueAt }: ClaimedAnnouncement): Promise<void> {
  await pool.query('delete from announcement where podcast_id = $1 and port = $2 and due_at = $3::timestamptz', [
    podcastId,
    port,
    dueAt,
  ]);
}

/** Postpones an announcement, unless the feed changed again meanwhile. */
export async function postponeAnnouncement(
  pool: Pool,
  { podcastId, port, dueAt }: ClaimedAnnouncement,
  delayMs: number,
): Promise<void> {
  await pool.query(
    `update announcement set due_at = clock_timestamp() + $4 * interval '1 millisecond'
     where podcast_id = $1 and port = $2 and due_at = $3::timestamptz`,
    [podcastId, port, dueAt, delayMs],
  );
}
