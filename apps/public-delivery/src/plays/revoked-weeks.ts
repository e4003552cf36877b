import type { Pool } from '@longwave/postgres';
import type { Logger } from '@longwave/service-kit';
import { pollLoop } from '@longwave/worker-kit';
import type { Columns } from '../generated/rows.ts';

/** Weeks whose token keys an operator revoked. */
export interface RevokedWeeks extends AsyncDisposable {
  /** How often the keys of a week were revoked, as of a second ago; 0 for nearly all weeks. */
  readonly epochOf: (week: number) => number;
}

const readEveryMs = 1_000;

async function readEpochs(pool: Pool): Promise<ReadonlyMap<number, number>> {
  const { rows } = await pool.query<Columns<'revoked_week', 'week' | 'epoch'>>({
    name: 'revoked_weeks',
    text: 'select week, epoch from revoked_week',
  });
  return new Map(rows.map(({ week, epoch }) => [week, epoch]));
}

/**
 * Reads the revocations now and every second from now on. While the database does not answer, those read last apply.
 * Rejects when they cannot be read at first: without them revoked tokens would open.
 */
export async function followRevokedWeeks(pool: Pool, logger: Logger): Promise<RevokedWeeks> {
  let epochs = await readEpochs(pool);
  let failing = false;
  const reading = pollLoop({
    everyMs: readEveryMs,
    sleepsFirst: true,
    run: async () => {
      epochs = await readEpochs(pool);
      if (failing) logger.info({}, 'revoked_weeks.read_again');
      failing = false;
    },
    onError: (error) => {
      if (!failing) logger.warn({ err: error }, 'revoked_weeks.unreadable');
      failing = true;
    },
  });
  return {
    epochOf: (week) => epochs.get(week) ?? 0,
    [Symbol.asyncDispose]: () => reading[Symbol.asyncDispose](),
  };
}
