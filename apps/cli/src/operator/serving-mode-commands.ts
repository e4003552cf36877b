import type { Pool } from '@longwave/postgres';
import type { FleetAccess } from '@longwave/fleet/running';
import { needed, UsageError, type OperatorCommand } from '../command.ts';

const modes: readonly string[] = ['guard', 'lease'];

async function onServing<T>({ databaseUrls }: FleetAccess, work: (pool: Pool) => Promise<T>): Promise<T> {
  const { createPool } = await import('@longwave/postgres');
  const pool = createPool(databaseUrls['serving']!, 'serving', { name: 'operator', max: 1 });
  try {
    return await work(pool);
  } finally {
    await pool.end();
  }
}

/** Sessions of releases up to 0.7.0, by their name; goals are not served while the mode is to become `lease` and one of them is connected. */
async function findOlderSessions(pool: Pool) {
  const { rows } = await pool.query<{ pid: number; address: string | null; connected_seconds: number }>(
    `select pid, host(client_addr) as address, round(extract(epoch from now() - backend_start))::int as connected_seconds
     from pg_stat_activity where datname = current_database() and application_name = 'internal-serving' order by backend_start, pid`,
  );
  return rows;
}

/** The mode, the one that was asked for, what each live process counts goals by, and whom the change to leases waits for. */
async function showMode(pool: Pool) {
  const { rows } = await pool.query<{ mode: string; wanted: string; switched_at: Date }>(
    'select mode, wanted, switched_at from serving_mode',
  );
  const nodes = await pool.query<{ name: string; mode: string; seen_seconds_ago: number }>(
    `select name, mode, round(extract(epoch from now() - seen_at))::int as seen_seconds_ago from serving_node
     where closed_at is null and seen_at > to_timestamp(0) order by node_epoch`,
  );
  const row = rows[0]!;
  const isAwaited = row.wanted === 'lease' && row.mode !== row.wanted;
  return { ...row, nodes: nodes.rows, waits_for: isAwaited ? await findOlderSessions(pool) : [] };
}

/** How slots of goals are counted (docs/pacing.md#change-over). */
export const servingModeCommands: readonly OperatorCommand[] = [
  {
    name: 'serving-mode show',
    summary:
      'Shows how slots of goals are counted, by quota leases or by the guard of releases up to 0.7.0, what each process counts by, and which older sessions the change to leases waits for.',
    options: [],
    example: 'serving-mode show',
    run: (_operator, _options, fleet) => onServing(fleet, showMode),
  },
  {
    name: 'serving-mode ask',
    summary:
      'Leaves slots of goals to releases up to 0.7.0 (guard), before going back to one, or takes them back (lease) once none of those runs.',
    options: [{ name: 'mode', value: 'MODE', meaning: 'lease or guard' }],
    example: 'serving-mode ask --mode lease',
    run: async (_operator, options, fleet) => {
      const mode = needed(options, 'mode');
      if (!modes.includes(mode)) throw new UsageError(`--mode ${mode} is neither lease nor guard.`);
      return onServing(fleet, async (pool) => {
        await pool.query('update serving_mode set wanted = $1', [mode]);
        return showMode(pool);
      });
    },
  },
];
