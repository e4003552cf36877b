import type { Pool, Transaction } from '@longwave/postgres';
import type { Columns } from '../generated/rows.ts';

/** The authority grant of a hosting platform. */
export interface Authority {
  readonly id: string;
  readonly workspaceId: string;
  readonly isActive: boolean;
  readonly clientId: string;
}

/** The authority of a workspace; undefined for one of another workspace. */
export async function findAuthority(
  db: Pick<Pool, 'query'> | Transaction,
  workspaceId: string,
  authorityId: string,
  now: Date,
): Promise<Authority | undefined> {
  const { rows } = await db.query<Columns<'authority', 'id' | 'workspace_id' | 'state' | 'client_id' | 'expires_at'>>({
    name: 'find_authority',
    text: `select id, workspace_id, state, client_id, expires_at from authority where id = $1 and workspace_id = $2`,
    values: [authorityId, workspaceId],
  });
  return (
    rows[0] && {
      id: rows[0].id,
      workspaceId: rows[0].workspace_id,
      isActive: rows[0].state === 'active' && rows[0].expires_at > now,
      clientId: rows[0].client_id,
    }
  );
}

/** Stores a version of an authority; an older version never overwrites a newer one. */
export async function saveAuthority(
  tx: Transaction,
  authority: {
    readonly id: string;
    readonly workspaceId: string;
    readonly version: number;
    readonly state: string;
    readonly clientId: string;
    readonly expiresAt: string;
  },
): Promise<void> {
  const { id, workspaceId, version, state, clientId, expiresAt } = authority;
  await tx.query({
    name: 'save_authority',
    text: `insert into authority (id, workspace_id, version, state, client_id, expires_at) values ($1, $2, $3, $4, $5, $6)
           on conflict (id) do update set version = excluded.version, state = excluded.state, client_id = excluded.client_id,
             expires_at = excluded.expires_at
           where authority.version < excluded.version`,
    values: [id, workspaceId, version, state, clientId, expiresAt],
  });
}
