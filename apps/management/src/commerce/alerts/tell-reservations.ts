import type { Pool } from '@longwave/postgres';
import type { Logger } from '@longwave/service-kit';
import { pollLoop } from '@longwave/worker-kit';
import { listEndingReservations, type EndingReservation } from '../../advertising/line-items/reservation-table.ts';
import { listSellingWorkspaces } from '../forecasts/booking-version-table.ts';
import { createTellFindings, type FindingsClient } from './tell-findings.ts';

interface Deps {
  readonly pool: Pool;
  readonly serving: FindingsClient;
  readonly clock: () => Date;
  readonly logger: Pick<Logger, 'warn'>;
}

/** As often as alerts are judged. */
const everyMs = 300_000;
/** A reservation that ends within this time is worth an alert. */
const endingMs = 48 * 3_600_000;

const findingOf = ({ lineItemId, units, expiresAt }: EndingReservation) => ({
  ...{ lineItemId, units },
  detailJson: JSON.stringify({ reservation: { expires_at: new Date(expiresAt).toISOString() } }),
});

/**
 * Tells internal-serving which reservations end within 48 hours, of each workspace where that has changed; at its first look and then each hour,
 * of all that ever sold.
 */
export function createTellReservations({ pool, serving, clock, logger }: Deps): () => Promise<void> {
  const listWorkspaces = () => listSellingWorkspaces(pool);
  const { tellEach, listWorkspaceIds } = createTellFindings(serving, {
    ...{ kind: 'ending', listWorkspaces },
    onError: (err, workspaceId) => logger.warn({ err, workspace_id: workspaceId }, 'reservations.not_told'),
  });
  return async () => {
    const now = clock();
    const others = await listWorkspaceIds(now);
    const found = Map.groupBy(
      await listEndingReservations(pool, new Date(now.getTime() + endingMs)),
      ({ workspaceId }) => workspaceId,
    );
    await tellEach([...found.keys(), ...others], (id) => (found.get(id) ?? []).map(findingOf), now);
  };
}

/** Tells of reservations until it is disposed. Several processes may do so at once: the newest numbers stay. */
export const startReservations = (options: Deps): AsyncDisposable => {
  const tell = createTellReservations(options);
  return pollLoop({
    everyMs,
    run: async () => {
      await tell();
      return false;
    },
    onError: (error) => options.logger.warn({ err: error }, 'reservations.not_told'),
  });
};
