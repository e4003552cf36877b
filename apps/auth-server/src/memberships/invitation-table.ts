import { memberships } from '@longwave/command-catalog';
import type { Pool } from '@longwave/postgres';
import { z } from 'zod';

const rowSchema = z.object({
  id: z.string(),
  workspace_id: z.string(),
  email: z.string(),
  permissions: memberships.attributes.shape.permissions,
  organization: z.string(),
});

/** An invitation that waits. */
export interface Invitation {
  readonly id: string;
  readonly workspaceId: string;
  readonly email: string;
  readonly permissions: z.output<typeof memberships.attributes>['permissions'];
  /** Name of the account that invites. */
  readonly organization: string;
}

const waiting = `select m.id, m.workspace_id, m.attributes->>'email' as email, m.attributes->'permissions' as permissions,
                        o.attributes->>'name' as organization
                 from resource m
                 join resource o on o.id = m.attributes->>'owner_account_id' and o.lifecycle_state = 'active'
                 where m.resource_type = 'memberships' and m.lifecycle_state = 'invited'`;

const parseRows = (rows: unknown): Invitation[] =>
  z
    .array(rowSchema)
    .parse(rows)
    .map(({ workspace_id: workspaceId, ...row }) => ({ ...row, workspaceId }));

/** Invitations that wait for who has an address. */
export async function listInvitationsOf(pool: Pool, email: string): Promise<readonly Invitation[]> {
  const { rows } = await pool.query(`${waiting} and m.attributes->>'email' = $1 order by m.id limit 100`, [email]);
  return parseRows(rows);
}

/** Invitations whose mail was not sent yet. */
export async function listUnsentInvitations(pool: Pool): Promise<readonly Invitation[]> {
  const { rows } = await pool.query(
    `${waiting} and not exists (select from invitation_mail i where i.membership_id = m.id) order by m.id limit 100`,
  );
  return parseRows(rows);
}

/** Takes the mail of an invitation to send; false when another process has. */
export async function claimInvitationMail(pool: Pool, membershipId: string, now: Date): Promise<boolean> {
  const { rowCount } = await pool.query(
    'insert into invitation_mail (membership_id, sent_at) values ($1, $2) on conflict do nothing',
    [membershipId, now],
  );
  return rowCount === 1;
}

/** Gives the mail back, to be sent later. */
export async function releaseInvitationMail(pool: Pool, membershipId: string): Promise<void> {
  await pool.query('delete from invitation_mail where membership_id = $1', [membershipId]);
}
