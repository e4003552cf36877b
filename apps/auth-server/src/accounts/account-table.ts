import { accounts, users } from '@longwave/command-catalog';
import { findAnywhere, findResource, listInStates } from '@longwave/command-pipeline';
import type { Pool } from '@longwave/postgres';
import type { Principal } from '@longwave/principal';
import { Problem } from '@longwave/problems';
import type { FindPersonRequest, FindPersonResponse, GetAccountResponse } from '@longwave/rpc/credential';

/** The account that a principal acts in. Throws `not_found` when it is gone. */
export async function getAccount(
  pool: Pool,
  { account_id: id, workspace_id: workspaceId }: Pick<Principal, 'account_id' | 'workspace_id'>,
): Promise<GetAccountResponse> {
  const row = await findResource(pool, workspaceId, 'accounts', id);
  if (!row) throw new Problem('not_found', `There is no account ${id}.`);
  const { name, email = '', plan, subscription } = accounts.attributes.parse(row.attributes);
  const { state, trial_ends_at: trialEndsAt } = subscription;
  return {
    id,
    name,
    email,
    plan,
    subscriptionState: state,
    trialEndsAtMs: trialEndsAt === undefined ? undefined : BigInt(Date.parse(trialEndsAt)),
  };
}

/** The plan of the active account that owns a workspace, by name; undefined when there is none. */
export async function findPlanName(pool: Pool, workspaceId: string): Promise<string | undefined> {
  const [account] = await listInStates(pool, workspaceId, 'accounts', ['active']);
  return account?.attributes.plan;
}

/** The name of an account and what its pages show of a person. Throws `not_found` when the account is gone. */
export async function findPerson(
  pool: Pool,
  { accountId, workspaceId, userId }: FindPersonRequest,
): Promise<FindPersonResponse> {
  const account = await findResource(pool, workspaceId, 'accounts', accountId);
  if (!account) throw new Problem('not_found', `There is no account ${accountId}.`);
  const { name: accountName } = accounts.attributes.parse(account.attributes);
  const user = userId === '' ? undefined : await findAnywhere(pool, 'users', userId);
  if (!user) return { accountName, person: undefined };
  const { name, email, locale, time_zone: timeZone } = users.attributes.parse(user.attributes);
  return { accountName, person: { name, email, locale, timeZone } };
}
