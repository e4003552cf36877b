import type { Child } from './child.ts';
import { keepRunning, type ServiceEvent } from './keep-running.ts';

/** An engine as its starter gives it: the process, and the port that its users know. */
export interface StartedEngine {
  readonly port: number;
  readonly child: Child;
  readonly stop: () => Promise<void>;
}

/** An engine under supervision: when it dies it is started again on the same port, over the same data. */
export interface SupervisedEngine<E extends StartedEngine> {
  /** As it was started first; its addresses stay true. */
  readonly first: Omit<E, 'child' | 'stop'>;
  /** How often it was started again. */
  readonly restarts: number;
  /** Sends a signal to the process. It comes back by itself unless `stop` follows. */
  readonly kill: (signal: NodeJS.Signals) => void;
  /** Orderly stop, for good. */
  readonly stop: () => Promise<void>;
}

/** An engine that runs elsewhere, in the place of a supervised one. Nobody here starts or stops it, and `kill` throws. */
export function outsideEngine<E extends StartedEngine>(
  name: string,
  first: Omit<E, 'child' | 'stop'>,
): SupervisedEngine<E> {
  const kill = () => {
    throw new Error(`${name} runs elsewhere: it cannot be killed here`);
  };
  return { first, restarts: 0, kill, stop: async () => undefined };
}

/**
 * Starts an engine and keeps it running.
 * @param start starts it, on that port when one is given; rejects while it cannot (a port or memory that its predecessor still holds)
 * Rejects when the first start fails.
 */
export async function superviseEngine<E extends StartedEngine>(
  name: string,
  start: (port?: number) => Promise<E>,
  onEvent: (event: ServiceEvent) => void,
): Promise<SupervisedEngine<E>> {
  const first = await start();
  let current: StartedEngine = first;
  const supervision = keepRunning({
    name,
    child: first.child,
    startAgain: async () => {
      current = await start(first.port);
      return current.child;
    },
    onEvent,
  });
  return {
    first,
    get restarts() {
      return supervision.restarts;
    },
    kill: (signal) => current.child.kill(signal),
    stop: async () => {
      // Afterwards `current` is the last one that was started.
      await supervision.end();
      await current.stop();
    },
  };
}
