import type { Attributes, StateOf } from '@longwave/command-catalog';
import type { Pool } from '@longwave/postgres';

type Grant = Attributes<'authority_grants'>;
type GrantOfPerson = Grant & {
  readonly grantee: Exclude<Grant['grantee'], { client_id: string }>;
  readonly role: Exclude<Grant['role'], 'machine'>;
};

/** Whether a grant gives rights to a person; one of a hosting platform gives them to its client in the exchange alone. */
export const isForPeople = (grant: Grant): grant is GrantOfPerson =>
  !('client_id' in grant.grantee) && grant.role !== 'machine';

/** Stores a version of an authority grant of a person; an older version never overwrites a newer one. */
export async function saveAuthorityGrant(
  pool: Pool,
  grant: {
    readonly id: string;
    readonly workspaceId: string;
    readonly version: number;
    readonly state: StateOf<'authority_grants'>;
    readonly attributes: GrantOfPerson;
    /** When this version was made. */
    readonly at: Date;
  },
): Promise<void> {
  const { id, workspaceId, version, state, attributes, at } = grant;
  const { grantee, grantee_user_id: userId, role, scope_filter: scope, expires_at: expiresAt } = attributes;
  const [granteeId, granteeEmail] = 'user_id' in grantee ? [grantee.user_id] : [undefined, grantee.email];
  await pool.query({
    name: 'save_authority_grant',
    text: `insert into authority_grant (id, workspace_id, version, state, user_id, role, podcast_ids, expires_at, since, grantee_id, grantee_email)
           values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
           on conflict (id) do update set version = excluded.version, state = excluded.state, user_id = excluded.user_id,
             role = excluded.role, podcast_ids = excluded.podcast_ids, expires_at = excluded.expires_at, since = excluded.since,
             grantee_id = excluded.grantee_id, grantee_email = excluded.grantee_email
           where authority_grant.version < excluded.version`,
    values: [
      ...[id, workspaceId, version, state, userId ?? null, role, scope?.podcast_ids ?? [], expiresAt, at],
      ...[granteeId ?? null, granteeEmail?.toLowerCase() ?? null],
    ],
  });
}
