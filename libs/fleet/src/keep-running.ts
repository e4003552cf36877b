import type { Child, ChildExit } from './child.ts';

/** An event of a service or an engine between start and stop, for the runner's log. */
export type ServiceEvent =
  /** Those of now last for 30 days more when the first try fails. */
  | { readonly kind: 'certificates-not-renewed'; readonly reason: string }
  | { readonly kind: 'exited'; readonly service: string; readonly exit: ChildExit; readonly restartInMs: number }
  | { readonly kind: 'restarted'; readonly service: string; readonly pid: number }
  /** It could not be started again (a full disk, a port that is still held); the next try follows. */
  | {
      readonly kind: 'restart-failed';
      readonly service: string;
      readonly reason: string;
      readonly restartInMs: number;
    };

/** A process that is started again whenever it ends. */
export interface Supervision {
  /** How often it was started again. */
  readonly restarts: number;
  /** Starts it no more; resolves when no start is under way. The process that runs is left alone. */
  readonly end: () => Promise<void>;
}

const pausesMs = { first: 100, longest: 5_000, forgivenAfterAlive: 10_000 };

/**
 * Starts a process again when it ends, with growing pauses, for as long as it takes: a start that fails is tried again.
 * @param options.startAgain starts its successor; rejects while it cannot
 * @param options.mayStartAgain false: this end is final. Default: none is
 */
export function keepRunning(options: {
  readonly name: string;
  readonly child: Child;
  readonly startAgain: () => Promise<Child>;
  readonly mayStartAgain?: (exit: ChildExit) => boolean;
  readonly onEvent: (event: ServiceEvent) => void;
}): Supervision {
  const { name: service, startAgain, mayStartAgain = () => true, onEvent } = options;
  let child = options.child;
  let wanted = true;
  let restarts = 0;
  let pauseMs = pausesMs.first;
  let endPause: () => void = () => undefined;

  const pause = (ms: number) =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      endPause = () => (clearTimeout(timer), resolve());
    });

  /** One try after the pause; answers whether it runs. */
  async function tryAgain(): Promise<boolean> {
    await pause(pauseMs);
    pauseMs = Math.min(pauseMs * 2, pausesMs.longest);
    if (!wanted) return false;
    try {
      child = await startAgain();
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      onEvent({ kind: 'restart-failed', service, reason, restartInMs: pauseMs });
      return false;
    }
    restarts += 1;
    onEvent({ kind: 'restarted', service, pid: child.pid });
    return true;
  }

  const watching = (async () => {
    while (wanted) {
      const startedMs = performance.now();
      const exit = await child.exited;
      if (!wanted || !mayStartAgain(exit)) return;
      if (performance.now() - startedMs > pausesMs.forgivenAfterAlive) pauseMs = pausesMs.first;
      onEvent({ kind: 'exited', service, exit, restartInMs: pauseMs });
      while (wanted && !(await tryAgain()));
    }
  })();

  return {
    get restarts() {
      return restarts;
    },
    end: async () => {
      wanted = false;
      endPause();
      // Without a start under way it would wait for the end of a process that runs.
      if (!child.isRunning()) await watching;
    },
  };
}
