import { pollLoop } from '@longwave/worker-kit';
import { makeCheckpoint } from './checkpoint-table.ts';

const hourMs = 3_600_000;
/** How often it looks whether the hour is over; any number of processes may. */
const pollMs = 60_000;

/** Signs a checkpoint over all receipt chains every hour, until it is disposed. */
export const startCheckpoints = ({
  clock,
  onError,
  ...log
}: Omit<Parameters<typeof makeCheckpoint>[0], 'everyMs' | 'now'> & {
  readonly clock: () => Date;
  readonly onError: (error: unknown) => void;
}): AsyncDisposable =>
  pollLoop({
    everyMs: pollMs,
    run: async () => void (await makeCheckpoint({ ...log, everyMs: hourMs, now: clock() })),
    onError,
  });
