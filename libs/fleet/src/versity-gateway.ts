import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { renderListenAddress } from '@longwave/service-kit';
import { startChild, waitUntilReady } from './child.ts';
import { freePort } from './free-ports.ts';
import { reachableHost, type ObjectStoreServer } from './object-store-server.ts';

const region = 'us-east-1';

/** Starts Versity S3 Gateway, an S3 server that is not ours. Objects are files under `folder`. */
export async function startVersityGateway(options: {
  /** The program, absolute. */
  readonly program: string;
  readonly folder: string;
  /** The key that may do everything. */
  readonly accessKey: string;
  readonly secretKey: string;
  /** Further accounts, as the server's file of them (`users.json`) has them. */
  readonly accounts?: object | undefined;
  /** Default: 127.0.0.1. */
  readonly host?: string;
  readonly port?: number;
  readonly logFile: string;
  readonly pidFolder: string;
}): Promise<ObjectStoreServer> {
  const { program, folder, accessKey, secretKey, accounts, host = '127.0.0.1', logFile, pidFolder } = options;
  const port = options.port ?? (await freePort());
  const [objects, metadata] = [path.join(folder, 'objects'), path.join(folder, 'metadata')];
  for (const each of [objects, metadata]) mkdirSync(each, { recursive: true, mode: 0o700 });
  const known = path.join(folder, 'accounts');
  if (accounts) {
    mkdirSync(known, { recursive: true, mode: 0o700 });
    writeFileSync(path.join(known, 'users.json'), JSON.stringify(accounts), { mode: 0o600 });
  }
  const child = await startChild({
    name: 's3-server',
    command: program,
    // The sidecar keeps metadata in files, so that the file system needs no extended attributes.
    args: [...(accounts ? ['--iam-dir', known] : []), '--quiet', 'posix', '--sidecar', metadata, objects],
    env: {
      VGW_PORT: renderListenAddress({ host, port }),
      VGW_REGION: region,
      VGW_KEEP_ALIVE: 'true',
      ROOT_ACCESS_KEY: accessKey,
      ROOT_SECRET_KEY: secretKey,
    },
    logFile,
    pidFolder,
    stopSignal: 'SIGTERM',
  });
  const endpoint = `http://${renderListenAddress({ host: reachableHost(host), port })}`;
  const answers = async () => (await fetch(endpoint, { signal: AbortSignal.timeout(2_000) })).status < 500;
  await waitUntilReady(child, logFile, answers, 20_000);
  return { port, endpoint, region, accessKey, secretKey, child, stop: async () => void (await child.stop()) };
}
