import { databaseOutage } from '@longwave/postgres';
import type { Logger } from '@longwave/service-kit';
import { aggregateNextBatch, settleReadyRows, type AggregationTools } from './aggregate-batches.ts';
import { wakeWaitingRows } from './known-layout-table.ts';

export interface BatchWorker extends AsyncDisposable {
  /** Looks for work now. */
  wake(): void;
}

/**
 * Aggregates batches after they were accepted, one at a time. Any number of processes may do it.
 * @param options.pollMs how long work of another process may go unnoticed
 */
export function startBatchWorker(
  options: AggregationTools & { readonly logger: Logger; readonly pollMs?: number },
): BatchWorker {
  const { logger, pollMs = 1_000, ...tools } = options;
  let stopped = false;
  let waking = Promise.withResolvers<void>();

  const rest = async () => {
    const timer = setTimeout(() => waking.resolve(), pollMs);
    await waking.promise;
    clearTimeout(timer);
    waking = Promise.withResolvers();
  };

  /** False when there is nothing to do, or nothing that can be done now. */
  const work = async (): Promise<boolean> => {
    try {
      const [aggregated, settled] = [await aggregateNextBatch(tools), await settleReadyRows(tools)];
      return aggregated || settled;
    } catch (error) {
      if (databaseOutage(error)) logger.warn({ err: error }, 'batches.waiting_for_database');
      else logger.error({ err: error }, 'batch.aggregation_failed');
      return false;
    }
  };

  const running = (async () => {
    // A process may have ended between keeping a row and looking for its layout again.
    await wakeWaitingRows(tools.pool).catch((error: unknown) => logger.warn({ err: error }, 'batches.waking_failed'));
    while (!stopped) if (!(await work())) await rest();
  })();

  return {
    wake: () => waking.resolve(),
    [Symbol.asyncDispose]: async () => {
      stopped = true;
      waking.resolve();
      await running;
    },
  };
}
