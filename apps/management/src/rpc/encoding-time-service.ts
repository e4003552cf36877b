import type { ActorOfCall } from '@longwave/command-pipeline';
import type { Pool } from '@longwave/postgres';
import { rpcService, type RpcService } from '@longwave/rpc';
import { EncodingTimeServiceService } from '@longwave/rpc/resource';
import { readEncodingTime } from '../hosting/productions/encoding-balance-table.ts';
import type { Access } from '../workspace/access/access.ts';
import { readers } from './request-fields.ts';

/** The encoding time of a workspace's month. */
export function encodingTimeService({
  actorOf,
  access,
  pool,
  clock,
}: {
  readonly actorOf: ActorOfCall;
  readonly access: Access;
  readonly pool: Pool;
  readonly clock: () => Date;
}): RpcService {
  return rpcService(
    EncodingTimeServiceService,
    { getEncodingTime: readers },
    {
      getEncodingTime: async ({ workspaceId }, context) => {
        access.checkWorkspace(await actorOf(context), workspaceId);
        const { month, usedMs, reservedMs, limitMs } = await readEncodingTime(pool, workspaceId, clock());
        return {
          month,
          usedMs: BigInt(usedMs),
          reservedMs: BigInt(reservedMs),
          limitMs: limitMs === null || limitMs === undefined ? undefined : BigInt(limitMs),
        };
      },
    },
  );
}
