import type { Pool } from '@longwave/postgres';
import { observeGauge, type Logger } from '@longwave/service-kit';
import { listAwaited } from '../leases/serving-mode-table.ts';

/** A change takes seconds; one that takes so long waits for somebody. */
const patienceMs = 120_000;

/** Says whom a change of the serving mode waits for: goals are not served meanwhile. */
export interface ChangeOverWatch extends Disposable {
  /**
   * After each round of the pacer: warns after two minutes of a change, and every two minutes from then on.
   * @param isChanging whether the mode is still to change; false also when this process paces no more
   */
  look(isChanging: boolean): Promise<void>;
  /** Seconds since this pacer first found the mode changing; 0 while it is not. */
  waitingSeconds(): number;
}

/** @param monotonicMs a clock that never steps */
export function watchChangeOver(pool: Pool, monotonicMs: () => number, logger: Pick<Logger, 'warn'>): ChangeOverWatch {
  let sinceMs: number | undefined;
  let saidAtMs = -Infinity;
  const waitingSeconds = () => (sinceMs === undefined ? 0 : (monotonicMs() - sinceMs) / 1_000);
  const gauge = observeGauge(
    'longwave.pacer.change_over.waiting',
    { unit: 's', description: 'How long goals have waited for a change of the serving mode, as the pacer sees it' },
    () => [{ value: waitingSeconds() }],
  );
  return {
    waitingSeconds,
    async look(isChanging) {
      const nowMs = monotonicMs();
      sinceMs = isChanging ? (sinceMs ?? nowMs) : undefined;
      if (sinceMs === undefined || nowMs - Math.max(sinceMs, saidAtMs) < patienceMs) return;
      saidAtMs = nowMs;
      const awaited = await listAwaited(pool).catch((error: unknown) => ({ reason: (error as Error).message }));
      logger.warn({ waiting_s: Math.round(waitingSeconds()), ...awaited }, 'serving_mode.waits');
    },
    [Symbol.dispose]: () => gauge[Symbol.dispose](),
  };
}
