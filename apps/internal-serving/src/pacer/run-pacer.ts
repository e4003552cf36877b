import { randomInt } from 'node:crypto';
import { createDuration, observeGauge, type Logger } from '@longwave/service-kit';
import { pollLoop } from '@longwave/worker-kit';
import { createPacer, type Pacer, type PacerDeps } from './pacer.ts';
import { endTerm, renewTerm, takeTerm } from './pacer-term-table.ts';
import { watchChangeOver } from './watch-change-over.ts';

const tickMs = 1_000;
/** Between two rounds while the mode changes: goals do not serve then. */
const changeMs = 100;
const renewMs = 3_000;
const learnMs = 60_000;
const watchMs = 300_000;
/** Holders are numbers that no two processes share. */
const maxHolder = 2 ** 48 - 1;

interface Held {
  readonly term: number;
  readonly pacer: Pacer;
  renewedAtMs: number;
  learnedAtMs: number;
  watchedAtMs: number;
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
  let counted: Pacer['countAlerts'] | undefined;
  let learning: Promise<void> | undefined;
  const changeOver = watchChangeOver(deps.pool, monotonicMs, logger);
  const gauge = observeGauge(
    'longwave.pacer.active',
    { unit: '1', description: 'Whether this process is the pacer' },
    () => [{ value: isActive ? 1 : 0 }],
  );
  const alerts = observeGauge(
    'longwave.pacer.alerts',
    { unit: '1', description: 'Open alerts of line items, by kind, as the pacer counts them' },
    () => (isActive && counted ? [...counted()].map(([kind, value]) => ({ value, labels: { kind } })) : []),
  );

  async function take(): Promise<Held | undefined> {
    const term = await takeTerm(deps.pool, holder);
    if (term === undefined) return undefined;
    const pacer = await createPacer(term, deps);
    logger.info({ term }, 'pacer.began');
    counted = pacer.countAlerts;
    const nowMs = monotonicMs();
    return { term, pacer, renewedAtMs: nowMs, learnedAtMs: -Infinity, watchedAtMs: nowMs };
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

  /** Alerts hold up no goals: what fails is tried again at the next time. */
  async function watch(current: Held): Promise<void> {
    if (monotonicMs() - current.watchedAtMs < watchMs) return;
    current.watchedAtMs = monotonicMs();
    try {
      for (const { kind, lineItemId, workspaceId, figures } of await current.pacer.watch()) {
        if (kind !== 'over') continue;
        const { goal, confirmed } = figures;
        const error = { line_item_id: lineItemId, workspace_id: workspaceId, goal, confirmed };
        logger.error(error, 'pacer.goal_exceeded');
      }
    } catch (error) {
      logger.warn({ reason: (error as Error).message }, 'pacer.alerts_not_evaluated');
    }
  }

  const ticking = pollLoop({
    everyMs: tickMs,
    run: async (signal) => {
      const current = held ?? (await take());
      isActive = current !== undefined;
      if (!current) {
        await changeOver.look(false);
        return false;
      }
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
      await changeOver.look(isChanging);
      if (isChanging) {
        const { promise, resolve } = Promise.withResolvers<void>();
        setTimeout(resolve, changeMs);
        await promise;
        return !signal.aborted;
      }
      learn(current);
      await watch(current);
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
      alerts[Symbol.dispose]();
      changeOver[Symbol.dispose]();
      if (held) await endTerm(deps.pool, held.term).catch(() => undefined);
    },
  };
}
