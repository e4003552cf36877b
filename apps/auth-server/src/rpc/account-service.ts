import type { Pool } from '@longwave/postgres';
import { decideAccess, tryVerifyPrincipal, type Principal } from '@longwave/principal';
import { Problem } from '@longwave/problems';
import { rpcService, type RpcContext, type RpcService } from '@longwave/rpc';
import { AccountServiceService } from '@longwave/rpc/credential';
import { gateways } from '@longwave/services';
import type { JWK } from 'jose';
import { listKeys, listMembers } from '../accounts/account-list-table.ts';

const maxListLength = 200;

/** Lists of the account that the call's statement names: no request can name another one. */
export function accountService({
  pool,
  principalKeys,
  clock,
}: {
  readonly pool: Pool;
  /** Public keys of statements about principals. */
  readonly principalKeys: readonly JWK[];
  readonly clock: () => Date;
}): RpcService {
  async function ownerOf({ principalStatement }: RpcContext): Promise<Principal> {
    if (principalStatement === undefined) throw new Problem('token_missing');
    const principal = await tryVerifyPrincipal(principalStatement, principalKeys, clock());
    if (!principal) throw new Problem('token_invalid');
    return principal;
  }
  const partOf = ({ after, limit }: { readonly after: string; readonly limit: number }) => {
    if (limit < 1 || limit > maxListLength)
      throw new Problem('validation_failed', `limit: expected 1 to ${maxListLength}`);
    return { after, limit };
  };
  return rpcService(
    AccountServiceService,
    { listMembers: gateways, listKeys: gateways },
    {
      listMembers: async (request, context) => ({
        members: await listMembers(pool, await ownerOf(context), partOf(request)),
      }),
      listKeys: async (request, context) => {
        const principal = await ownerOf(context);
        const target = { workspaceId: principal.workspace_id, podcastId: undefined };
        if (decideAccess(principal, target, { roles: ['owner', 'manager'] }).outcome !== 'permitted')
          throw new Problem('permission_denied', 'Only the owner and members who manage members see the keys.');
        return { keys: await listKeys(pool, principal, partOf(request)) };
      },
    },
  );
}
