import type { Pool } from '@longwave/postgres';
import { Problem } from '@longwave/problems';
import { rpcService, type RpcService } from '@longwave/rpc';
import { EnclosureServiceService } from '@longwave/rpc/delivery';
import { gateways } from '@longwave/services';
import { enclosurePath } from './feeds/to-feed.ts';
import { listEnclosures } from './projection/feed-table.ts';

const maxEpisodes = 200;

/** The RPCs for other services. Each caller has checked that its client may see the episodes that it names. */
export const deliveryServices = ({
  pool,
  mediaUrl,
}: {
  readonly pool: Pool;
  /** Without a slash at the end. */
  readonly mediaUrl: string;
}): RpcService[] => [
  rpcService(
    EnclosureServiceService,
    { findEnclosures: gateways },
    {
      findEnclosures: async ({ workspaceId, episodeIds }) => {
        if (episodeIds.length > maxEpisodes)
          throw new Problem('validation_failed', `episode_ids: at most ${maxEpisodes} at a time`);
        const rows = await listEnclosures(pool, workspaceId, episodeIds);
        return { enclosures: rows.map((row) => ({ episodeId: row.id, url: mediaUrl + enclosurePath(row) })) };
      },
    },
  ),
];
