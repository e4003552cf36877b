import type { Pool } from '@longwave/postgres';

/** Whether a workspace has a grant, proposed or active, that names the user or an address that the user has proved. */
export async function hasGrantFor(pool: Pool, workspaceId: string, userId: string): Promise<boolean> {
  const { rowCount } = await pool.query({
    name: 'has_grant_for',
    text: `select from resource
           where workspace_id = $1 and resource_type = 'authority_grants' and lifecycle_state in ('proposed', 'active')
             and (attributes ->> 'grantee_user_id' = $2 or attributes #>> '{grantee,user_id}' = $2
                  or encode(sha256(convert_to(attributes #>> '{grantee,email}', 'UTF8')), 'hex')
                     = (select email_digest from known_user where user_id = $2)) limit 1`,
    values: [workspaceId, userId],
  });
  return rowCount === 1;
}
