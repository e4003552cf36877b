import type { Logger } from '@longwave/service-kit';
import type { Redis, Result } from 'ioredis';

export interface RateVerdict {
  readonly throttled: boolean;
  /** Of every answer to a counted request, refused or not. */
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

/** The verdict on the `count`-th request of a minute. */
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

/**
 * Counts a request under a key, of which `limit` may come in a clock minute.
 * Never rejects: while Redis is away requests pass, and the log tells how many did.
 */
export type CountRequest = (key: string, limit: number) => Promise<RateVerdict>;

/** Counts in Redis, for all processes together. */
export function createRateLimit(redis: Redis, clock: () => Date, logger: Logger): CountRequest {
  let uncounted = 0;
  redis.defineCommand('countRequest', { numberOfKeys: 1, lua: countScript });
  return async (key, limit) => {
    const now = clock();
    try {
      return judgeRate(await redis.countRequest(`rate:${key}:${Math.floor(now.getTime() / 60_000)}`), limit, now);
    } catch (error) {
      uncounted += 1;
      const reason = error instanceof Error ? error.message : String(error);
      logger.warn({ uncounted, reason }, 'rate_limit.uncounted');
      return { throttled: false, headers: {} };
    }
  };
}
