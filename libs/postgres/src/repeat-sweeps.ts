import { pollLoop } from '@longwave/worker-kit';

/** The removal of rows that are kept for a time only. */
interface Sweep {
  /** Their name in logs: "clean_bindings". */
  readonly name: string;
  /** Removes at most so many rows whose time is over; answers how many. */
  readonly remove: (maxRows: number) => Promise<number>;
}

export interface SweepOptions {
  readonly sweeps: readonly Sweep[];
  /** From the end of one round to the next one. */
  readonly everyMs: number;
  /** Called after each sweep that removed something. */
  readonly onSwept: (name: string, rows: number) => void;
  /** Called after each sweep that failed; it is tried again in the next round. */
  readonly onError: (name: string, error: unknown) => void;
}

/** Few enough that no other statement waits long for the locks of one. */
const maxRows = 1_000;

/** Removes rows whose time is over, now and then again and again. Any number of processes may do it. */
export function repeatSweeps({ sweeps, everyMs, onSwept, onError }: SweepOptions): AsyncDisposable {
  async function removeAll({ name, remove }: Sweep, signal: AbortSignal): Promise<void> {
    let rows = 0;
    try {
      for (let removed = maxRows; removed === maxRows && !signal.aborted; rows += removed)
        removed = await remove(maxRows);
    } catch (error) {
      onError(name, error);
    }
    if (rows > 0) onSwept(name, rows);
  }

  return pollLoop({
    everyMs,
    run: async (signal) => {
      for (const sweep of sweeps) await removeAll(sweep, signal);
    },
    onError: (error) => onError('all', error),
  });
}
