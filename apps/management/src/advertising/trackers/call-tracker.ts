import { createHash } from 'node:crypto';
import type { GuardedFetch } from '@longwave/guarded-fetch';
import { fillMacros } from '@longwave/vast';
import { fetchFailureOf } from '../../outside/fetch-failure.ts';
import { tryParseRetryAfter } from '../../workspace/webhooks/retry-schedule.ts';
import type { ClaimedCall, TrackerAttempt } from './tracker-attempt-table.ts';

/** For name, connection, redirects and the headers of the answer. */
const timeoutMs = 5_000;
const maxRedirects = 2;

/** What a tracker answered. */
export interface Called extends TrackerAttempt {
  readonly retryAfterMs: number | undefined;
}

/** Eight digits that are the same at every attempt at a call, so that a tracker can see a repetition. */
const cacheBustingOf = (callId: string) => createHash('sha256').update(callId).digest().readUInt32BE() % 100_000_000;

/** The address of a call. It is told the serving and its time, and nothing of who listens. */
const addressOf = (call: ClaimedCall): string =>
  fillMacros(call.url_template, {
    now: call.counted_at,
    cacheBusting: cacheBustingOf(call.id),
    adServingId: call.serving_id,
    ...(call.playhead_ms !== null && { playheadMs: call.playhead_ms }),
    ...(call.break_position !== null && { breakPosition: call.break_position }),
    ...(call.ad_type !== null && { adType: call.ad_type }),
  });

/** Calls a tracker; never throws for its host. Nothing is sent but the address, and nothing of the answer's body is read. */
export const createCallTracker =
  (fetch: GuardedFetch, clock: () => Date, limitMs = timeoutMs) =>
  async (call: ClaimedCall, stop: AbortSignal): Promise<Called> => {
    try {
      using response = await fetch(addressOf(call), {
        maxBytes: Number.MAX_SAFE_INTEGER,
        maxRedirects,
        // The signal ends it first, so that a timeout is known as one.
        timeoutMs: 2 * limitMs,
        idleTimeoutMs: 2 * limitMs,
        signal: AbortSignal.any([AbortSignal.timeout(limitMs), stop]),
      });
      const { status, headers } = response;
      if (status >= 200 && status < 300) return { status, problem: undefined, retryAfterMs: undefined };
      return { status, problem: 'status', retryAfterMs: tryParseRetryAfter(headers['retry-after'], clock()) };
    } catch (error) {
      stop.throwIfAborted();
      return { status: undefined, problem: fetchFailureOf(error), retryAfterMs: undefined };
    }
  };

export type CallTracker = ReturnType<typeof createCallTracker>;
