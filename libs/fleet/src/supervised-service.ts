import { existsSync } from 'node:fs';
import { youngGenerationMbOf } from '@longwave/services';
import { startChild, tailOf, type Child, type ChildExit } from './child.ts';
import type { DataFolder } from './data-folder.ts';
import { keepRunning, type ServiceEvent, type Supervision } from './keep-running.ts';

/** One service under supervision: when it dies it is started again, with growing pauses. */
export interface SupervisedService {
  /** Of the service; further replicas have theirs behind it: `management-2`. */
  readonly name: string;
  /** Of the process that runs now; undefined while there is none. */
  readonly pid: number | undefined;
  /** How often it was started again after dying by itself or by `kill`. */
  readonly restarts: number;
  /** The end of the process that runs now. */
  readonly exited: Promise<ChildExit>;
  /** Sends a signal to the process. It comes back by itself unless `stop` follows. */
  readonly kill: (signal: NodeJS.Signals) => void;
  /** From `stop` until `start`. */
  readonly isStopping: boolean;
  /** Whether `/readyz` answers 200. */
  readonly isReady: () => Promise<boolean>;
  /** Orderly stop: SIGTERM, on which it finishes what it has begun; it stays down until `start`. */
  readonly stop: () => Promise<void>;
  readonly start: () => Promise<void>;
  /** `stop`, then `start`, then `ready`. */
  readonly restart: () => Promise<void>;
  /** Resolves when `/readyz` answers 200. Rejects after `timeoutMs` or when the configuration is refused. */
  readonly ready: (timeoutMs?: number) => Promise<void>;
}

export interface SuperviseOptions {
  readonly name: string;
  /** The built program, absolute. */
  readonly main: string;
  readonly environment: Readonly<Record<string, string>>;
  /** See the service's entry in the manifest. */
  readonly youngGenerationMb?: number;
  /** "host:port" of `/readyz`. */
  readonly healthAddress: string;
  readonly data: DataFolder;
  readonly onEvent: (event: ServiceEvent) => void;
}

/**
 * Blocks of 4 MB and more go back to the system as soon as they are free. Without this, glibc keeps those of each thread: 150 MB of password
 * hashes in auth-server (mallopt(3), M_MMAP_THRESHOLD). Images have the same, by deploy/Dockerfile.
 */
const memory = { MALLOC_MMAP_THRESHOLD_: String(4 * 1024 * 1024) };

/** EX_CONFIG of BSD sysexits: starting again cannot help. */
const configurationRefused = 78;

/** Why it is not ready; '' when it is. */
async function unreadiness(address: string): Promise<string> {
  const response = await fetch(`http://${address}/readyz`, { signal: AbortSignal.timeout(3_000) });
  const text = await response.text();
  return response.ok ? '' : `not ready: ${text}`;
}

/** Starts a built app under supervision. Rejects when it was never built. */
export async function superviseService(options: SuperviseOptions): Promise<SupervisedService> {
  const { name, main, data, onEvent } = options;
  if (!existsSync(main)) throw new Error(`${name} is not built: ${main} is missing`);
  const logFile = data.logFile(name);
  let child: Child;
  let supervision: Supervision | undefined;
  let refused = false;
  let isStopping = false;
  let earlierRestarts = 0;

  const launch = async () => {
    child = await startChild({
      name,
      command: process.execPath,
      args: [`--max-semi-space-size=${youngGenerationMbOf(options)}`, main],
      env: { ...options.environment, ...memory },
      cwd: data.root,
      logFile,
      pidFolder: data.pids,
      stopSignal: 'SIGTERM',
    });
    return child;
  };
  const mayStartAgain = ({ code }: ChildExit) => {
    refused = code === configurationRefused;
    return !refused;
  };

  const start = async () => {
    if (supervision && !refused) return;
    refused = false;
    isStopping = false;
    supervision = keepRunning({ name, child: await launch(), startAgain: launch, mayStartAgain, onEvent });
  };
  const stop = async () => {
    isStopping = true;
    await supervision?.end();
    earlierRestarts += supervision?.restarts ?? 0;
    supervision = undefined;
    await child.stop();
  };
  const ready = async (timeoutMs = 60_000) => {
    const deadline = performance.now() + timeoutMs;
    let reason = 'no answer';
    while (performance.now() < deadline) {
      if (refused) throw new Error(`${name} refuses its configuration:\n${tailOf(logFile)}`);
      const { pid } = child;
      reason = await unreadiness(options.healthAddress).catch(() => 'no answer on its health port');
      if (reason === '' && child.isRunning() && child.pid === pid) return;
      await new Promise((resolve) => setTimeout(resolve, 40));
    }
    throw new Error(
      `${name} is ${reason} after ${timeoutMs / 1000} s. Its log ${logFile} ends with:\n${tailOf(logFile)}`,
    );
  };

  await start();
  return {
    name,
    get pid() {
      return child.isRunning() ? child.pid : undefined;
    },
    get restarts() {
      return earlierRestarts + (supervision?.restarts ?? 0);
    },
    get exited() {
      return child.exited;
    },
    get isStopping() {
      return isStopping;
    },
    isReady: () =>
      unreadiness(options.healthAddress).then(
        (reason) => reason === '',
        () => false,
      ),
    kill: (signal) => child.kill(signal),
    stop,
    start,
    restart: async () => {
      await stop();
      await start();
      await ready();
    },
    ready,
  };
}
