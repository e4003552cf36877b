import { openRedis } from '@longwave/service-kit';
import { Redis } from 'ioredis';

const askEveryMs = 5_000;

/**
 * Opens a connection for channels of Redis. It asks every 5 s whether the server is there: without a word it would wait for ever when the
 * network has broken in silence. When it is lost it connects and subscribes again by itself, and messages of the meantime are lost.
 * @param address see `openRedis`
 * @param options.onError called with every failure to connect
 */
export function openSubscriber(
  address: string | (() => string),
  options: { readonly connectionName: string; readonly onError: (error: unknown) => void },
): Redis {
  const { connectionName, onError } = options;
  const redis = openRedis(
    address,
    (url) =>
      new Redis(url, {
        connectionName,
        connectTimeout: 2_000,
        socketTimeout: askEveryMs,
        maxRetriesPerRequest: null,
        retryStrategy: (times) => Math.min(times * 100, 2_000),
      }),
  );
  redis.on('error', onError);
  const timer = setInterval(() => {
    if (redis.status === 'ready') redis.ping().catch(() => undefined);
  }, askEveryMs);
  timer.unref();
  redis.once('end', () => clearInterval(timer));
  return redis;
}
