import type { Pool, Session } from '@longwave/postgres';
import type { ModeRow, ServingMode } from './node-mode.ts';

/** The mode of all nodes, and the one that was asked for. */
export async function readServingMode(pool: Pool | Session): Promise<ModeRow> {
  const { rows } = await pool.query<ModeRow>('select mode, wanted from serving_mode');
  return rows[0]!;
}

/** Asks for a mode. Nodes stop counting goals within a second, and the pacer changes the mode when all have. */
export async function askForServingMode(pool: Pool | Session, wanted: ServingMode): Promise<void> {
  await pool.query('update serving_mode set wanted = $1', [wanted]);
}

/**
 * Changes the mode to the one that was asked for, when no live node counts goals any more; answers the new mode, or undefined while there is
 * nothing to change or a node still counts. For the pacer, as the first statement of a transaction: it waits for statements of the
 * guard that are on their way, so that what is counted in the same transaction afterwards is everything that the guard gave.
 */
export async function changeServingMode(tx: Session): Promise<ServingMode | undefined> {
  const { rows } = await tx.query<{ mode: ServingMode }>(
    `update serving_mode set mode = wanted, switched_at = now()
     where mode <> wanted and not exists (select from serving_node where closed_at is null and mode <> 'none') returning mode`,
  );
  return rows[0]?.mode;
}
