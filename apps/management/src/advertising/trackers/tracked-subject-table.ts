import type { Attributes } from '@longwave/command-catalog';
import type { Pool } from '@longwave/postgres';
import type { ServingEvent, Tracked, TrackedSubjects } from './tracker-calls-of.ts';

/** A report of a player counts for so long: until then a creative that serves no more may still be told of. */
const reportedForMs = 30 * 24 * 3_600_000;

/**
 * Workspaces with an active tracking endpoint, or with a creative with trackers that is approved or changed in the last 30 days, in the order of
 * their ids. They are read by steps through the indexes, whose conditions these are.
 */
export async function listTrackedWorkspaces(pool: Pool, now: Date): Promise<string[]> {
  const tracked = `((resource_type = 'tracking_endpoints' and lifecycle_state = 'active')
      or (resource_type = 'creatives' and lifecycle_state = 'approved' and attributes ? 'trackers'))`;
  const formerly = `resource_type = 'creatives' and attributes ? 'trackers'`;
  const { rows } = await pool.query<{ workspace_id: string }>({
    name: 'list_tracked_workspaces',
    text: `with recursive tracked as (
             (select workspace_id from resource where ${tracked} order by workspace_id limit 1)
             union all
             select further.workspace_id from tracked t cross join lateral (
               select workspace_id from resource where ${tracked} and workspace_id > t.workspace_id order by workspace_id limit 1) further
           ), formerly as (
             (select workspace_id, updated_at from resource where ${formerly} order by workspace_id desc, updated_at desc limit 1)
             union all
             select further.* from formerly f cross join lateral (
               select workspace_id, updated_at from resource where ${formerly} and workspace_id < f.workspace_id
               order by workspace_id desc, updated_at desc limit 1) further
           )
           select workspace_id from tracked union select workspace_id from formerly where updated_at > $1 order by workspace_id`,
    values: [new Date(now.getTime() - reportedForMs)],
  });
  return rows.map((row) => row.workspace_id);
}

type Row<A> = { readonly id: string; readonly workspace_id: string; readonly attributes: A };
const trackedOf = <A>({ id, workspace_id: workspaceId, attributes }: Row<A>): Tracked<A> => ({
  ...{ id, workspaceId, attributes },
});
const byId = <A>(rows: readonly Row<A>[]) => new Map(rows.map((row) => [row.id, trackedOf(row)]));

/** The campaigns and creatives of events, and the active endpoints that are told of them. */
export async function readTrackedSubjects(pool: Pool, events: readonly ServingEvent[]): Promise<TrackedSubjects> {
  const ids = (of: (event: ServingEvent) => string) => [...new Set(events.map(of))];
  const [creativeIds, campaignIds] = [ids(({ creativeId }) => creativeId), ids(({ campaignId }) => campaignId)];
  const { rows: creatives } = await pool.query<Row<Pick<Attributes<'creatives'>, 'format' | 'trackers'>>>({
    name: 'list_tracked_creatives',
    text: `select id, workspace_id, jsonb_strip_nulls(jsonb_build_object('format', attributes -> 'format', 'trackers', attributes -> 'trackers'))
             as attributes
           from resource where id = any($1) and resource_type = 'creatives'`,
    values: [creativeIds],
  });
  const { rows: campaigns } = await pool.query<Row<Pick<Attributes<'campaigns'>, 'advertiser_id'>>>({
    name: 'list_tracked_campaigns',
    text: `select id, workspace_id, jsonb_build_object('advertiser_id', attributes -> 'advertiser_id') as attributes
           from resource where id = any($1) and resource_type = 'campaigns'`,
    values: [campaignIds],
  });
  const advertiserIds = campaigns.map(({ attributes }) => attributes.advertiser_id);
  const { rows: endpoints } = await pool.query<Row<Attributes<'tracking_endpoints'>>>({
    name: 'list_tracking_endpoints_of',
    text: `select r.id, r.workspace_id, r.attributes from link l join resource r on r.id = l.from_id
           where l.to_id = any($1) and r.resource_type = 'tracking_endpoints' and r.lifecycle_state = 'active'
           order by r.id`,
    values: [[...advertiserIds, ...campaignIds, ...ids(({ lineItemId }) => lineItemId), ...creativeIds]],
  });
  return { endpoints: endpoints.map(trackedOf), campaigns: byId(campaigns), creatives: byId(creatives) };
}

/** Up to which time the sink has told what it counted; undefined before the first question. */
export async function findCursor(pool: Pool): Promise<Date | undefined> {
  const { rows } = await pool.query<{ until: Date }>({
    name: 'find_tracker_cursor',
    text: 'select until from tracker_cursor',
  });
  return rows[0]?.until;
}
