import type { Pool, Session } from '@longwave/postgres';
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

/** Whom a change of the mode waits for; the first 20 of each. */
interface Awaited {
  /** Sessions of releases that know no leases. */
  readonly sessions: readonly { readonly pid: number; readonly address: string | null }[];
  /** Names of live nodes that still count goals: host and process. */
  readonly nodes: readonly string[];
}

/** Whom the change to the wanted mode waits for; nobody while there is nothing to change. */
export async function listAwaited(pool: Pool): Promise<Awaited> {
  const sessions = await pool.query<Awaited['sessions'][number]>(
    `select pid, host(client_addr) as address from pg_stat_activity, serving_mode
     where serving_mode.mode <> wanted and wanted = 'lease' and datname = current_database() and application_name = 'internal-serving'
     order by backend_start, pid limit 20`,
  );
  const nodes = await pool.query<{ name: string }>(
    `select name from serving_node n, serving_mode m
     where m.mode <> m.wanted and n.closed_at is null and n.mode <> 'none' order by node_epoch limit 20`,
  );
  return { sessions: sessions.rows, nodes: nodes.rows.map(({ name }) => name) };
}
