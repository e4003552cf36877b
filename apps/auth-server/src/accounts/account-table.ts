import { accounts } from '@longwave/command-catalog';
import { findResource, listInStates } from '@longwave/command-pipeline';
import type { Pool } from '@longwave/postgres';
import type { Principal } from '@longwave/principal';
import { Problem } from '@longwave/problems';
import type { GetAccountResponse } from '@longwave/rpc/credential';

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
