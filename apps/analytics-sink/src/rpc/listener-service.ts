import type { Pool } from '@longwave/postgres';
import { parseOrProblem } from '@longwave/problems';
import { rpcService, type RpcService } from '@longwave/rpc';
import { ListenerServiceService } from '@longwave/rpc/audience';
import { z } from 'zod';
import { collectListeners, eraseListeners } from '../erasure/erase-listeners.ts';

const name = { erasureId: z.string().min(1).max(64), workspaceId: z.string().min(1).max(64) };
const collectRequest = z.strictObject({
  ...name,
  listenerKeys: z.array(z.string().regex(/^[0-9a-f]{32,64}$/)).max(200),
});
const eraseRequest = z.strictObject(name);

/** Privacy requests of a workspace (docs/privacy.md), for management alone. */
export function listenerService(pool: Pool): RpcService {
  return rpcService(
    ListenerServiceService,
    { collectListeners: ['management'], eraseListeners: ['management'] },
    {
      collectListeners: async (request) => {
        const { listenerKeys, ...erasure } = parseOrProblem(collectRequest, request);
        return { listenerKeys: [...(await collectListeners(pool, erasure, listenerKeys))] };
      },
      eraseListeners: async (request) => {
        const { rows, keptListeners } = await eraseListeners(pool, parseOrProblem(eraseRequest, request));
        return {
          erased: Object.entries(rows).map(([table, count]) => ({ table, rows: BigInt(count) })),
          keptListeners,
        };
      },
    },
  );
}
