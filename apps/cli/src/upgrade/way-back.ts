import { createPool } from '@longwave/postgres';
import { typed } from '../command.ts';

/**
 * Tells the operator how to prepare for going back to a release that knows no leases (0.7.0 and before); undefined where nothing has to be
 * done. Such a release cannot say it itself: its goals would be refused by the database.
 * @param servingUrl the database as the role of internal-serving's schema
 */
export async function findWayBack(servingUrl: string): Promise<string | undefined> {
  const pool = createPool(servingUrl, 'serving', { name: 'operator', max: 1 });
  try {
    const { rows: found } = await pool.query<{ exists: boolean }>(
      `select to_regclass('serving_mode') is not null as exists`,
    );
    if (!found[0]?.exists) return undefined;
    const { rows } = await pool.query<{ mode: string }>('select mode from serving_mode');
    if (rows[0]?.mode !== 'lease') return undefined;
    return (
      `Goals are given by leases, which releases up to 0.7.0 do not know. Before you go back to one: ${typed} serving-mode ask --mode guard, while ` +
      `this release runs, until ${typed} serving-mode show says "mode": "guard". Else no goal is given there.`
    );
  } finally {
    await pool.end();
  }
}
