import type { Pool } from '@longwave/postgres';
import { rpcService, type RpcService } from '@longwave/rpc';
import { ClientServiceService } from '@longwave/rpc/credential';
import { findClient } from '../oauth/client-table.ts';

/** Clients of the authorization server, for APIs that verify access tokens of machines themselves. */
export function clientService({ pool }: { readonly pool: Pool }): RpcService {
  return rpcService(
    ClientServiceService,
    { checkClient: ['analytics-sink'] },
    { checkClient: async ({ clientId }) => ({ active: (await findClient(pool, clientId))?.isActive === true }) },
  );
}
