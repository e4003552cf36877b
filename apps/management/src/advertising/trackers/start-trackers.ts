import { createGuardedFetch, type GuardedFetch } from '@longwave/guarded-fetch';
import { repeatSweeps, type Pool } from '@longwave/postgres';
import { observeGauge, type Logger } from '@longwave/service-kit';
import { createCallTracker } from './call-tracker.ts';
import { collectEvents, type ListAdEvents } from './collect-events.ts';
import { countCalls, makeCalls, type CallOptions } from './make-calls.ts';
import { forgetHosts } from './tracker-attempt-table.ts';
import { countWaiting, giveUpLate, removeCalls } from './tracker-call-table.ts';

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

/** Days that ended calls are kept: whoever counts them twice finds the first one. The ledger itself tells of each serving once. */
const keptDays = 7;
/** Waiting calls are counted up to here. */
const maxCounted = 1_000_000;

export interface TrackerOptions extends Pick<CallOptions, 'random' | 'leaseMs' | 'pollMs'> {
  readonly pool: Pool;
  readonly listAdEvents: ListAdEvents;
  /** Origins that may be on another port or private, for development. */
  readonly allowOrigins: readonly string[];
  readonly clock: () => Date;
  readonly logger: Logger;
  /** Milliseconds between two questions to the sink. */
  readonly collectEveryMs?: number;
  /** Milliseconds that a tracker has for its answer. */
  readonly answerMs?: number;
  /** In place of the one that asks public addresses. */
  readonly fetch?: GuardedFetch;
}

/**
 * Calls the trackers of others about what was counted of servings (docs/tracking.md), until it is disposed. No request of a listener and no
 * count waits for any of it.
 */
export function startTrackers(options: TrackerOptions): AsyncDisposable {
  const { pool, clock, logger, allowOrigins, collectEveryMs = 2_000 } = options;
  const { fetch = createGuardedFetch({ allowOrigins, userAgent: 'Longwave-Tracking/1.0' }) } = options;
  const stack = new AsyncDisposableStack();
  const count = countCalls();
  const making = stack.use(
    makeCalls({
      ...options,
      call: createCallTracker(fetch, clock, options.answerMs),
      onError: (err, call) =>
        logger.error({ err, call_id: call?.id, owner_id: call?.owner_id }, 'trackers.call_failed'),
    }),
  );
  stack.use(
    collectEvents({
      ...options,
      everyMs: collectEveryMs,
      onQueued: making.wake,
      onGivenUp: (calls) => count('given_up', calls),
      onError: (err) => logger.warn({ err }, 'trackers.not_collected'),
    }),
  );
  stack.use(
    repeatSweeps({
      sweeps: [
        {
          name: 'late_tracker_calls',
          remove: async (maxRows) => {
            const late = await giveUpLate(pool, clock(), maxRows);
            if (late > 0) count('given_up', late);
            return late;
          },
        },
        {
          name: 'tracker_calls',
          remove: (maxRows) => removeCalls(pool, new Date(clock().getTime() - keptDays * dayMs), maxRows),
        },
        {
          name: 'failing_tracker_hosts',
          remove: (maxRows) => forgetHosts(pool, new Date(clock().getTime() - dayMs), maxRows),
        },
      ],
      everyMs: minuteMs,
      onSwept: (sweep, rows) => logger.info({ sweep, rows }, 'trackers.swept'),
      onError: (sweep, err) => logger.warn({ err, sweep }, 'trackers.sweep_failed'),
    }),
  );
  stack.use(
    observeGauge(
      'longwave.tracker.waiting',
      { unit: '{call}', description: 'Calls of trackers that wait' },
      async () => [{ value: await countWaiting(pool, maxCounted) }],
    ),
  );
  return stack;
}
