import { findAnywhere } from '@longwave/command-pipeline';
import { isId } from '@longwave/ids';
import type { Pool } from '@longwave/postgres';
import { meter } from '@longwave/service-kit';
import { LeaseEnded, leasedWorker, type PollLoop } from '@longwave/worker-kit';
import { nextAttemptAt, type RetrySchedule } from '../../workspace/webhooks/retry-schedule.ts';
import type { CallTracker, Called } from './call-tracker.ts';
import {
  claimCall,
  recordCall,
  recordUnmade,
  releaseCall,
  renewCallLease,
  type ClaimedCall,
} from './tracker-attempt-table.ts';
import { giveUpAfterMs } from './tracker-call-table.ts';

const minuteMs = 60_000;

/** Pauses between the attempts at a call, which is tried for a day. */
const trackerSchedule: RetrySchedule = {
  delaysMs: [10_000, minuteMs, 5 * minuteMs, 30 * minuteMs, 120 * minuteMs, 360 * minuteMs],
  giveUpAfterMs,
};

/** Longer than an attempt; after a crash the call is made again when it has run out. */
const defaultLeaseMs = 30_000;
/** Calls that are made at a time by one process. */
const concurrency = 48;

/** Statuses that another attempt may change: the host is overloaded or out of order, or asks for patience. */
const isPassing = (status: number | undefined) =>
  status === undefined || status >= 500 || [408, 425, 429].includes(status);

/** Problems that another attempt cannot change. */
const isFinal = ({ problem, status }: Called) => problem === 'address_refused' || !isPassing(status);

/** What a tracker's answer leads to. */
function nextOf(call: ClaimedCall, called: Called, now: Date, random: number) {
  if (called.problem === undefined) return { state: 'delivered' } as const;
  if (isFinal(called)) return { state: 'failed' } as const;
  const { retryAfterMs } = called;
  const state = { queuedAt: call.counted_at, failed: call.attempts + 1, retryAfterMs };
  const nextAt = nextAttemptAt(state, now, random, trackerSchedule);
  return nextAt ? ({ state: 'pending', nextAt } as const) : ({ state: 'given_up' } as const);
}

export interface CallOptions {
  readonly pool: Pool;
  readonly call: CallTracker;
  readonly clock: () => Date;
  /** 0 to 1. */
  readonly random?: () => number;
  readonly leaseMs?: number;
  /** Milliseconds between two polls; a wake-up call comes earlier. */
  readonly pollMs?: number;
  readonly onError: (error: unknown, call?: Pick<ClaimedCall, 'id' | 'owner_id'>) => void;
}

type CallOutcome = 'delivered' | 'retried' | 'failed' | 'given_up';

/** Counts calls of trackers by their outcome. Zeros make the series visible before the first call. */
export function countCalls(): (outcome: CallOutcome, quantity?: number) => void {
  const calls = meter().createCounter('longwave.tracker.calls', {
    unit: '{call}',
    description: 'Attempts to call trackers of others, and calls that were given up',
  });
  const count = (outcome: CallOutcome, quantity = 1) => calls.add(quantity, { outcome });
  for (const outcome of ['delivered', 'retried', 'failed', 'given_up'] as const) count(outcome, 0);
  return count;
}

/**
 * Makes due calls, each under a lease, until it is disposed. Any number of processes may do it. A call may arrive twice, when a process ends
 * between the answer and its record; its random number is the same.
 */
export function makeCalls(options: CallOptions): PollLoop {
  const { pool, call: callTracker, clock, onError } = options;
  const { random = Math.random, leaseMs = defaultLeaseMs, pollMs = 1_000 } = options;
  const count = countCalls();

  /** Whether the owner wants no calls any more; what stands on a creative is called whatever became of the creative. */
  async function isDisabled({ owner_id: ownerId }: ClaimedCall): Promise<boolean> {
    if (!isId(ownerId, 'trk')) return false;
    return (await findAnywhere(pool, 'tracking_endpoints', ownerId))?.lifecycle_state !== 'active';
  }

  async function make(call: ClaimedCall, signal: AbortSignal): Promise<void> {
    const isLate = call.attempts === 0 && clock().getTime() - call.counted_at.getTime() > giveUpAfterMs;
    const obstacle = isLate ? 'too_late' : (await isDisabled(call)) ? 'endpoint_disabled' : undefined;
    if (obstacle) {
      await recordUnmade(pool, call, obstacle, clock());
      return count('given_up');
    }
    const called = await callTracker(call, signal);
    const now = clock();
    const next = nextOf(call, called, now, random());
    await recordCall(pool, call, called, next, now);
    count(next.state === 'pending' ? 'retried' : next.state);
  }

  return leasedWorker<ClaimedCall>({
    concurrency,
    pollMs,
    claim: () => claimCall(pool, clock(), leaseMs),
    leaseOf: (call) => ({
      leaseMs,
      renew: () => renewCallLease(pool, call, new Date(clock().getTime() + leaseMs)),
    }),
    work: async (call, signal) => {
      try {
        await make(call, signal);
      } catch (error) {
        if (!signal.aborted) throw error;
        const isShutdown = signal.reason instanceof LeaseEnded && signal.reason.reason === 'shutdown';
        if (isShutdown) await releaseCall(pool, call, clock());
      }
    },
    onError,
  });
}
