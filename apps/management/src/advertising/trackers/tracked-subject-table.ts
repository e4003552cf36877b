import type { Attributes } from '@longwave/command-catalog';
import type { Pool } from '@longwave/postgres';
import type { ServingEvent, Tracked, TrackedSubjects } from './tracker-calls-of.ts';

/** More are not asked for: the sink takes no longer list. */
const maxWorkspaces = 20_000;

/** Workspaces with an active tracking endpoint, or with a creative that has trackers. */
export async function listTrackedWorkspaces(pool: Pool): Promise<string[]> {
  const { rows } = await pool.query<{ workspace_id: string }>({
    name: 'list_tracked_workspaces',
    // As the index has it.
    text: `select distinct workspace_id from resource
           where (resource_type = 'tracking_endpoints' and lifecycle_state = 'active')
              or (resource_type = 'creatives' and attributes ? 'trackers')
           order by workspace_id limit $1`,
    values: [maxWorkspaces],
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
