import { Problem } from '@longwave/problems';
import type { AskBacktest } from '../server.ts';
import type { ComputeThread } from './thread.ts';

/** The longest that one may take, its reading included. */
const maxMs = 570_000;
const readMs = 120_000;

/**
 * Makes backtests, each on a thread of its own that ends with it, so that neither forecasts nor sellers wait. A second one at the same
 * time is refused.
 */
export function createAskBacktest(startThread: () => ComputeThread): AskBacktest {
  let isBusy = false;
  return async (question, left) => {
    if (isBusy)
      throw new Problem('rate_limited', 'Another backtest is being made; ask again.', { retryAfterSeconds: 30 });
    isBusy = true;
    try {
      await using thread = startThread();
      const ended = AbortSignal.any([left, AbortSignal.timeout(maxMs)]);
      return await thread.ask({ ...question, deadlineMs: readMs }, { ended });
    } finally {
      isBusy = false;
    }
  };
}
