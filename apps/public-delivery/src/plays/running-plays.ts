import type { Pool } from '@longwave/postgres';
import type { Logger } from '@longwave/service-kit';
import { pollLoop } from '@longwave/worker-kit';
import { hasEnded, type BegunPlay } from './ended-plays.ts';
import { listPlaysEnds } from '../projection/visibility-table.ts';

/** The part of a response by which it is broken off. */
interface Transfer {
  readonly destroyed: boolean;
  readonly closed: boolean;
  once(event: 'close', listener: () => void): unknown;
  destroy(): unknown;
}

/** Audio that is being sent. A play that was ended for everybody is broken off within a second. */
export interface RunningPlays extends AsyncDisposable {
  /** Watches a transfer until it closes. */
  watch(episodeId: string, play: BegunPlay, transfer: Transfer): void;
}

const checkEveryMs = 1_000;
/** Older ends were applied before: every transfer is checked each second. */
const recentMs = 3_600_000;

/** Asks by one statement a second while anything is being sent. While the database does not answer, all transfers go on. */
export function watchRunningPlays(pool: Pool, now: () => Date, logger: Logger): RunningPlays {
  const running = new Map<string, Map<Transfer, BegunPlay>>();
  let failing = false;
  const ending = pollLoop({
    everyMs: checkEveryMs,
    run: async () => {
      if (running.size === 0) return;
      const ends = await listPlaysEnds(pool, new Date(now().getTime() - recentMs));
      for (const { episodeId, ...end } of ends)
        for (const [transfer, play] of running.get(episodeId) ?? []) if (hasEnded(play, end)) transfer.destroy();
      failing = false;
    },
    onError: (error) => {
      if (!failing) logger.warn({ err: error }, 'ended_plays.unreadable');
      failing = true;
    },
  });
  return {
    watch: (episodeId, play, transfer) => {
      if (transfer.destroyed || transfer.closed) return;
      const ofEpisode = running.get(episodeId) ?? new Map<Transfer, BegunPlay>();
      running.set(episodeId, ofEpisode.set(transfer, play));
      transfer.once('close', () => {
        ofEpisode.delete(transfer);
        if (ofEpisode.size === 0) running.delete(episodeId);
      });
    },
    [Symbol.asyncDispose]: () => ending[Symbol.asyncDispose](),
  };
}
