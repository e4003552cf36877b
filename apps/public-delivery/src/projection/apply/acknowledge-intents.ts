import type { Pool } from '@longwave/postgres';
import type { RpcClient } from '@longwave/rpc';
import type { ExchangeServiceService } from '@longwave/rpc/exchange';
import type { Logger } from '@longwave/service-kit';
import { pollLoop } from '@longwave/worker-kit';
import { claimIntents, noteApplied, postponeIntent, settleIntent, type DueIntent } from '../intent-table.ts';

export interface AcknowledgeIntentsOptions {
  readonly pool: Pool;
  readonly exchange: Pick<RpcClient<typeof ExchangeServiceService>, 'acknowledgeIntent'>;
  readonly logger: Logger;
  readonly now: () => Date;
}

const everyMs = 500;
const leaseMs = 60_000;
const maxConcurrent = 20;
/** Between two looks whether an intent is in force. */
const lookAgainMs = 2_000;
const deadlineMs = 5_000;
/** Between two calls of a service that did not answer. */
const retryMs = 5_000;

/**
 * Acknowledges serving intents to hosting-exchange, as every platform does: of each the newest version, once the projection serves what it
 * says. Tried again until it succeeds; listeners wait for none of it.
 */
export function acknowledgeIntents({ pool, exchange, logger, now }: AcknowledgeIntentsOptions): AsyncDisposable {
  let failing = false;

  async function acknowledge(due: DueIntent): Promise<void> {
    const { id, workspaceId, version, planDigest } = due;
    const appliedAt = due.appliedAt ?? (await noteApplied(pool, due, now()));
    if (!appliedAt) return postponeIntent(pool, due, lookAgainMs);
    try {
      const applied = { appliedAtMs: BigInt(appliedAt.getTime()), status: 'applied', detailCode: '' };
      await exchange.acknowledgeIntent(
        { workspaceId, intentId: id, intentVersion: version, planDigest, ...applied },
        { deadlineMs },
      );
      logger.info({ intent_id: id, version }, 'intent.acknowledged');
      await settleIntent(pool, due);
      failing = false;
    } catch (error) {
      if (!failing) logger.warn({ err: error, intent_id: id, version }, 'intent.acknowledgement_failed');
      failing = true;
      await postponeIntent(pool, due, retryMs);
    }
  }

  return pollLoop({
    everyMs,
    run: async () => {
      await Promise.all((await claimIntents(pool, leaseMs, maxConcurrent)).map(acknowledge));
    },
    onError: (error) => logger.warn({ err: error }, 'intents.unavailable'),
  });
}
