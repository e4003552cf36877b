import { randomInt } from 'node:crypto';
import { createDuration, observeGauge, type Logger } from '@longwave/service-kit';
import { pollLoop } from '@longwave/worker-kit';
import { createPacer, type Pacer, type PacerDeps } from './pacer.ts';
import { endTerm, renewTerm, takeTerm } from './pacer-term-table.ts';

const tickMs = 1_000;
/** Between two rounds while the mode changes: goals do not serve then. */
const changeMs = 100;
const renewMs = 3_000;
const learnMs = 60_000;
/** Holders are numbers that no two processes share. */
const maxHolder = 2 ** 48 - 1;

interface Held {
  readonly term: number;
  readonly pacer: Pacer;
  renewedAtMs: number;
  learnedAtMs: number;
}

export interface RunningPacer extends AsyncDisposable {
  /** Whether this process is the pacer, as far as it knows. */
  isPacer(): boolean;
  /** Begins the next round now. */
  wake(): void;
}

/**
 * The pacer's loop: takes the term when nobody has it, renews it each 3 seconds, and ticks each second. A statement that fails may still
 * run later, so the term is given up with it: a new one begins, under which the late statement affects no row.
 * @param monotonicMs a clock that never steps
 */
export function runPacer(deps: PacerDeps, monotonicMs: () => number, logger: Logger): RunningPacer {
  const holder = randomInt(1, maxHolder);
  const duration = createDuration(
    'longwave.pacer.tick.duration',
    'Time from the beginning of a tick of the pacer to its end',
  );
  let held: Held | undefined;
  let isActive = false;
  let learning: Promise<void> | undefined;
  const gauge = observeGauge(
    'longwave.pacer.active',
    { unit: '1', description: 'Whether this process is the pacer' },
    () => [{ value: isActive ? 1 : 0 }],
  );

  async function take(): Promise<Held | undefined> {
    const term = await takeTerm(deps.pool, holder);
    if (term === undefined) return undefined;
    const pacer = await createPacer(term, deps);
    logger.info({ term }, 'pacer.began');
    return { term, pacer, renewedAtMs: monotonicMs(), learnedAtMs: -Infinity };
  }

  async function keepTerm(current: Held): Promise<boolean> {
    if (monotonicMs() - current.renewedAtMs < renewMs) return true;
    const beganMs = monotonicMs();
    if (!(await renewTerm(deps.pool, current.term))) return false;
    current.renewedAtMs = beganMs;
    return true;
  }

  /** A tick that takes longer than a term, as the first one of many line items may, keeps it. */
  async function tickUnderTerm(current: Held): Promise<boolean> {
    const renewing = setInterval(() => {
      renewTerm(deps.pool, current.term).then(
        () => (current.renewedAtMs = monotonicMs()),
        () => undefined,
      );
    }, renewMs);
    try {
      return await current.pacer.tick();
    } finally {
      clearInterval(renewing);
    }
  }

  /** Beside the ticks: analytics-sink may be away, and then what it said last stands. */
  function learn(current: Held): void {
    if (learning || monotonicMs() - current.learnedAtMs < learnMs) return;
    current.learnedAtMs = monotonicMs();
    learning = current.pacer
      .learn()
      .catch((error: unknown) => logger.warn({ reason: (error as Error).message }, 'pacer.cohorts_unread'))
      .finally(() => (learning = undefined));
  }

  const ticking = pollLoop({
    everyMs: tickMs,
    run: async (signal) => {
      const current = held ?? (await take());
      isActive = current !== undefined;
      if (!current) return false;
      // Until the round has ended well nobody knows what its statements did.
      held = undefined;
      if (!(await keepTerm(current))) {
        isActive = false;
        logger.info({ term: current.term }, 'pacer.ended');
        return false;
      }
      const beganMs = monotonicMs();
      const isChanging = await tickUnderTerm(current);
      duration.record((monotonicMs() - beganMs) / 1_000);
      held = current;
      if (isChanging) {
        const { promise, resolve } = Promise.withResolvers<void>();
        setTimeout(resolve, changeMs);
        await promise;
        return !signal.aborted;
      }
      learn(current);
      return false;
    },
    onError: (error) => {
      isActive = false;
      logger.warn({ reason: (error as Error).message }, 'pacer.failed');
    },
  });

  return {
    isPacer: () => isActive,
    wake: ticking.wake,
    async [Symbol.asyncDispose]() {
      await ticking[Symbol.asyncDispose]();
      await learning;
      gauge[Symbol.dispose]();
      if (held) await endTerm(deps.pool, held.term).catch(() => undefined);
    },
  };
}
