import { memberPermissions } from '@longwave/command-catalog';
import { transaction, type Pool } from '@longwave/postgres';
import type { Role } from '@longwave/principal';
import { z } from 'zod';
import { grantsMax, rolesOfCollaborator, rolesOfMember } from './grant.ts';

/** What an account may do in the workspace of another one. */
export interface StoredGrant {
  readonly workspaceId: string;
  /** Absent: everything in the workspace, as a member of the organization. */
  readonly podcastId?: string;
  readonly roles: readonly Role[];
  /** Name of the plan of the workspace's owner. */
  readonly plan: string;
}

const rowSchema = z.object({
  workspace_id: z.string(),
  podcast_id: z.string().nullable(),
  permissions: z.array(z.enum(memberPermissions)).nullable(),
  role: z.enum(['editor', 'analyst']).nullable(),
  plan: z.string(),
});

/** Memberships and collaborations of an account, memberships first, the oldest first; those of closed accounts are left out. */
export async function listGrants(
  pool: Pool,
  account: { id: string; email: string | undefined },
): Promise<StoredGrant[]> {
  const { rows } = await pool.query({
    name: 'list_grants',
    text: `select * from (
             select 0 as place, m.id, m.workspace_id, null as podcast_id, m.attributes->'permissions' as permissions, null as role,
                    o.attributes->>'plan' as plan
             from resource m
             join resource o on o.id = m.attributes->>'owner_account_id' and o.lifecycle_state = 'active'
             where m.resource_type = 'memberships' and m.lifecycle_state = 'active' and m.attributes->>'member_account_id' = $1
             union all
             select 1, p.id, p.workspace_id, p.id, null, c.role, o.attributes->>'plan'
             from collaboration c
             join collaborated_podcast p on p.id = c.podcast_id
             join resource o on o.workspace_id = p.workspace_id and o.resource_type = 'accounts' and o.lifecycle_state = 'active'
             where c.email = $2
           ) g order by place, id limit $3`,
    values: [account.id, account.email ?? null, grantsMax],
  });
  return rows.map((row) => {
    const { workspace_id, podcast_id, permissions, role, plan } = rowSchema.parse(row);
    return {
      workspaceId: workspace_id,
      ...(podcast_id !== null && { podcastId: podcast_id }),
      roles: role === null ? rolesOfMember(permissions ?? []) : rolesOfCollaborator(role),
      plan,
    };
  });
}

/** Who collaborates on a podcast since a version of it; an older version never overwrites a newer one. */
export async function saveCollaborators(
  pool: Pool,
  podcast: {
    readonly id: string;
    readonly workspaceId: string;
    readonly version: number;
    readonly collaborators: readonly { readonly email: string; readonly role: string }[];
  },
): Promise<void> {
  await transaction(pool, async (tx) => {
    const { rowCount } = await tx.query(
      `insert into collaborated_podcast (id, workspace_id, version) values ($1, $2, $3)
       on conflict (id) do update set version = excluded.version where collaborated_podcast.version < excluded.version`,
      [podcast.id, podcast.workspaceId, podcast.version],
    );
    if (rowCount !== 1) return;
    await tx.query('delete from collaboration where podcast_id = $1', [podcast.id]);
    await tx.query(
      `insert into collaboration (podcast_id, email, role)
       select $1, email, role from unnest($2::text[], $3::text[]) as given (email, role)`,
      [podcast.id, podcast.collaborators.map((each) => each.email), podcast.collaborators.map((each) => each.role)],
    );
  });
}
