import { memberPermissions } from '@longwave/command-catalog';
import { transaction, type Pool } from '@longwave/postgres';
import { grantedRoles, rolesOfMember, type Role } from '@longwave/principal';
import { z } from 'zod';
import { collaborationRoles, maxCollaborationsPerWorkspace, maxGrants, rolesOfCollaborator } from './grant.ts';

/** The rights of an account in the workspace of another one. */
export interface StoredGrant {
  readonly workspaceId: string;
  /** Absent: everything in the workspace. */
  readonly podcastId?: string;
  readonly roles: readonly Role[];
  /** Name of the plan of the workspace's owner. */
  readonly plan: string;
}

const rowSchema = z.object({
  workspace_id: z.string(),
  podcast_id: z.string().nullable(),
  permissions: z.array(z.enum(memberPermissions)).nullable(),
  /** Of a collaboration: what the account was invited as. */
  invited_as: z.array(z.enum(collaborationRoles)).nullable(),
  /** Of an authority grant. */
  role: z.enum(grantedRoles).nullable(),
  plan: z.string(),
  ends_at: z.date().nullable(),
  total: z.coerce.number(),
});

export interface GrantList {
  readonly grants: readonly StoredGrant[];
  /** Grants that a statement does not carry. */
  readonly leftOut: number;
  /** When the first of them ends by itself; absent when none does. */
  readonly endsAt?: Date;
}

/**
 * Memberships of an account, active authority grants of its owner and collaborations that it has accepted, in this order, those that began
 * first before later ones. A closed account and one whose subscription is canceled or suspended give none.
 */
export async function listGrants(
  pool: Pool,
  account: {
    readonly id: string;
    readonly email?: string | undefined;
    readonly owner_user_id?: string | undefined;
  },
  now: Date,
): Promise<GrantList> {
  const { rows } = await pool.query({
    name: 'list_grants',
    text: `with given as (
             select 0 as place, m.created_at as since, m.id, m.workspace_id, null as podcast_id,
                    m.attributes->'permissions' as permissions, null::text[] as invited_as, null as role,
                    null::timestamptz as ends_at, o.attributes as owner
             from resource m
             join resource o on o.id = m.attributes->>'owner_account_id' and o.lifecycle_state = 'active'
               and not exists (select from account_without_workspace w where w.account_id = o.id)
             where m.resource_type = 'memberships' and m.lifecycle_state = 'active' and m.attributes->>'member_account_id' = $1
             union all
             select 1, g.since, g.id, g.workspace_id, p.id, null, null, g.role, g.expires_at, o.attributes
             from authority_grant g left join lateral unnest(g.podcast_ids) as p (id) on true
             join resource o on o.workspace_id = g.workspace_id and o.resource_type = 'accounts' and o.lifecycle_state = 'active'
             where g.user_id = $5 and g.state = 'active' and g.expires_at > $6
             union all
             select 2, c.since, p.id, p.workspace_id, p.id, null, c.invited_as, null, null, o.attributes
             from (select podcast_id, since, array_agg(role order by role) as invited_as
                   from collaboration join collaborator_invitation i using (podcast_id, email, since)
                   where email = $2 and i.account_id = $1 group by podcast_id, since) c
             join collaborated_podcast p on p.id = c.podcast_id
             join resource o on o.workspace_id = p.workspace_id and o.resource_type = 'accounts' and o.lifecycle_state = 'active'
           ), counting as (
             select *, owner->>'plan' as plan, count(*) over () as total,
                    row_number() over (partition by place, workspace_id order by since, id) as nth
             from given where owner->'subscription'->>'state' not in ('canceled', 'suspended')
           )
           select workspace_id, podcast_id, permissions, invited_as, role, plan, ends_at, total
           from counting where place = 0 or nth <= $4 order by place, since, id limit $3`,
    values: [
      account.id,
      account.email ?? null,
      maxGrants,
      maxCollaborationsPerWorkspace,
      account.owner_user_id ?? null,
      now,
    ],
  });
  const found = z.array(rowSchema).parse(rows);
  const organizations = new Set(found.filter((row) => row.permissions !== null).map((row) => row.workspace_id));
  const rolesOf = ({ workspace_id, permissions, invited_as: invitedAs, role }: (typeof found)[number]): Role[] => {
    if (role !== null) return [...new Set<Role>(['viewer', role])];
    return invitedAs === null
      ? rolesOfMember(permissions ?? [])
      : rolesOfCollaborator(invitedAs, { isMember: organizations.has(workspace_id) });
  };
  const grants = found.map((row) => ({
    workspaceId: row.workspace_id,
    ...(row.podcast_id !== null && { podcastId: row.podcast_id }),
    roles: rolesOf(row),
    plan: row.plan,
  }));
  const ends = found.flatMap(({ ends_at: endsAt }) => endsAt?.getTime() ?? []);
  return {
    grants,
    leftOut: (found[0]?.total ?? 0) - found.length,
    ...(ends.length > 0 && { endsAt: new Date(Math.min(...ends)) }),
  };
}

/**
 * Stores the collaborators of one version of a podcast, and invites new ones; an older version never overwrites a newer one. A collaborator
 * keeps the time of its first invitation when its roles change, and so its answer.
 */
export async function saveCollaborators(
  pool: Pool,
  podcast: {
    readonly id: string;
    readonly workspaceId: string;
    readonly version: number;
    readonly title: string;
    /** When this version was made. */
    readonly at: Date;
    readonly collaborators: readonly { readonly email: string; readonly role: string }[];
  },
): Promise<void> {
  await transaction(pool, async (tx) => {
    const { rowCount } = await tx.query(
      `insert into collaborated_podcast (id, workspace_id, version, title) values ($1, $2, $3, $4)
       on conflict (id) do update set version = excluded.version, title = excluded.title
       where collaborated_podcast.version < excluded.version`,
      [podcast.id, podcast.workspaceId, podcast.version, podcast.title],
    );
    if (rowCount !== 1) return;
    const emails = podcast.collaborators.map((each) => each.email);
    const roles = podcast.collaborators.map((each) => each.role);
    await tx.query(
      `insert into collaboration (podcast_id, email, role, since)
       select $1, email, role,
              coalesce((select min(since) from collaboration c where c.podcast_id = $1 and c.email = given.email), $4)
       from unnest($2::text[], $3::text[]) as given (email, role)
       on conflict (podcast_id, email, role) do nothing`,
      [podcast.id, emails, roles, podcast.at],
    );
    await tx.query(
      `delete from collaboration where podcast_id = $1
         and (email, role) not in (select email, role from unnest($2::text[], $3::text[]) as given (email, role))`,
      [podcast.id, emails, roles],
    );
    await tx.query(
      `insert into collaborator_invitation (id, podcast_id, email, since)
       select distinct on (email) gen_random_uuid()::text, podcast_id, email, since from collaboration where podcast_id = $1
       on conflict (podcast_id, email, since) do nothing`,
      [podcast.id],
    );
  });
}
