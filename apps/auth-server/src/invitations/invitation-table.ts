import { memberships } from '@longwave/command-catalog';
import type { Pool } from '@longwave/postgres';
import { grantedRoles } from '@longwave/principal';
import { z } from 'zod';
import type { Columns } from '../generated/rows.ts';
import { collaborationRoles } from '../grants/grant.ts';

const rowSchema = z.object({
  id: z.string(),
  workspace_id: z.string(),
  email: z.string(),
  account_id: z.string(),
  organization: z.string(),
  permissions: memberships.attributes.shape.permissions.nullable(),
  podcast: z.string().nullable(),
  roles: z.array(z.enum(collaborationRoles)).nullable(),
  granted: z
    .object({
      role: z.enum(grantedRoles),
      podcasts: z.array(z.string()),
      expires_at: z.coerce.date(),
      version: z.number(),
    })
    .nullable(),
});

/** An invitation that waits. */
export interface Invitation {
  readonly id: string;
  readonly workspaceId: string;
  readonly email: string;
  /** The account that invites. */
  readonly accountId: string;
  /** Its name. */
  readonly organization: string;
  /** A membership of the organization, work on one podcast, or an authority grant. */
  readonly offer:
    | { readonly permissions: z.output<typeof memberships.attributes>['permissions'] }
    | { readonly podcast: string; readonly roles: readonly (typeof collaborationRoles)[number][] }
    | { readonly grant: ProposedGrant };
}

/** An authority grant of which management knows; it decides about the answer. */
interface ProposedGrant {
  readonly version: number;
  readonly role: (typeof grantedRoles)[number];
  /** Titles; empty: the whole workspace. */
  readonly podcasts: readonly string[];
  readonly expiresAt: Date;
}

const waiting = `select * from (
    select m.id, m.workspace_id, m.attributes->>'email' as email, o.id as account_id, o.attributes->>'name' as organization,
           m.attributes->'permissions' as permissions, null as podcast, null::json as roles, null::json as granted
    from resource m
    join resource o on o.id = m.attributes->>'owner_account_id' and o.lifecycle_state = 'active'
    where m.resource_type = 'memberships' and m.lifecycle_state = 'invited'
    union all
    select i.id, p.workspace_id, i.email, o.id, o.attributes->>'name', null, coalesce(p.title, ''), c.roles, null
    from collaborator_invitation i
    join collaborated_podcast p on p.id = i.podcast_id
    join resource o on o.workspace_id = p.workspace_id and o.resource_type = 'accounts' and o.lifecycle_state = 'active'
    cross join lateral (
      select json_agg(role order by role desc) as roles from collaboration
      where podcast_id = i.podcast_id and email = i.email and since = i.since) c
    where i.answered_at is null and c.roles is not null
    union all
    select g.id, g.workspace_id, coalesce(g.grantee_email, u.attributes->>'email'), o.id, o.attributes->>'name', null, null, null,
           json_build_object('role', g.role, 'version', g.version, 'expires_at', g.expires_at, 'podcasts', array(
             select coalesce(p.title, '') from collaborated_podcast p where p.id = any(g.podcast_ids) order by p.id))
    from authority_grant g
    join resource o on o.workspace_id = g.workspace_id and o.resource_type = 'accounts' and o.lifecycle_state = 'active'
    left join resource u on u.id = g.grantee_id and u.resource_type = 'users' and u.lifecycle_state = 'active'
    where g.state = 'proposed' and coalesce(g.grantee_email, u.attributes->>'email') is not null
  ) i`;

const offerOf = ({ expires_at: expiresAt, ...grant }: NonNullable<z.output<typeof rowSchema>['granted']>) => ({
  grant: { ...grant, expiresAt },
});

const parseRows = (rows: unknown): Invitation[] =>
  z
    .array(rowSchema)
    .parse(rows)
    .map(({ workspace_id: workspaceId, account_id: accountId, permissions, podcast, roles, granted, ...row }) => ({
      ...{ ...row, workspaceId, accountId },
      offer: granted
        ? offerOf(granted)
        : podcast === null
          ? { permissions: permissions ?? [] }
          : { podcast, roles: roles ?? [] },
    }));

/** Invitations that wait for who has an address. */
export async function listInvitationsOf(pool: Pool, email: string): Promise<readonly Invitation[]> {
  const { rows } = await pool.query(`${waiting} where i.email = $1 order by i.id limit 100`, [email]);
  return parseRows(rows);
}

/** Invitations whose mail is due. */
export async function listUnsentInvitations(pool: Pool): Promise<readonly Invitation[]> {
  const { rows } = await pool.query(
    `${waiting} where not exists (select from invitation_mail s where s.invitation_id = i.id) order by i.id limit 100`,
  );
  return parseRows(rows);
}

/** Takes the mail of an invitation to send; false when another process has. */
export async function claimInvitationMail(pool: Pool, invitationId: string, now: Date): Promise<boolean> {
  const { rowCount } = await pool.query(
    'insert into invitation_mail (invitation_id, sent_at) values ($1, $2) on conflict do nothing',
    [invitationId, now],
  );
  return rowCount === 1;
}

/** Records that the mail of an invitation is never sent. */
export async function withholdInvitationMail(pool: Pool, invitationId: string): Promise<void> {
  await pool.query('update invitation_mail set sent_at = null where invitation_id = $1', [invitationId]);
}

/** Those of the given invitations whose mail is never sent. */
export async function findWithheldMails(pool: Pool, invitationIds: readonly string[]): Promise<ReadonlySet<string>> {
  const { rows } = await pool.query<Columns<'invitation_mail', 'invitation_id'>>(
    'select invitation_id from invitation_mail where invitation_id = any($1) and sent_at is null',
    [invitationIds],
  );
  return new Set(rows.map((row) => row.invitation_id));
}

/** Gives the mail back, to be sent later. */
export async function releaseInvitationMail(pool: Pool, invitationId: string): Promise<void> {
  await pool.query('delete from invitation_mail where invitation_id = $1', [invitationId]);
}

/**
 * Records the answer to an invitation to a podcast; the first answer counts.
 * @param accountId the account that works on the podcast from now on; undefined when the person declines
 */
export async function answerCollaboration(
  pool: Pool,
  invitationId: string,
  accountId: string | undefined,
  now: Date,
): Promise<void> {
  await pool.query(
    'update collaborator_invitation set account_id = $2, answered_at = $3 where id = $1 and answered_at is null',
    [invitationId, accountId ?? null, now],
  );
}
