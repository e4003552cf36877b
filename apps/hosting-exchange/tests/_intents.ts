import { newId } from '@longwave/ids';
import { transaction } from '@longwave/postgres';
import { saveIntent } from '../src/intents/intent-table.ts';
import { now, type Exchange, type Platform } from './_exchange.ts';

/** The plan that the intents name. */
export const planDigest = 'p'.repeat(64);

/** A platform whose intent has these versions, each published so many seconds ago. */
export async function withIntent(
  exchange: Exchange,
  ages: readonly number[],
): Promise<{ readonly host: Platform; readonly intentId: string }> {
  const host = await exchange.platform();
  const intentId = newId('sin');
  await transaction(exchange.pool, async (tx) => {
    for (const [index, age] of ages.entries()) {
      const publishedAt = new Date(now.getTime() - age * 1000).toISOString();
      await saveIntent(
        tx,
        { id: intentId, version: index + 1, workspaceId: host.workspaceId, publishedAt },
        {
          authority_id: host.authorityId,
          plan_digest: planDigest,
          actions: [{ alias: 'a1', source_id: 'ep-1', source_version: 1, presentation: 'stitched' }],
          effective_at: publishedAt,
          supersedes: index,
        },
      );
    }
  });
  return { host, intentId };
}

export const listIntents = (exchange: Exchange, host: Platform, query = '') =>
  exchange.request(host, 'GET', `/workspaces/${host.workspaceId}/serving-intents${query}`);
