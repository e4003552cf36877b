import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import path from 'node:path';
import { freePorts } from '@longwave/fleet';
import { bareEnvironment, until } from '@longwave/test-kit';
import { type Bench } from './_support.ts';

interface HeldBytes {
  readonly heapUsed: number;
  readonly external: number;
}

/** The service as a process of its own, with its memory in view. */
export interface ServiceProcess {
  readonly pid: number;
  /** http://127.0.0.1:port */
  readonly url: string;
  /** Bytes of the heap and of buffers that are in use, after a full collection. */
  held(): Promise<HeldBytes>;
  /** The exit code; undefined when it had ended before. */
  stop(signal: NodeJS.Signals): Promise<number | null | undefined>;
}

const main = path.join(import.meta.dirname, '../src/main.ts');
const probe = path.join(import.meta.dirname, '_memory-probe.ts');

/** Starts the service and waits until it is ready. */
export async function startServiceProcess(bench: Bench): Promise<ServiceProcess> {
  const [mediaPort, healthPort] = (await freePorts(2)) as [number, number];
  const child: ChildProcess = spawn(process.execPath, ['--expose-gc', '--import', probe, main], {
    env: {
      ...bareEnvironment,
      ...bench.environment,
      HTTP_LISTEN: `127.0.0.1:${mediaPort}`,
      HEALTH_LISTEN: `127.0.0.1:${healthPort}`,
    },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve));
  await until(() =>
    fetch(`http://127.0.0.1:${healthPort}/readyz`).then(
      (answer) => answer.ok,
      () => false,
    ),
  );
  return {
    pid: child.pid!,
    url: `http://127.0.0.1:${mediaPort}`,
    held: async () => {
      const answer = once(child, 'message');
      child.send('held');
      return ((await answer) as [HeldBytes])[0];
    },
    stop: async (signal) => {
      if (child.exitCode !== null || child.signalCode !== null) return undefined;
      child.kill(signal);
      return exited;
    },
  };
}

/** A listener's request on a connection of its own; resolves with the headers. */
export const openUrl = (url: string, headers: Readonly<Record<string, string>> = {}) =>
  new Promise<IncomingMessage>((resolve, reject) => {
    const listener = { 'user-agent': 'Overcast/3.0', 'x-forwarded-for': '198.18.9.9' };
    get(url, { agent: false, headers: { ...listener, ...headers } }, resolve).once('error', reject);
  });
