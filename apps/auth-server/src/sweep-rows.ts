import { repeatSweeps, type Pool } from '@longwave/postgres';
import type { Logger } from '@longwave/service-kit';
import { removeExpiredArtifacts } from './oauth/artifact-table.ts';
import { removeOldChanges } from './verification/verification-table.ts';

const everyMs = 300_000;

/** Removes expired tokens, codes and interactions and the changes that every gateway knows, now and then again and again. */
export const sweepRows = ({
  pool,
  clock,
  logger,
}: {
  readonly pool: Pool;
  readonly clock: () => Date;
  readonly logger: Logger;
}): AsyncDisposable =>
  repeatSweeps({
    sweeps: [
      { name: 'oauth_artifacts', remove: (maxRows) => removeExpiredArtifacts(pool, clock(), maxRows) },
      { name: 'verification_changes', remove: (maxRows) => removeOldChanges(pool, maxRows) },
    ],
    everyMs,
    onSwept: (name, rows) => logger.info({ name, rows }, 'sweep.removed'),
    onError: (name, error) => logger.warn({ name, err: error }, 'sweep.failed'),
  });
