import type { BusMessage } from '@longwave/event-bus';
import { topics, type OpportunitiesCounted } from '@longwave/events';
import type { Pool } from '@longwave/postgres';
import { finishPublished, leaseCountedHours } from './opportunity-progress-table.ts';
import { listOpportunities, type StoredOpportunities } from './opportunity-table.ts';

/** Counts of one message. */
const pageSize = 500;

const wireRow = (row: StoredOpportunities): OpportunitiesCounted['rows'][number] => ({
  workspace_id: row.workspaceId,
  hour: new Date(row.hourMs).toISOString(),
  podcast_id: row.podcastId,
  episode_id: row.episodeId,
  country: row.country,
  break_key: row.breakKey,
  no_ad_reason: row.noAdReason,
  requests: row.requests,
  opportunities: row.opportunities,
  ...(row.positions && { positions: row.positions }),
});

/**
 * Publishes opportunities of hours that are counted, at least once: the numbers are whole, so a message that comes twice changes nothing.
 * All messages have one key, so that the last one of a round, which says up to where they reach, arrives behind the others.
 * @returns publishes at most a day; answers whether there may be more
 */
export const createPublishOpportunities =
  (pool: Pool, publish: (messages: readonly BusMessage[]) => Promise<void>) => async (): Promise<boolean> => {
    const range = await leaseCountedHours(pool);
    if (!range) return false;
    const until = range.to.toISOString();
    const send = (part: string, payload: OpportunitiesCounted) =>
      publish([
        {
          ...{ topic: topics.opportunities, key: 'opportunities', type: 'opportunities.counted', payload },
          id: `opportunities ${until} ${part}`,
        },
      ]);
    for (let offset = 0; ; offset += pageSize) {
      const rows = await listOpportunities(pool, range, offset, pageSize);
      if (rows.length > 0) await send(String(offset), { rows: rows.map(wireRow) });
      if (rows.length < pageSize) break;
    }
    await send('end', { rows: [], counted_until: until });
    await finishPublished(pool, range.to);
    return true;
  };
