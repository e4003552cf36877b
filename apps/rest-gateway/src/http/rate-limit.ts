import type { Logger } from '@longwave/service-kit';
import type { Redis, Result } from 'ioredis';
import type { Caller } from './authenticate.ts';

/** `upload_urls` is the separate, higher limit of the three upload URL endpoints (contract, Limits). */
export type Bucket = 'requests' | 'upload_urls';

export interface RateVerdict {
  readonly throttled: boolean;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * One step per request: counts it and lets the minute's counter vanish by itself. The time to live is relative, and set
 * whenever it is missing, so that neither a wrong clock here nor a lost one there leaves a counter for ever.
 */
const countScript = `local count = redis.call('INCR', KEYS[1])
if redis.call('TTL', KEYS[1]) < 0 then redis.call('EXPIRE', KEYS[1], 120) end
return count`;

declare module 'ioredis' {
  interface RedisCommander<Context> {
    countRequest(key: string): Result<number, Context>;
  }
}

/** Legacy tokens have no separate upload limit (contract, Limits). */
function limitOf(
  { credentialKind, plan }: Caller,
  bucket: Bucket,
): { readonly bucket: Bucket; readonly limit: number } {
  if (bucket === 'upload_urls' && credentialKind !== 'legacy_token') return { bucket, limit: plan.uploadUrlsPerMinute };
  return { bucket: 'requests', limit: plan.requestsPerMinute };
}

/** Headers of an answer to the `count`-th request of a minute (contract, Limits). */
export function judgeRate(count: number, limit: number, now: Date): RateVerdict {
  const reset = (Math.floor(now.getTime() / 60_000) + 1) * 60;
  const throttled = count > limit;
  const waitSeconds = Math.max(1, Math.ceil(reset - now.getTime() / 1000));
  return {
    throttled,
    headers: {
      'RateLimit-Limit': String(limit),
      'RateLimit-Remaining': String(Math.max(0, limit - count)),
      'RateLimit-Reset': String(reset),
      ...(throttled && { 'Retry-After': String(waitSeconds) }),
    },
  };
}

export type CountRequest = (caller: Caller, bucket: Bucket) => Promise<RateVerdict>;

/** Browser sessions are not counted (contract, Authentication, rule 8). */
const uncountedKind = 'browser_session';

/** Counts per authenticated client, which a rotation keeps, and clock minute in Redis. While Redis is away requests pass; the log tells how many did. */
export function createRateLimit(redis: Redis, clock: () => Date, logger: Logger): CountRequest {
  let uncounted = 0;
  redis.defineCommand('countRequest', { numberOfKeys: 1, lua: countScript });
  return async (caller, wanted) => {
    if (caller.credentialKind === uncountedKind) return { throttled: false, headers: {} };
    const now = clock();
    const { bucket, limit } = limitOf(caller, wanted);
    const key = `rate:${bucket}:${caller.clientId || caller.credentialId}:${Math.floor(now.getTime() / 60_000)}`;
    try {
      return judgeRate(await redis.countRequest(key), limit, now);
    } catch (error) {
      uncounted += 1;
      const reason = error instanceof Error ? error.message : String(error);
      logger.warn({ uncounted, reason }, 'rate_limit.uncounted');
      return { throttled: false, headers: {} };
    }
  };
}
