/** A client of Redis that reads its options at each connection, as ioredis does. */
interface RedisClient {
  readonly options: { password?: string | undefined };
}

/**
 * Opens a client of Redis. Where the address is a function, each connection logs in with the password that it has by then, so that a
 * changed one needs no restart.
 * @param open makes the client of an address
 */
export function openRedis<R extends RedisClient>(address: string | (() => string), open: (address: string) => R): R {
  if (typeof address === 'string') return open(address);
  const client = open(address());
  Object.defineProperty(client.options, 'password', {
    enumerable: true,
    get: () => decodeURIComponent(new URL(address()).password) || undefined,
  });
  return client;
}
