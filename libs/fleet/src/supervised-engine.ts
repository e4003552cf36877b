import type { Child } from './child.ts';
import type { ServiceEvent } from './supervised-service.ts';

/** An engine as its starter gives it: the process, and the port that its users know. */
export interface StartedEngine {
  readonly port: number;
  readonly child: Child;
  readonly stop: () => Promise<void>;
}

/** An engine under supervision: when it dies it is started again on the same port, over the same data. */
export interface SupervisedEngine<E extends StartedEngine> {
  /** As it was started first; its addresses stay true. */
  readonly first: E;
  /** How often it was started again. */
  readonly restarts: number;
  /** Sends a signal to the process. It comes back by itself unless `stop` follows. */
  readonly kill: (signal: NodeJS.Signals) => void;
  /** Orderly stop, for good. */
  readonly stop: () => Promise<void>;
}

const pausesMs = { first: 100, longest: 5_000, forgivenAfterAlive: 10_000 };

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
  let wanted = true;
  let restarts = 0;
  let endPause: () => void = () => undefined;

  const pause = (ms: number) =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      endPause = () => (clearTimeout(timer), resolve());
    });

  /** Tries until it runs again: what its predecessor held may take a while to be free. */
  async function startAgain(firstPauseMs: number): Promise<void> {
    for (let pauseMs = firstPauseMs; wanted; pauseMs = Math.min(pauseMs * 2, pausesMs.longest)) {
      await pause(pauseMs);
      if (!wanted) return;
      try {
        current = await start(first.port);
        restarts += 1;
        onEvent({ kind: 'restarted', service: name, pid: current.child.pid });
        return;
      } catch {
        // Its own log says why; the pause grows.
      }
    }
  }

  const watching = (async () => {
    let pauseMs = pausesMs.first;
    while (wanted) {
      const startedMs = performance.now();
      const exit = await current.child.exited;
      if (!wanted) return;
      pauseMs = performance.now() - startedMs > pausesMs.forgivenAfterAlive ? pausesMs.first : pauseMs;
      onEvent({ kind: 'exited', service: name, exit, restartInMs: pauseMs });
      await startAgain(pauseMs);
      pauseMs = Math.min(pauseMs * 2, pausesMs.longest);
    }
  })();

  return {
    first,
    get restarts() {
      return restarts;
    },
    kill: (signal) => current.child.kill(signal),
    stop: async () => {
      wanted = false;
      endPause();
      await current.stop();
      await watching;
      // It may have come up again while it was told to stop.
      await current.stop();
    },
  };
}
