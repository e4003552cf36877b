import { machineTokens } from '@longwave/command-catalog';
import { findAnywhere } from '@longwave/command-pipeline';
import { isId } from '@longwave/ids';
import type { Pool } from '@longwave/postgres';
import { rpcService, type RpcService } from '@longwave/rpc';
import { ClientServiceService } from '@longwave/rpc/credential';
import { findClient } from '../oauth/client-table.ts';

/** Machine tokens, for APIs that verify them by their signature. */
export function clientService({ pool }: { readonly pool: Pool }): RpcService {
  const isIssued = async (tokenId: string) =>
    (await findAnywhere(pool, 'machine_tokens', tokenId))?.lifecycle_state === 'active';
  const isActive = async (clientId: string) => (await findClient(pool, clientId))?.isActive === true;
  return rpcService(
    ClientServiceService,
    { checkMachineToken: ['analytics-sink', 'hosting-exchange'] },
    {
      checkMachineToken: async ({ clientId, tokenId }) => ({
        active: await (isId(tokenId, machineTokens.prefix) ? isIssued(tokenId) : isActive(clientId)),
      }),
    },
  );
}
