import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Redis } from 'ioredis';
import { startChild, waitUntilReady, type Child } from './child.ts';
import type { IdentityFiles } from './development-ca.ts';
import { freePort } from './free-ports.ts';
import { renderRedisConfiguration } from './redis-configuration.ts';

export interface RedisServerOptions {
  readonly folder: string;
  /** Of the default user, who may do everything. Letters and digits. */
  readonly password: string;
  /** Further users: `user` lines of redis.conf. */
  readonly users?: readonly string[];
  /** See `RedisConfiguration`. */
  readonly mode: 'durable' | 'fast';
  readonly port?: number;
  readonly databases?: number;
  /** Above it, Redis refuses what adds to its data, and evicts nothing. Default: no bound. */
  readonly maxMemoryBytes?: number;
  /** With it, connections are TLS and no others are taken; this process must trust its authority (`trustAuthority`). */
  readonly tls?: IdentityFiles | undefined;
  readonly logFile: string;
  readonly pidFolder: string;
}

export interface RedisServer {
  readonly port: number;
  readonly url: string;
  readonly child: Child;
  readonly stop: () => Promise<void>;
}

async function answers(url: string): Promise<boolean> {
  const redis = new Redis(url, { lazyConnect: true, retryStrategy: () => null, disconnectTimeout: 100 });
  redis.on('error', () => undefined);
  try {
    await redis.connect();
    const pong = await redis.ping();
    await redis.quit();
    return pong === 'PONG';
  } catch (error) {
    redis.disconnect();
    throw error;
  }
}

/** Starts a real Redis on 127.0.0.1 with a password (in a file only we can read, never on the command line). */
export async function startRedisServer(options: RedisServerOptions): Promise<RedisServer> {
  const port = options.port ?? (await freePort());
  const { tls } = options;
  mkdirSync(options.folder, { recursive: true, mode: 0o700 });
  const configuration = path.join(options.folder, 'redis.conf');
  const text = renderRedisConfiguration({
    ...{ folder: options.folder, port, bind: '127.0.0.1', password: options.password, users: options.users ?? [] },
    ...{
      databases: options.databases ?? 16,
      maxMemoryBytes: options.maxMemoryBytes,
      mode: options.mode,
      tls: options.tls,
    },
  });
  writeFileSync(configuration, text, { mode: 0o600 });
  const child = await startChild({
    name: 'redis',
    command: 'redis-server',
    args: [configuration],
    env: {},
    logFile: options.logFile,
    pidFolder: options.pidFolder,
    stopSignal: 'SIGTERM',
  });
  const url = `${tls ? 'rediss' : 'redis'}://:${options.password}@127.0.0.1:${port}`;
  await waitUntilReady(child, options.logFile, () => answers(url), 30_000);
  return { port, url, child, stop: async () => void (await child.stop()) };
}
