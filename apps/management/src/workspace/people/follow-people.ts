import { isResource } from '@longwave/command-catalog';
import type { DomainEvent } from '@longwave/events';
import type { Pool } from '@longwave/postgres';
import { rolesOfMember } from '@longwave/principal';
import { saveAccount, saveMember, saveUser } from './people-table.ts';

/** A group of its own: it reads the topic from its beginning, also where management has followed it before. */
export const peopleFollowerGroup = 'management.people';

/** Keeps from an event of auth-server who owns an account, who is a member of it, and which address a person has. */
export async function keepPeople(
  pool: Pool,
  { after, subject, workspace_id: workspaceId }: DomainEvent,
): Promise<void> {
  const { id, version } = subject;
  const isActive = after.lifecycle_state === 'active';
  if (isResource(after, 'accounts'))
    await saveAccount(pool, { id, workspaceId, ownerUserId: after.attributes.owner_user_id, isActive, version });
  else if (isResource(after, 'memberships')) {
    const { member_account_id: accountId, permissions } = after.attributes;
    const roles = rolesOfMember(permissions);
    await saveMember(pool, { membershipId: id, workspaceId, accountId, roles, isActive, version });
  } else if (isResource(after, 'users')) {
    const { email, email_verified: isVerified } = after.attributes;
    await saveUser(pool, { id, email: isActive && isVerified ? email : undefined, version });
  }
}
