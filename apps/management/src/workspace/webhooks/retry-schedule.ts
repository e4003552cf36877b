const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;

/** Milliseconds from each failed attempt to the next one; after the last of them that one repeats. */
export const retryDelaysMs: readonly number[] = [
  5 * second,
  30 * second,
  5 * minute,
  30 * minute,
  2 * hour,
  5 * hour,
  8 * hour,
  12 * hour,
  12 * hour,
  16 * hour,
];

/** How long a delivery is tried, from the time when it was queued. */
export const giveUpAfterMs = 72 * hour;

/** When something that failed is tried again. */
export interface RetrySchedule {
  /** Milliseconds from each failed attempt to the next one; after the last of them that one repeats. */
  readonly delaysMs: readonly number[];
  /** How long it is tried, from the time when it was queued. */
  readonly giveUpAfterMs: number;
}
const ofMessages: RetrySchedule = { delaysMs: retryDelaysMs, giveUpAfterMs };

/** Each delay is made up to a tenth shorter or longer, so that a receiver that was away does not get everything at once. */
const jitter = 0.1;

/**
 * The time of the next attempt; undefined when there is none. The last one is made when the time is over.
 * @param failed attempts since the delivery was queued
 * @param retryAfterMs what the receiver asks for
 * @param random 0 to 1
 * @param schedule default: that of messages to webhook endpoints
 */
export function nextAttemptAt(
  { queuedAt, failed, retryAfterMs = 0 }: { queuedAt: Date; failed: number; retryAfterMs?: number | undefined },
  now: Date,
  random: number,
  { delaysMs, giveUpAfterMs: triedMs }: RetrySchedule = ofMessages,
): Date | undefined {
  const lastAt = queuedAt.getTime() + triedMs;
  if (now.getTime() >= lastAt) return undefined;
  const delayMs = delaysMs[Math.min(failed, delaysMs.length) - 1]! * (1 - jitter + 2 * jitter * random);
  return new Date(Math.min(lastAt, now.getTime() + Math.max(delayMs, retryAfterMs)));
}

/** The milliseconds that a `Retry-After` asks for (RFC 9110 §10.2.3); undefined for anything else. */
export function tryParseRetryAfter(value: string | undefined, now: Date): number | undefined {
  if (value === undefined) return undefined;
  if (/^\d{1,9}$/.test(value)) return Number(value) * second;
  const at = /^[A-Z][a-z]{2}, /.test(value) ? Date.parse(value) : NaN;
  return Number.isNaN(at) ? undefined : Math.max(0, at - now.getTime());
}
