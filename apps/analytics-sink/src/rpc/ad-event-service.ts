import type { Pool } from '@longwave/postgres';
import { parseOrProblem } from '@longwave/problems';
import { rpcService, type RpcService } from '@longwave/rpc';
import { AdEventServiceService } from '@longwave/rpc/audience';
import { z } from 'zod';
import { listAdEvents } from '../ads/ad-event-table.ts';

const listRequest = z.strictObject({
  workspaceIds: z.array(z.string().min(1).max(64)).max(20_000),
  fromMs: z
    .bigint()
    .min(0n)
    .max(8_640_000_000_000_000n)
    .transform((ms) => new Date(Number(ms)))
    .optional(),
});

/** Lists the counts of single servings for management, which calls the trackers of others (docs/tracking.md). */
export const adEventService = (pool: Pool): RpcService =>
  rpcService(
    AdEventServiceService,
    { listAdEvents: ['management'] },
    {
      listAdEvents: async (request) => {
        const { workspaceIds, fromMs: from } = parseOrProblem(listRequest, request);
        const { events, until, isBehind } = await listAdEvents(pool, workspaceIds, from);
        return {
          events: events.map((row) => ({
            event: row.event,
            countedAtMs: BigInt(row.counted_at.getTime()),
            servingId: row.serving_id,
            workspaceId: row.workspace_id,
            campaignId: row.campaign_id,
            lineItemId: row.line_item_id,
            creativeId: row.creative_id,
            ...(row.playhead_ms !== null && { playheadMs: BigInt(row.playhead_ms) }),
            breakPosition: row.break_position ?? '',
          })),
          untilMs: BigInt(until.getTime()),
          isBehind,
        };
      },
    },
  );
