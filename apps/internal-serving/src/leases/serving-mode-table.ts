import type { Session } from '@longwave/postgres';
import type { ServingMode } from './node-mode.ts';

/** Sessions of this service have this name. Those of releases up to 0.7.0, which know no leases, are called `internal-serving`. */
export const sessionName = 'internal-serving by leases';

/**
 * Changes the mode to the one that was asked for, when no live node counts goals any more, and, to leases, no release runs that knows none;
 * answers the new mode, or undefined while there is nothing to change or a node still counts. For the pacer, as the first statement of a transaction: it waits for statements of the
 * guard that are on their way, so that what is counted in the same transaction afterwards is everything that the guard gave.
 */
export async function changeServingMode(tx: Session): Promise<ServingMode | undefined> {
  const { rows } = await tx.query<{ mode: ServingMode }>(
    `update serving_mode set mode = wanted, switched_at = now()
     where mode <> wanted and not exists (select from serving_node where closed_at is null and mode <> 'none')
       and (wanted = 'guard' or not exists (
         select from pg_stat_activity where datname = current_database() and application_name = 'internal-serving'))
     returning mode`,
  );
  return rows[0]?.mode;
}
