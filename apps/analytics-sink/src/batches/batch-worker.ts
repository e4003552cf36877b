import { databaseOutage } from '@longwave/postgres';
import type { Logger } from '@longwave/service-kit';
import { pollLoop, type PollLoop } from '@longwave/worker-kit';
import { aggregateNextBatch, settleReadyRows, type AggregationTools } from './aggregate-batches.ts';
import { wakeWaitingRows } from './known-layout-table.ts';

/**
 * Aggregates accepted batches, one at a time. Any number of processes may run it.
 * @param options.pollMs the longest time until it notices a batch that another process accepted
 */
export function startBatchWorker(
  options: AggregationTools & { readonly logger: Logger; readonly pollMs?: number },
): PollLoop {
  const { logger, pollMs = 1_000, ...tools } = options;
  // An earlier process may have ended between storing a waiting row and looking for its layout again.
  const woken = wakeWaitingRows(tools.pool).catch((error: unknown) =>
    logger.warn({ err: error }, 'batches.waking_failed'),
  );
  return pollLoop({
    everyMs: pollMs,
    run: async () => {
      await woken;
      const [aggregated, settled] = [await aggregateNextBatch(tools), await settleReadyRows(tools)];
      return aggregated || settled;
    },
    onError: (error) => {
      if (databaseOutage(error)) logger.warn({ err: error }, 'batches.waiting_for_database');
      else logger.error({ err: error }, 'batch.aggregation_failed');
    },
  });
}
