import type { Pool } from '@longwave/postgres';
import type { Columns } from '../../generated/rows.ts';
import { living } from '../content/snapshot-table.ts';

/** An authority whose intent is to be looked at, with the marks that say so. */
export interface MarkedAuthority {
  readonly workspaceId: string;
  readonly authorityId: string;
  readonly markIds: readonly string[];
}

/** Marks the intents of authorities to be looked at, at a time. */
export async function markIntents(
  pool: Pool,
  workspaceId: string,
  authorityIds: readonly string[],
  dueAt: Date,
): Promise<void> {
  if (authorityIds.length === 0) return;
  await pool.query({
    name: 'mark_intents',
    text: `insert into serving_intent_mark (workspace_id, authority_id, due_at)
           select $1, id, $3 from unnest($2::text[]) as a (id)`,
    values: [workspaceId, authorityIds, dueAt],
  });
}

/** Authorities with marks whose time has come, those that wait longest first. */
export async function listMarked(pool: Pool, now: Date, limit: number): Promise<readonly MarkedAuthority[]> {
  const { rows } = await pool.query<
    Columns<'serving_intent_mark', 'workspace_id' | 'authority_id'> & { ids: string[] }
  >({
    name: 'list_marked_intents',
    text: `select workspace_id, authority_id, array_agg(id::text) as ids from serving_intent_mark
           where due_at <= $1 group by workspace_id, authority_id order by min(due_at) limit $2`,
    values: [now, limit],
  });
  return rows.map(({ workspace_id: workspaceId, authority_id: authorityId, ids: markIds }) => ({
    ...{ workspaceId, authorityId, markIds },
  }));
}

/** Removes marks that were looked at; those that came meanwhile stay. */
export async function removeMarks(pool: Pool, ids: readonly string[]): Promise<void> {
  await pool.query({
    name: 'remove_intent_marks',
    text: 'delete from serving_intent_mark where id = any($1::bigint[])',
    values: [ids],
  });
}

/** Digest of the serving plan that decisions use: of those in effect the one that was published last. Undefined without one. */
export async function findPlanDigest(pool: Pool, workspaceId: string, now: Date): Promise<string | undefined> {
  const { rows } = await pool.query<{ digest: string }>({
    name: 'find_plan_digest',
    text: `select attributes ->> 'digest' as digest from resource
           where resource_type = 'serving_plans' and lifecycle_state = 'published' and workspace_id = $1
             and instant_of(attributes ->> 'effective_from') <= $2
           order by coalesce(instant_of(attributes ->> 'published_at'), updated_at) desc, updated_at desc, id desc limit 1`,
    values: [workspaceId, now],
  });
  return rows[0]?.digest;
}

/** A version of a subject that decides what its addresses serve. */
export interface KnownVersion {
  readonly sourceId: string;
  readonly sourceVersion: number;
  readonly state: string;
  /** Of the episode that plays it, with its podcast; undefined when the episode plays another version or none. */
  readonly shownAs: 'published' | 'hidden' | undefined;
  /** Whether its episode, or the podcast of that or of its stream, is archived here. */
  readonly isArchived: boolean;
  /** When our rights end. */
  readonly rightsUntil: string | undefined;
  readonly noAds: boolean;
  readonly renditionSha256: string | undefined;
  readonly podcastId: string | undefined;
  readonly episodeId: string | undefined;
}

/** Of the subjects of an authority: the versions that are neither superseded nor revoked, and the newest one also when it is revoked. */
export async function listKnownVersions(
  pool: Pool,
  workspaceId: string,
  authorityId: string,
  sourceIds: readonly string[],
): Promise<readonly KnownVersion[]> {
  const { rows } = await pool.query<{
    source_id: string;
    source_version: string;
    state: string;
    shown_as: KnownVersion['shownAs'] | null;
    is_archived: boolean | null;
    rights_until: string | null;
    no_ads: boolean;
    sha256: string | null;
    podcast_id: string | null;
    episode_id: string | null;
  }>({
    name: 'list_known_versions',
    text: `select s.attributes ->> 'source_id' as source_id, s.attributes ->> 'source_version' as source_version,
             s.lifecycle_state as state,
             'archived' in (e.lifecycle_state, p.lifecycle_state) or exists (
               select from resource t where t.resource_type = 'podcasts' and t.attributes ? 'hosted_by' and t.workspace_id = s.workspace_id
                 and t.attributes #>> '{hosted_by,authority_id}' = $2
                 and t.attributes #>> '{hosted_by,stream_id}' = s.attributes ->> 'stream_id' and t.lifecycle_state = 'archived') as is_archived,
             case when e.attributes ->> 'snapshot_id' is distinct from s.id then null
               when e.lifecycle_state = 'published' and p.lifecycle_state = 'published' then 'published'
               else 'hidden' end as shown_as,
             s.attributes #>> '{content,episode,rights,until}' as rights_until,
             coalesce((s.attributes #>> '{content,episode,no_ads}')::boolean, false) as no_ads,
             s.attributes #>> '{rendition,sha256}' as sha256, s.attributes ->> 'podcast_id' as podcast_id, e.id as episode_id
           from unnest($3::text[]) as subject (source_id)
             cross join lateral (
               select id, workspace_id, lifecycle_state, attributes from resource
               where resource_type = 'content_snapshots' and workspace_id = $1 and attributes ->> 'authority_id' = $2
                 and attributes ->> 'source_id' = subject.source_id and ${living}
               union all
               select * from (
                 select id, workspace_id, lifecycle_state, attributes from resource
                 where resource_type = 'content_snapshots' and workspace_id = $1 and attributes ->> 'authority_id' = $2
                   and attributes ->> 'source_id' = subject.source_id
                 order by (attributes ->> 'source_version')::bigint desc limit 1) newest
               where newest.lifecycle_state = 'revoked'
             ) s
             left join resource e
               on e.id = s.attributes ->> 'episode_id' and e.workspace_id = s.workspace_id and e.resource_type = 'episodes'
             left join resource p
               on p.id = e.attributes ->> 'podcast_id' and p.workspace_id = e.workspace_id and p.resource_type = 'podcasts'`,
    values: [workspaceId, authorityId, sourceIds],
  });
  return rows.map((row) => ({
    sourceId: row.source_id,
    sourceVersion: Number(row.source_version),
    state: row.state,
    shownAs: row.shown_as ?? undefined,
    isArchived: row.is_archived === true,
    rightsUntil: row.rights_until ?? undefined,
    noAds: row.no_ads,
    renditionSha256: row.sha256 ?? undefined,
    podcastId: row.podcast_id ?? undefined,
    episodeId: row.episode_id ?? undefined,
  }));
}
