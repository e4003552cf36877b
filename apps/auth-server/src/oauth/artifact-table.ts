import { createHash } from 'node:crypto';
import type { Pool } from '@longwave/postgres';
import type { Rows } from '../generated/rows.ts';

type Stored = Rows['oauth_artifact'];

/** The key under which a token, code or other artifact is stored: nothing in the database can be used as one. */
export const artifactHash = (id: string): string => createHash('sha256').update(id).digest('hex');

/** Saves an artifact, or what became of it. */
export async function saveArtifact(
  pool: Pool,
  {
    model,
    id,
    payload,
    grantId,
    expiresAt,
  }: {
    readonly model: string;
    readonly id: string;
    readonly payload: string;
    readonly grantId: string | undefined;
    readonly expiresAt: Date;
  },
): Promise<void> {
  await pool.query({
    name: 'save_oauth_artifact',
    text: `insert into oauth_artifact (model, id_hash, payload, grant_id, expires_at) values ($1, $2, $3, $4, $5)
           on conflict (model, id_hash) do update set payload = excluded.payload, expires_at = excluded.expires_at`,
    values: [model, artifactHash(id), payload, grantId ?? null, expiresAt],
  });
}

/** Saves an artifact that may exist only once. Answers whether it is new. */
export async function insertArtifact(pool: Pool, model: string, id: string, expiresAt: Date): Promise<boolean> {
  const { rowCount } = await pool.query(
    `insert into oauth_artifact (model, id_hash, payload, expires_at) values ($1, $2, '{}', $3) on conflict do nothing`,
    [model, artifactHash(id), expiresAt],
  );
  return rowCount === 1;
}

export async function findArtifact(
  pool: Pool,
  model: string,
  id: string,
): Promise<Pick<Stored, 'payload' | 'grant_id' | 'consumed_at'> | undefined> {
  const { rows } = await pool.query<Pick<Stored, 'payload' | 'grant_id' | 'consumed_at'>>({
    name: 'find_oauth_artifact',
    text: 'select payload, grant_id, consumed_at from oauth_artifact where model = $1 and id_hash = $2',
    values: [model, artifactHash(id)],
  });
  return rows[0];
}

/** Marks a code or refresh token as used. Of several calls at once one answers true. */
export async function consumeArtifact(pool: Pool, model: string, id: string): Promise<boolean> {
  const { rowCount } = await pool.query(
    'update oauth_artifact set consumed_at = now() where model = $1 and id_hash = $2 and consumed_at is null',
    [model, artifactHash(id)],
  );
  return rowCount === 1;
}

export async function deleteArtifact(pool: Pool, model: string, id: string): Promise<void> {
  await pool.query('delete from oauth_artifact where model = $1 and id_hash = $2', [model, artifactHash(id)]);
}

/** Removes what has expired. Used codes and refresh tokens stay as long as their grant, so that a second use is noticed. */
export async function removeExpiredArtifacts(pool: Pool, now: Date, maxRows: number): Promise<number> {
  const { rowCount } = await pool.query(
    `delete from oauth_artifact where (model, id_hash) in (
       select a.model, a.id_hash from oauth_artifact a
       where a.expires_at < $1 and not exists (
         select from connector_grant g where g.id = a.grant_id and a.consumed_at is not null and g.expires_at >= $1)
       limit $2)`,
    [now, maxRows],
  );
  return rowCount ?? 0;
}
