import { openRedis } from '@longwave/service-kit';
import { Redis } from 'ioredis';

/** A Redis that needs longer is treated as down: line items with goals or caps then wait. */
const maxAnswerMs = 100;

/** Redis for decisions: nothing is queued while it is away, and nothing is sent twice. */
export function connectRedis(address: string | (() => string), onError: (error: unknown) => void): Redis {
  const redis = openRedis(
    address,
    (url) =>
      new Redis(url, {
        enableOfflineQueue: false,
        enableAutoPipelining: true,
        maxRetriesPerRequest: 0,
        autoResendUnfulfilledCommands: false,
        connectTimeout: 2_000,
        commandTimeout: maxAnswerMs,
        // A connection that stays silent is a broken one, which only a new one replaces.
        socketTimeout: 2_000,
        retryStrategy: (times) => Math.min(times * 50, 1_000),
      }),
  );
  redis.on('error', onError);
  return redis;
}
