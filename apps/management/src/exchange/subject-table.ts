import type { ResourceRow } from '@longwave/command-pipeline';
import type { Pool, Transaction } from '@longwave/postgres';
import type { Columns } from '../generated/rows.ts';

type Queryable = Pick<Pool, 'query'> | Transaction;

/** Makes transactions about one subject of an authority wait for each other. */
export async function lockSubject(tx: Transaction, authorityId: string, sourceId: string): Promise<void> {
  await tx.query({
    name: 'lock_exchange_subject',
    text: 'select pg_advisory_xact_lock(hashtextextended($1, 1))',
    values: [`${authorityId} ${sourceId}`],
  });
}

const columns =
  'id, workspace_id, resource_type, version, lifecycle_state, attributes, digest, operation_id, created_at, updated_at';

/** The surface of an authority that has this name. Each message about it is a version of this one resource. */
export async function findSurface(
  db: Queryable,
  workspaceId: string,
  authorityId: string,
  surfaceId: string,
): Promise<ResourceRow<'surface_capabilities'> | undefined> {
  const { rows } = await db.query<ResourceRow<'surface_capabilities'>>({
    name: 'find_surface',
    text: `select ${columns} from resource
           where resource_type = 'surface_capabilities' and workspace_id = $1
             and attributes ->> 'authority_id' = $2 and attributes ->> 'source_id' = $3 limit 1`,
    values: [workspaceId, authorityId, surfaceId],
  });
  return rows[0];
}

/** The podcast of a stream, whatever its state; undefined before its first version is taken over. */
export async function findHostedPodcast(
  db: Queryable,
  workspaceId: string,
  authorityId: string,
  streamId: string,
): Promise<string | undefined> {
  const { rows } = await db.query<Columns<'resource', 'id'>>({
    name: 'find_hosted_podcast',
    text: `select id from resource
           where resource_type = 'podcasts' and attributes ? 'hosted_by' and workspace_id = $1
             and attributes #>> '{hosted_by,authority_id}' = $2 and attributes #>> '{hosted_by,stream_id}' = $3
           order by created_at, id limit 1`,
    values: [workspaceId, authorityId, streamId],
  });
  return rows[0]?.id;
}

/** The episode of a podcast with this GUID. */
export async function findEpisodeOfGuid(
  db: Queryable,
  workspaceId: string,
  podcastId: string,
  guid: string,
): Promise<string | undefined> {
  const { rows } = await db.query<Columns<'resource', 'id'>>({
    name: 'find_episode_of_guid',
    text: `select id from resource where resource_type = 'episodes' and workspace_id = $1
             and attributes ->> 'podcast_id' = $2 and attributes ->> 'guid' = $3 limit 1`,
    values: [workspaceId, podcastId, guid],
  });
  return rows[0]?.id;
}

/** When an accepted revocation takes effect; the words are those of the index. */
const effectiveAt = `instant_of(attributes #>> '{revocation,effective_at}')`;
const acceptedRevocation = `resource_type = 'content_revocations' and lifecycle_state = 'accepted'`;

/**
 * Revocations that are accepted and whose time has come: the first few of every authority, in the order of their times. Where there are
 * more than `limit`, the first of each authority go before the second ones.
 */
export async function listDueRevocations(
  db: Queryable,
  now: Date,
  { ofEach, limit }: { readonly ofEach: number; readonly limit: number },
): Promise<ResourceRow<'content_revocations'>[]> {
  const { rows } = await db.query<ResourceRow<'content_revocations'>>({
    name: 'list_due_revocations',
    text: `with recursive line as (
             (select attributes ->> 'authority_id' as authority_id from resource where ${acceptedRevocation} order by 1 limit 1)
             union all
             select next.authority_id from line cross join lateral (
               select attributes ->> 'authority_id' as authority_id from resource
               where ${acceptedRevocation} and attributes ->> 'authority_id' > line.authority_id order by 1 limit 1) next)
           select ${columns} from line cross join lateral (
             select first.*, row_number() over () as place from (
               select ${columns} from resource
               where ${acceptedRevocation} and attributes ->> 'authority_id' = line.authority_id and ${effectiveAt} <= $1
               order by ${effectiveAt}, id limit $2) first) due
           order by place, ${effectiveAt}, id limit $3`,
    values: [now, ofEach, limit],
  });
  return rows;
}

/** The most revocations of an authority that wait for their time. */
export const mostPendingRevocations = 10_000;

/** Whether an authority has as many revocations that wait for their time as it may. Makes transactions that accept such ones wait for each other. */
export async function hasMostPendingRevocations(
  tx: Transaction,
  workspaceId: string,
  authorityId: string,
  now: Date,
): Promise<boolean> {
  await tx.query({
    name: 'lock_revocations_of_authority',
    text: 'select pg_advisory_xact_lock(hashtextextended($1, 5))',
    values: [authorityId],
  });
  const { rowCount } = await tx.query({
    name: 'find_last_pending_revocation',
    text: `select from resource where ${acceptedRevocation} and workspace_id = $1
             and attributes ->> 'authority_id' = $2 and ${effectiveAt} > $3
           offset $4 limit 1`,
    values: [workspaceId, authorityId, now, mostPendingRevocations - 1],
  });
  return rowCount === 1;
}
