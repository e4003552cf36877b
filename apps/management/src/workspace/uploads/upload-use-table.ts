import { productCatalog, type ResourceDefinition } from '@longwave/command-catalog';
import type { Due } from '@longwave/command-pipeline';
import type { Pool, Transaction } from '@longwave/postgres';

/** Types whose resources name files; the index `resource_upload_use` covers exactly these. */
export const fileUsers = ['podcasts', 'episodes', 'productions', 'media_clips', 'creatives'] as const;
const ended = fileUsers.flatMap((type) => (productCatalog.resources[type] as ResourceDefinition).terminalStates);

const quoted = (names: readonly string[]) => [...new Set(names)].map((name) => `'${name}'`).join(', ');

/** SQL: the address of upload `x` without the file name, which clients may write differently. */
const address = `regexp_replace(x.attributes ->> 'file_url', '[^/]*$', '')`;

/**
 * SQL: whether the living resource `u` names the upload `x`. In the upload's own workspace its address, its key or an `upload_id` count in
 * any attribute; in another workspace only attributes that a rule has checked, never text that a client may write.
 */
const names = `upload_ids(u.attributes) @> array[x.id]
  and u.resource_type in (${quoted(fileUsers)}) and u.lifecycle_state not in (${quoted(ended)})
  and case when u.workspace_id = x.workspace_id then
    strpos(u.attributes::text, ${address}) > 0
    or strpos(u.attributes::text, ': "uploads/' || x.id || '/') > 0
    or strpos(u.attributes::text, '"upload_id": "' || x.id || '"') > 0
  else
    starts_with(u.attributes ->> 'storage_key', 'uploads/' || x.id || '/')
    or (u.attributes ->> 'hosted' = 'ours' and starts_with(u.attributes ->> 'url', ${address}))
    or starts_with(u.attributes ->> 'artwork_url', ${address})
    or u.attributes #>> '{intro,upload_id}' = x.id or u.attributes #>> '{outro,upload_id}' = x.id
  end`;

/** SQL: whether a living resource names the upload `x`. The limit keeps it at one index look-up for each upload. */
export const isUsed = `coalesce((select true from resource u where ${names} limit 1), false)`;

/** SQL: whether a worker has yet to read the upload `x`. */
export const isRead = `coalesce((select true from job where state in ('queued', 'running')
  and input ->> 'storage_key' in
    (x.attributes ->> 'storage_key', (select storage_key from kept_upload where upload_id = x.id)) limit 1), false)`;

const isTemporary = `x.attributes ->> 'upload_type' = 'temporary'`;

/** SQL: the uploads `x` that are due for each end, apart from their age. */
const ends = {
  unused: `lifecycle_state = 'granted' and not ${isRead} and (${isTemporary} or not ${isUsed})`,
  used: `lifecycle_state = 'granted' and not (${isTemporary}) and ${isUsed}`,
  temporary: `lifecycle_state = 'received' and ${isTemporary} and not ${isRead}`,
} as const;
export type UploadEnd = keyof typeof ends;

/** Uploads that were granted before a time and are due for this end, the oldest first. */
export async function listDueUploads(
  pool: Pool,
  end: UploadEnd,
  grantedBefore: Date,
  limit: number,
): Promise<readonly Due[]> {
  const { rows } = await pool.query<Due>({
    name: `list_due_uploads_${end}`,
    text: `select id, workspace_id, to_char(created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as occurrence
           from resource x where resource_type = 'uploads' and ${ends[end]} and created_at <= $1
           order by created_at limit $2`,
    values: [grantedBefore, limit],
  });
  return rows;
}

/** Whether a worker has yet to read the upload's object. */
export async function isBeingRead(db: Pool | Transaction, uploadId: string): Promise<boolean> {
  const { rows } = await db.query<{ read: boolean }>({
    name: 'is_upload_read',
    text: `select ${isRead} as read from resource x where x.id = $1`,
    values: [uploadId],
  });
  return rows[0]?.read ?? false;
}

/** Whether a living resource of any workspace names an upload of this one; `butFailed` ignores failed productions. */
export async function isNamed(
  db: Pool | Transaction,
  workspaceId: string,
  uploadId: string,
  types: readonly (typeof fileUsers)[number][] = fileUsers,
  options: { readonly butFailed?: boolean } = {},
): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'find_upload_user',
    text: `select from resource x join resource u on ${names}
           where x.id = $1 and x.workspace_id = $2 and u.resource_type = any($3)
             and not ($4 and u.resource_type = 'productions' and u.lifecycle_state = 'error') limit 1`,
    values: [uploadId, workspaceId, types, options.butFailed ?? false],
  });
  return rowCount !== 0;
}

/** Whether a resource has not ended and names the upload now. */
export async function isNamedBy(db: Pool | Transaction, uploadId: string, resourceId: string): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'find_upload_use',
    text: `select from resource x join resource u on ${names} where x.id = $1 and u.id = $2`,
    values: [uploadId, resourceId],
  });
  return rowCount !== 0;
}
