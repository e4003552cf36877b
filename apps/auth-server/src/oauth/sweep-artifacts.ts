import { repeatSweeps, type Pool } from '@longwave/postgres';
import type { Logger } from '@longwave/service-kit';
import { removeExpiredArtifacts } from './artifact-table.ts';

const everyMs = 300_000;

/** Removes expired tokens, codes and interactions, now and then again and again. */
export const sweepArtifacts = ({
  pool,
  clock,
  logger,
}: {
  readonly pool: Pool;
  readonly clock: () => Date;
  readonly logger: Logger;
}): AsyncDisposable =>
  repeatSweeps({
    sweeps: [{ name: 'oauth_artifacts', remove: (maxRows) => removeExpiredArtifacts(pool, clock(), maxRows) }],
    everyMs,
    onSwept: (name, rows) => logger.info({ name, rows }, 'sweep.removed'),
    onError: (name, error) => logger.warn({ name, err: error }, 'sweep.failed'),
  });
