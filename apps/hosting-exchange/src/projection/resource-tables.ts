import type { Attributes } from '@longwave/command-catalog';
import type { Pool, Transaction } from '@longwave/postgres';
import type { Columns } from '../generated/rows.ts';

/** A version of a resource of management. */
export interface Revision {
  readonly id: string;
  readonly workspaceId: string;
  readonly version: number;
  readonly state: string;
}

/** Stores a version of a content snapshot; an older version never overwrites a newer one, here and below. */
export async function saveSnapshot(
  tx: Transaction,
  { id, workspaceId, version, state }: Revision,
  attributes: Attributes<'content_snapshots'>,
): Promise<void> {
  const { authority_id: authorityId, source_id: sourceId, source_version: sourceVersion } = attributes;
  await tx.query({
    name: 'save_snapshot',
    text: `insert into snapshot (id, workspace_id, authority_id, source_id, source_version, version, state, attributes)
           values ($1, $2, $3, $4, $5, $6, $7, $8)
           on conflict (id) do update set version = excluded.version, state = excluded.state, attributes = excluded.attributes
           where snapshot.version < excluded.version`,
    values: [id, workspaceId, authorityId, sourceId, sourceVersion, version, state, attributes],
  });
}

/** Stores an episode that serves a version of another platform: its state, and the version that it plays. */
export async function saveHostedEpisode(
  tx: Transaction,
  { id, version, state }: Revision,
  { podcastId, snapshotId }: { readonly podcastId: string; readonly snapshotId: string },
): Promise<void> {
  await tx.query({
    name: 'save_hosted_episode',
    text: `insert into hosted_episode (id, version, state, podcast_id, snapshot_id) values ($1, $2, $3, $4, $5)
           on conflict (id) do update set version = excluded.version, state = excluded.state, podcast_id = excluded.podcast_id,
             snapshot_id = excluded.snapshot_id
           where hosted_episode.version < excluded.version`,
    values: [id, version, state, podcastId, snapshotId],
  });
}

/** Stores the state of a podcast that another platform hosts. */
export async function saveHostedPodcast(
  tx: Transaction,
  { id, version, state }: Revision,
  { authority_id: authorityId, stream_id: streamId }: NonNullable<Attributes<'podcasts'>['hosted_by']>,
): Promise<void> {
  await tx.query({
    name: 'save_hosted_podcast',
    text: `insert into hosted_podcast (id, version, state, authority_id, stream_id) values ($1, $2, $3, $4, $5)
           on conflict (id) do update set version = excluded.version, state = excluded.state
           where hosted_podcast.version < excluded.version`,
    values: [id, version, state, authorityId, streamId],
  });
}

export async function saveSurface(
  tx: Transaction,
  { id, workspaceId, version, state }: Revision,
  attributes: Attributes<'surface_capabilities'>,
): Promise<void> {
  await tx.query({
    name: 'save_surface',
    text: `insert into surface (id, workspace_id, authority_id, surface_id, version, state, attributes)
           values ($1, $2, $3, $4, $5, $6, $7)
           on conflict (id) do update set version = excluded.version, state = excluded.state, attributes = excluded.attributes
           where surface.version < excluded.version`,
    values: [id, workspaceId, attributes.authority_id, attributes.source_id, version, state, attributes],
  });
}

export async function saveAlias(
  tx: Transaction,
  { id, workspaceId, version, state }: Revision,
  attributes: Attributes<'delivery_aliases'>,
): Promise<void> {
  await tx.query({
    name: 'save_alias',
    text: `insert into alias (id, workspace_id, authority_id, alias, source_id, version, state, attributes)
           values ($1, $2, $3, $4, $5, $6, $7, $8)
           on conflict (id) do update set source_id = excluded.source_id, version = excluded.version, state = excluded.state,
             attributes = excluded.attributes
           where alias.version < excluded.version`,
    values: [
      ...[id, workspaceId, attributes.authority_id, attributes.alias, attributes.target.source_id],
      ...[version, state, attributes],
    ],
  });
}

type Numbered<T> = T & { readonly source_version: number };
export type SnapshotRow = Numbered<
  Columns<'snapshot', 'id' | 'state' | 'version' | 'attributes', { attributes: Attributes<'content_snapshots'> }>
>;
export type SurfaceRow = Columns<
  'surface',
  'id' | 'state' | 'version' | 'attributes',
  { attributes: Attributes<'surface_capabilities'> }
