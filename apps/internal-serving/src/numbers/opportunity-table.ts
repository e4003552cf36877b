import type { FilledSlots } from '@longwave/pacing';
import type { Pool } from '@longwave/postgres';
import type { OpportunityCount } from './opportunity-tally.ts';

/** A count with its workspace and the beginning of its hour. */
export interface StoredOpportunities extends OpportunityCount {
  readonly workspaceId: string;
  readonly hourMs: number;
}

/** Stores what was counted of a workspace in an hour; counted again, the hour keeps the larger numbers. */
export async function saveOpportunities(
  pool: Pool,
  workspaceId: string,
  hour: Date,
  counts: readonly OpportunityCount[],
): Promise<void> {
  await pool.query({
    name: 'save-opportunities',
    text: `insert into opportunity_hour as o (workspace_id, hour, podcast_id, episode_id, country, break_key, no_ad_reason, requests, breaks,
             opportunities, positions)
           select $1, $2, * from unnest($3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::bigint[], $9::bigint[], $10::bigint[],
             $11::jsonb[])
           on conflict (workspace_id, hour, podcast_id, episode_id, country, break_key, no_ad_reason) do update
             set requests = greatest(o.requests, excluded.requests), breaks = greatest(o.breaks, excluded.breaks),
               opportunities = greatest(o.opportunities, excluded.opportunities),
               positions = case when excluded.opportunities >= o.opportunities then coalesce(excluded.positions, o.positions) else o.positions end`,
    values: [
      ...[workspaceId, hour],
      counts.map((one) => one.podcastId),
      counts.map((one) => one.episodeId),
      counts.map((one) => one.country),
      counts.map((one) => one.breakKey),
      counts.map((one) => one.noAdReason),
      counts.map((one) => one.requests),
      counts.map((one) => one.breaks),
      counts.map((one) => one.opportunities),
      counts.map((one) => (one.positions ? JSON.stringify(one.positions) : null)),
    ],
  });
}

/** Whole hours, half-open. */
export interface HourRange {
  readonly from: Date;
  readonly to: Date;
}

/** Counts within a time, the oldest first, from a place on; at most so many. */
export async function listOpportunities(
  pool: Pool,
  { from, to }: HourRange,
  offset: number,
  limit: number,
): Promise<readonly StoredOpportunities[]> {
  const { rows } = await pool.query<StoredOpportunities>({
    name: 'list-opportunities',
    text: `select workspace_id as "workspaceId", (extract(epoch from hour) * 1000)::float8 as "hourMs", podcast_id as "podcastId",
             episode_id as "episodeId", country, break_key as "breakKey", no_ad_reason as "noAdReason", requests::float8,
             breaks::float8, opportunities::float8, positions
           from opportunity_hour where hour >= $1 and hour < $2
           order by hour, workspace_id, podcast_id, episode_id, country, break_key, no_ad_reason offset $3 limit $4`,
    values: [from, to, offset, limit],
  });
  return rows;
}

/** Plays, breaks and slots of a workspace in an hour. */
export interface WorkspaceHour {
  readonly hourMs: number;
  readonly requests: number;
  readonly breaks: number;
  readonly opportunities: number;
}

/** What a workspace offered hour by hour, the oldest first; hours without plays are absent. */
export async function sumOpportunities(
  pool: Pool,
  workspaceId: string,
  { from, to }: HourRange,
): Promise<readonly WorkspaceHour[]> {
  const { rows } = await pool.query<WorkspaceHour>({
    name: 'sum-opportunities',
    text: `select (extract(epoch from hour) * 1000)::float8 as "hourMs", sum(requests)::float8 as requests, sum(breaks)::float8 as breaks,
             sum(opportunities)::float8 as opportunities
           from opportunity_hour where workspace_id = $1 and hour >= $2 and hour < $3 group by hour order by hour`,
    values: [workspaceId, from, to],
  });
  return rows;
}

/** Slots of a podcast in the last week, and in the four weeks before it. */
export interface PodcastWeeks {
  readonly workspaceId: string;
  readonly podcastId: string;
  readonly week: FilledSlots;
  readonly before: FilledSlots;
  /** Why most of the slots stayed empty in the last week; undefined where none did. */
  readonly noAdReason: string | undefined;
}

/** The weeks of all podcasts that end with a whole hour. It reads five weeks of counts: some seconds where there are many podcasts. */
export async function listPodcastWeeks(pool: Pool, until: Date): Promise<readonly PodcastWeeks[]> {
  const { rows } = await pool.query<PodcastWeeks & { readonly noAdReason: string | null }>({
    name: 'list-podcast-weeks',
    text: `with reason as (
             select workspace_id, podcast_id, no_ad_reason, coalesce(sum(opportunities) filter (where hour >= $1::timestamptz - interval '7 days'), 0) as week,
               coalesce(sum(opportunities) filter (where hour < $1::timestamptz - interval '7 days'), 0) as before
             from opportunity_hour where hour >= $1::timestamptz - interval '35 days' and hour < $1::timestamptz group by workspace_id, podcast_id, no_ad_reason)
           select workspace_id as "workspaceId", podcast_id as "podcastId",
             json_build_object('opportunities', sum(week), 'unfilled', coalesce(sum(week) filter (where no_ad_reason <> ''), 0)) as week,
             json_build_object('opportunities', sum(before), 'unfilled', coalesce(sum(before) filter (where no_ad_reason <> ''), 0)) as before,
             (array_agg(no_ad_reason order by week desc, no_ad_reason) filter (where no_ad_reason <> '' and week > 0))[1] as "noAdReason"
           from reason group by workspace_id, podcast_id`,
    values: [until],
  });
  return rows.map((row) => ({ ...row, noAdReason: row.noAdReason ?? undefined }));
}

/** Removes counts of hours before a time; at most so many. */
export async function removeOldOpportunities(pool: Pool, before: Date, maxRows: number): Promise<number> {
  const { rowCount } = await pool.query(
    `delete from opportunity_hour where ctid in (select ctid from opportunity_hour where hour < $1 limit $2 for update skip locked)`,
    [before, maxRows],
  );
  return rowCount ?? 0;
}
