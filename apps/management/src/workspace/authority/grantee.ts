import type { Attributes } from '@longwave/command-catalog';
import type { Pool, Transaction } from '@longwave/postgres';
import { listUsersWithEmail } from '../people/people-table.ts';

type Grant = Pick<Attributes<'authority_grants'>, 'grantee' | 'grantee_user_id'>;

/** The users whom a grant names: who activated it, else the named user, else who has proved the address. A hosting platform is none. */
export async function granteesOf(
  db: Pick<Pool, 'query'> | Transaction,
  { grantee, grantee_user_id: activatedBy }: Readonly<Grant>,
): Promise<readonly string[]> {
  if (activatedBy !== undefined) return [activatedBy];
  if ('client_id' in grantee) return [];
  return 'user_id' in grantee ? [grantee.user_id] : listUsersWithEmail(db, grantee.email);
}

/** Whether a grant is for a hosting platform, and not for a person. */
export const isForPlatform = ({ grantee }: Readonly<Grant>): boolean => 'client_id' in grantee;
