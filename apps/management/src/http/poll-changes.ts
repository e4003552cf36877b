import { listNewestChanges } from '@longwave/command-pipeline';
import type { Pool } from '@longwave/postgres';
import { pollLoop } from '@longwave/worker-kit';
import type { ChangeSignals } from './change-signals.ts';

/**
 * Looks now and then whether watched workspaces have changed, in one query for all of their streams: signals of the relay can be lost.
 * @param options.everyMs default 2 s
 */
export function pollChanges(options: {
  readonly pool: Pool;
  readonly signals: ChangeSignals;
  readonly everyMs?: number;
  readonly onError: (error: unknown) => void;
}): AsyncDisposable {
  const { pool, signals, everyMs = 2_000, onError } = options;
  let known: ReadonlyMap<string, string> = new Map();
  return pollLoop({
    everyMs,
    run: async () => {
      const watched = signals.watched();
      const newest = watched.length === 0 ? new Map<string, string>() : await listNewestChanges(pool, watched);
      signals.changed([...newest].flatMap(([id, place]) => (known.get(id) === place ? [] : [id])));
      known = newest;
    },
    onError,
  });
}
