import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { renderListenAddress } from '@longwave/service-kit';
import { startChild, waitUntilReady, type Child } from './child.ts';
import { freePort } from './free-ports.ts';
import { workspaceRoot } from './workspace-root.ts';

export interface ObjectStoreServerOptions {
  readonly folder: string;
  /** The key that may do everything. */
  readonly accessKey: string;
  readonly secretKey: string;
  /** A file with all keys, that one too, which is read again when it changes; without it there is that one alone. */
  readonly keysFile?: string;
  /** Default: 127.0.0.1. */
  readonly host?: string;
  readonly port?: number;
  readonly logFile: string;
  readonly pidFolder: string;
}

/** Address and keys of an S3 server. */
export interface ObjectStoreAccess {
  readonly endpoint: string;
  readonly region: string;
  readonly accessKey: string;
  readonly secretKey: string;
}

export interface ObjectStoreServer extends ObjectStoreAccess {
  readonly port: number;
  readonly child: Child;
  readonly stop: () => Promise<void>;
}

const region = 'us-east-1';

/** Where programs of this machine reach what is bound to an address: itself, unless it stands for all of them. */
export const reachableHost = (host: string) => (['0.0.0.0', '::'].includes(host) ? '127.0.0.1' : host);

/** Starts our S3 server; its endpoint is for programs of this machine. Objects are files under `folder`. */
export async function startObjectStoreServer(options: ObjectStoreServerOptions): Promise<ObjectStoreServer> {
  const { host = '127.0.0.1' } = options;
  const port = options.port ?? (await freePort());
  mkdirSync(options.folder, { recursive: true, mode: 0o700 });
  const { accessKey, secretKey } = options;
  const child = await startChild({
    name: 's3-server',
    command: process.execPath,
    args: ['--enable-source-maps', path.join(workspaceRoot, 'libs/s3-server/src/main.ts')],
    env: {
      S3_FOLDER: options.folder,
      S3_LISTEN: renderListenAddress({ host, port }),
      S3_ACCESS_KEY: accessKey,
      S3_SECRET_KEY: secretKey,
      S3_REGION: region,
      ...(options.keysFile !== undefined && { S3_KEYS_FILE: options.keysFile }),
    },
    cwd: workspaceRoot,
    logFile: options.logFile,
    pidFolder: options.pidFolder,
    stopSignal: 'SIGTERM',
  });
  const endpoint = `http://${renderListenAddress({ host: reachableHost(host), port })}`;
  const answers = async () => (await fetch(endpoint, { signal: AbortSignal.timeout(2_000) })).status < 500;
  await waitUntilReady(child, options.logFile, answers, 30_000);
  return { port, endpoint, region, accessKey, secretKey, child, stop: async () => void (await child.stop()) };
}
