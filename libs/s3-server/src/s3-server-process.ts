import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';

export interface S3ServerProcess {
  /** `http://127.0.0.1:port` */
  readonly endpoint: string;
  readonly pid: number;
  /** The next line that it prints, undefined after its end. */
  nextLine(): Promise<string | undefined>;
  /** Resolves when the process has ended: with its exit code, null after a signal that it did not handle. */
  readonly exited: Promise<number | null>;
  /** Sends the signal (default SIGTERM: requests in flight are finished) and waits for the end. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
}

/**
 * Runs main.ts from its source as a process of its own, with nothing in its environment but these settings and where Node keeps
 * compiled code.
 * @throws Error when it ends before it listens
 */
export async function startS3ServerProcess(options: {
  readonly folder: string;
  readonly accessKey: string;
  readonly secretKey: string;
  readonly region: string;
  /** Default: a free one. */
  readonly port?: number;
  readonly environment?: Readonly<Record<string, string>>;
  readonly nodeArguments?: readonly string[];
}): Promise<S3ServerProcess> {
  const { folder, accessKey, secretKey, region, port = 0, environment = {}, nodeArguments = [] } = options;
  const main = path.join(import.meta.dirname, 'main.ts');
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', ...nodeArguments, main], {
    env: {
      NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
      ...environment,
      S3_FOLDER: folder,
      S3_LISTEN: `127.0.0.1:${port}`,
      S3_ACCESS_KEY: accessKey,
      S3_SECRET_KEY: secretKey,
      S3_REGION: region,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit').then(([code]) => code as number | null);
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  const first = await Promise.race([lines.next(), exited.then(() => ({ done: true, value: undefined }) as const)]);
  if (first.done) throw new Error('The S3 server ended before it listened');
  const { listening } = JSON.parse(first.value) as { readonly listening: string };
  return {
    endpoint: listening,
    pid: child.pid ?? 0,
    nextLine: async () => (await lines.next()).value,
    exited,
    stop(signal = 'SIGTERM') {
      child.kill(signal);
      return exited;
    },
  };
}
