import type { Pool } from '@longwave/postgres';

/** What is known of an ad of a demand source at each look: never its trackers, which may be long. */
export interface SourceCreative {
  readonly id: string;
  readonly version: number;
  readonly state: string;
  readonly demandKey: string;
  readonly adKey: string | null;
  readonly isPrepared: boolean;
  /** Whether the source answered with it in the last 7 days. */
  readonly isRemembered: boolean;
  readonly createdAt: Date;
}

/** Creatives of a source that are not archived, oldest first. */
export async function listSourceCreatives(
  pool: Pool,
  workspaceId: string,
  sourceId: string,
): Promise<readonly SourceCreative[]> {
  const { rows } = await pool.query<SourceCreative>({
    name: 'list_source_creatives',
    text: `select r.id, r.version, r.lifecycle_state as state, r.attributes ->> 'demand_key' as "demandKey",
             r.attributes ->> 'demand_ad_key' as "adKey", jsonb_array_length(r.attributes -> 'media') > 0 as "isPrepared",
             exists (select from demand_ad a where a.source_id = $1 and a.demand_key = r.attributes ->> 'demand_key') as "isRemembered",
             r.created_at as "createdAt"
           from link l join resource r on r.id = l.from_id
           where l.to_id = $1 and l.name = 'demand_source' and r.workspace_id = $2 and r.resource_type = 'creatives'
             and r.lifecycle_state <> 'archived' order by r.created_at, r.id`,
    values: [sourceId, workspaceId],
  });
  return rows;
}

/** An assignment of an ad to the line item of its source. */
export interface SourceAssignment {
  readonly id: string;
  readonly version: number;
  readonly state: string;
  readonly creativeId: string;
}

/** Assignments of a line item in any state, oldest first. */
export async function listAssignments(
  pool: Pool,
  workspaceId: string,
  lineItemId: string,
): Promise<readonly SourceAssignment[]> {
  const { rows } = await pool.query<SourceAssignment>({
    name: 'list_source_assignments',
    text: `select r.id, r.version, r.lifecycle_state as state, r.attributes ->> 'creative_id' as "creativeId"
           from link l join resource r on r.id = l.from_id
           where l.to_id = $1 and l.name = 'line_item' and r.workspace_id = $2 and r.resource_type = 'creative_assignments'
           order by r.created_at, r.id`,
    values: [lineItemId, workspaceId],
  });
  return rows;
}

/** Archived creatives with a key, and whether the source answered with that key in the last 7 days. */
export async function findArchived(
  pool: Pool,
  workspaceId: string,
  sourceId: string,
  demandKey: string,
): Promise<{ readonly count: number; readonly isRemembered: boolean }> {
  const { rows } = await pool.query<{ readonly count: number; readonly isRemembered: boolean }>({
    name: 'find_archived_ads',
    text: `select count(*)::int as count,
             exists (select from demand_ad where source_id = $1 and demand_key = $3) as "isRemembered"
           from link l join resource r on r.id = l.from_id
           where l.to_id = $1 and l.name = 'demand_source' and r.workspace_id = $2 and r.resource_type = 'creatives'
             and r.lifecycle_state = 'archived' and r.attributes ->> 'demand_key' = $3`,
    values: [sourceId, workspaceId, demandKey],
  });
  return rows[0]!;
}

/** Those among the stored files of a source that no open job reads. */
export async function listUnread(pool: Pool, workspaceId: string, keys: readonly string[]): Promise<readonly string[]> {
  const { rows } = await pool.query<{ readonly key: string }>({
    name: 'list_unread_files',
    text: `select key from unnest($2::text[]) as stored (key)
           where not exists (select from job where workspace_id = $1 and kind = 'encode_creative' and state in ('queued', 'running')
             and input ->> 'storage_key' = key)`,
    values: [workspaceId, keys],
  });
  return rows.map(({ key }) => key);
}
