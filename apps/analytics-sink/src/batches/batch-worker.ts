import { databaseOutage } from '@longwave/postgres';
import type { Logger } from '@longwave/service-kit';
import { pollLoop, type PollLoop } from '@longwave/worker-kit';
import { aggregateNextBatch, settleReadyRows, type AggregationDeps } from './aggregate-batches.ts';
import { wakeWaitingRows } from './known-layout-table.ts';

/**
 * Aggregates accepted batches, one at a time. Any number of processes may run it.
 * @param options.pollMs the longest time until it notices a batch that another process accepted
 */
export function startBatchWorker(
  options: AggregationDeps & { readonly logger: Logger; readonly pollMs?: number },
): PollLoop {
  const { logger, pollMs = 1_000, ...deps } = options;
  // An earlier process may have ended between storing a waiting row and looking for its layout again.
  const woken = wakeWaitingRows(deps.pool).catch((error: unknown) =>
    logger.warn({ err: error }, 'batches.waking_failed'),
  );
  return pollLoop({
    everyMs: pollMs,
    run: async () => {
      await woken;
      const [aggregated, settled] = [await aggregateNextBatch(deps), await settleReadyRows(deps)];
      return aggregated || settled;
    },
    onError: (error) => {
      if (databaseOutage(error)) logger.warn({ err: error }, 'batches.waiting_for_database');
      else logger.error({ err: error }, 'batch.aggregation_failed');
    },
  });
}
