import type { ActorOfCall } from '@longwave/command-pipeline';
import type { Pool } from '@longwave/postgres';
import { decideAccess, managerRoles, type Principal } from '@longwave/principal';
import { Problem } from '@longwave/problems';
import { rpcService, type RpcContext, type RpcService } from '@longwave/rpc';
import { AccountServiceService, type Key } from '@longwave/rpc/credential';
import { gateways } from '@longwave/services';
import { listMembers } from '../accounts/account-list-table.ts';
import { findPerson, findPlanName, getAccount } from '../accounts/account-table.ts';
import { planOf } from '../credentials/judge-credential.ts';
import { wirePlan } from '../credentials/verify-credential.ts';
import type { Plans } from '../plans.ts';
import { listCredentialsAfter, type ListedCredential } from '../credentials/credential-list-table.ts';

const maxListLength = 200;

const wireKey = ({ id, name, kind, scope, lifecycle_state: state, ...times }: ListedCredential): Key => ({
  ...{ id, name, kind, scope, state },
  ...(times.expires_at !== null && { expiresAtMs: BigInt(Date.parse(times.expires_at)) }),
  createdAtMs: BigInt(times.created_at.getTime()),
  updatedAtMs: BigInt(times.updated_at.getTime()),
});

/**
 * The account that the call's statement names, and its lists: no request of a gateway can name another one. Management, which works for
 * nobody at a time, asks for the plan of any workspace, and for the names of whoever's session it has verified.
 */
export function accountService({
  pool,
  plans,
  actorOf,
}: {
  readonly pool: Pool;
  readonly plans: Plans;
  readonly actorOf: ActorOfCall;
}): RpcService {
  async function principalOf(context: RpcContext): Promise<Principal> {
    const actor = await actorOf(context);
    if (actor.kind !== 'principal') throw new Problem('token_missing');
    return actor.principal;
  }
  async function managerOf(context: RpcContext): Promise<Principal> {
    const principal = await principalOf(context);
    const target = { workspaceId: principal.workspace_id, podcastId: undefined };
    if (decideAccess(principal, target, { roles: managerRoles }).outcome !== 'permitted')
      throw new Problem('permission_denied', 'Only the owner and members who manage members may read this.');
    return principal;
  }
  const partOf = ({ after, limit }: { readonly after: string; readonly limit: number }) => {
    if (limit < 1 || limit > maxListLength)
      throw new Problem('validation_failed', `limit: expected 1 to ${maxListLength}`);
    return { after, limit };
  };
  return rpcService(
    AccountServiceService,
    {
      ...{ getAccount: gateways, listMembers: gateways, listKeys: gateways },
      ...{ findPlan: ['management'], findPerson: ['management'] },
    },
    {
      getAccount: async (_request, context) => getAccount(pool, await principalOf(context)),
      listMembers: async (request, context) => ({
        members: await listMembers(pool, await managerOf(context), partOf(request)),
      }),
      listKeys: async (request, context) => ({
        keys: (await listCredentialsAfter(pool, await managerOf(context), partOf(request))).map(wireKey),
      }),
      findPerson: (request) => findPerson(pool, request),
      findPlan: async ({ workspaceId }) => {
        const name = await findPlanName(pool, workspaceId);
        if (name === undefined) return { plan: undefined };
        const plan = planOf(plans, name);
        return { plan: wirePlan(name, plan, plan, false) };
      },
    },
  );
}
