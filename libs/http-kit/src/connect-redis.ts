import { openRedis, type Logger } from '@longwave/service-kit';
import { Redis } from 'ioredis';

/** Logs that Redis is away. */
export const logRedisError =
  (logger: Pick<Logger, 'warn'>) =>
  (error: unknown): void =>
    logger.warn({ reason: error instanceof Error ? error.message : String(error) }, 'redis.unavailable');

/**
 * A connection for the work of requests: no request waits for a lost Redis. Resolves also while Redis is away.
 * @param address see `openRedis`
 */
export async function connectRedis(
  address: string | (() => string),
  options: {
    readonly connectionName: string;
    /** Milliseconds. */
    readonly commandTimeout: number;
    readonly onError: (error: unknown) => void;
  },
): Promise<Redis> {
  const { onError, ...own } = options;
  const redis = openRedis(
    address,
    (url) =>
      new Redis(url, {
        ...own,
        enableOfflineQueue: false,
        maxRetriesPerRequest: 0,
        connectTimeout: 1_000,
        // A connection that stays silent is a broken one, which only a new one replaces.
        socketTimeout: 2_000,
        lazyConnect: true,
      }),
  ).on('error', onError);
  await redis.connect().catch(onError);
  return redis;
}
