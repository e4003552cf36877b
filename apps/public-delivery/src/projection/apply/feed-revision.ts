import type { Transaction } from '@longwave/postgres';
import type { Columns } from '../../generated/rows.ts';

/** The services to which changed feeds are announced; none by default. */
export interface AnnouncementPorts {
  readonly names: readonly string[];
  /** How long after the first change; further changes until then are announced with it. */
  readonly afterMs: number;
}

/** The podcast's own part of the row; absent while only an episode changed. */
export interface FeedIdentity {
  readonly subdomain: string;
  readonly state: string;
  readonly newFeedUrl: string | undefined;
}

/**
 * Gives a feed a new revision, in the transaction that changed what it shows. The time of change is that of the event; when that
 * does not lie after the last one by the second (events may overtake each other, and a second may hold two), it is the next
 * second from now, so that it always moves. A time in the future was sent to nobody and stays.
 */
export async function reviseFeed(
  tx: Transaction,
  podcastId: string,
  occurredAt: string,
  announcements: AnnouncementPorts,
  identity?: FeedIdentity,
): Promise<void> {
  const { rows } = await tx.query<Columns<'feed', 'state' | 'new_feed_url'>>(
    `insert into feed as f (podcast_id, subdomain, state, new_feed_url, revision, changed_at)
     values ($1, $3, $4, $5, gen_random_uuid(), $2)
     on conflict (podcast_id) do update set
       subdomain = case when $6 then excluded.subdomain else f.subdomain end,
       state = case when $6 then excluded.state else f.state end,
       new_feed_url = case when $6 then excluded.new_feed_url else f.new_feed_url end,
       revision = excluded.revision,
       changed_at = case
         when date_trunc('second', excluded.changed_at) > date_trunc('second', f.changed_at) then excluded.changed_at
         when f.changed_at > clock_timestamp() then f.changed_at
         else date_trunc('second', clock_timestamp()) + interval '1 second' end
     returning state, new_feed_url`,
    [podcastId, occurredAt, identity?.subdomain, identity?.state, identity?.newFeedUrl, identity !== undefined],
  );
  const [feed] = rows;
  if (announcements.names.length === 0 || feed?.state !== 'published' || feed.new_feed_url !== null) return;
  await tx.query(
    `insert into announcement as a (podcast_id, port, due_at, attempts)
     select $1, port, clock_timestamp() + $3 * interval '1 millisecond', 0 from unnest($2::text[]) as port
     on conflict (podcast_id, port) do update set due_at = least(a.due_at, excluded.due_at), attempts = 0`,
    [podcastId, announcements.names, announcements.afterMs],
  );
}