>;
export type AliasRow = Columns<
  'alias',
  'id' | 'state' | 'version' | 'attributes',
  { attributes: Attributes<'delivery_aliases'> }
>;

/** A version of a source, by default the newest. */
export async function findSnapshot(
  pool: Pool,
  authorityId: string,
  sourceId: string,
  sourceVersion: number | undefined,
): Promise<SnapshotRow | undefined> {
  const { rows } = await pool.query<SnapshotRow>({
    name: 'find_snapshot',
    text: `select id, state, version, source_version::float8, attributes from snapshot
           where authority_id = $1 and source_id = $2 and ($3::bigint is null or source_version = $3)
           order by snapshot.source_version desc limit 1`,
    values: [authorityId, sourceId, sourceVersion ?? null],
  });
  return rows[0];
}

export async function findSurface(pool: Pool, authorityId: string, surfaceId: string): Promise<SurfaceRow | undefined> {
  const { rows } = await pool.query<SurfaceRow>({
    name: 'find_surface',
    text: `select id, state, version, attributes from surface where authority_id = $1 and surface_id = $2`,
    values: [authorityId, surfaceId],
  });
  return rows[0];
}

export async function findAlias(pool: Pool, authorityId: string, alias: string): Promise<AliasRow | undefined> {
  const { rows } = await pool.query<AliasRow>({
    name: 'find_alias',
    text: `select id, state, version, attributes from alias where authority_id = $1 and alias = $2`,
    values: [authorityId, alias],
  });
  return rows[0];
}

/** What the route of an alias, or of a source, depends on. */
export interface RouteFacts {
  readonly alias: AliasRow | undefined;
  readonly surface: SurfaceRow | undefined;
  /** The newest version of the source, and the newest one that is ready. */
  readonly newest: SnapshotRow | undefined;
  readonly serving: SnapshotRow | undefined;
  /** The version that the episode of the source plays, and the states of the episode and its podcast; undefined while they are not known. */
  readonly played: SnapshotRow | undefined;
  readonly episodeState: string | undefined;
  readonly podcastState: string | undefined;
}

/** Reads the facts in one statement: a lookup by the key of each table. */
export async function readRouteFacts(
  pool: Pool,
  authorityId: string,
  asked: { readonly alias: string | undefined; readonly sourceId: string | undefined; readonly surfaceId: string },
): Promise<RouteFacts> {
  const { rows } = await pool.query<{ readonly [K in keyof RouteFacts]: NonNullable<RouteFacts[K]> | null }>({
    name: 'route_facts',
    text: `select to_json(a) as alias, to_json(s) as surface, to_json(n) as newest, to_json(r) as serving, to_json(v) as played,
             e.state as "episodeState", case when t.state = 'archived' then t.state else p.state end as "podcastState"
           from (select 1) as one
           left join lateral (select id, state, version, attributes, source_id from alias
             where authority_id = $1 and alias = $2) a on true
           left join lateral (select id, state, version, attributes from surface
             where authority_id = $1 and surface_id = $4) s on true
           left join lateral (select id, state, version, source_version, attributes from snapshot
             where authority_id = $1 and source_id = coalesce($3, a.source_id)
             order by source_version desc limit 1) n on true
           left join lateral (select id, state, version, source_version, attributes from snapshot
             where authority_id = $1 and source_id = coalesce($3, a.source_id) and state = 'ready'
             order by source_version desc limit 1) r on true
           left join lateral (select attributes ->> 'episode_id' as episode_id from snapshot
             where authority_id = $1 and source_id = coalesce($3, a.source_id) and attributes ->> 'episode_id' is not null
             order by source_version desc limit 1) m on true
           left join hosted_episode e on e.id = m.episode_id
           left join hosted_podcast p on p.id = e.podcast_id
           left join hosted_podcast t on t.authority_id = $1 and t.stream_id = coalesce(r.attributes, n.attributes) ->> 'stream_id'
           left join lateral (select id, state, version, source_version, attributes from snapshot
             where id = e.snapshot_id and authority_id = $1) v on true`,
    values: [authorityId, asked.alias ?? null, asked.sourceId ?? null, asked.surfaceId],
  });
  const { alias, surface, newest, serving, played, episodeState, podcastState } = rows[0]!;
  return {
    alias: alias ?? undefined,
    surface: surface ?? undefined,
    newest: newest ?? undefined,
    serving: serving ?? undefined,
    played: played ?? undefined,
    episodeState: episodeState ?? undefined,
    podcastState: podcastState ?? undefined,
  };
}
