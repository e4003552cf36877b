import { expect, test } from '@jest/globals';
import { startTestDatabase } from '@longwave/fleet';
import type { FleetAccess } from '@longwave/fleet/running';
import { createPool } from '@longwave/postgres';
import { servingModeCommands } from '../src/operator/serving-mode-commands.ts';
import { findWayBack } from '../src/upgrade/way-back.ts';

test('an operator sees by pid and address which sessions of an older release keep goals from serving, none once they are gone, and what the way back needs', async () => {
  const database = await startTestDatabase({ schema: 'serving', migrations: 'apps/internal-serving/prisma' });
  const pool = createPool(database.url, 'serving', { name: 'test', max: 1 });
  const owner = createPool(database.adminUrl, 'serving', { name: 'test', max: 1 });
  const older = createPool(database.url, 'serving', { name: 'internal-serving', max: 1 });
  const fleet = { databaseUrls: { serving: database.url } } as unknown as FleetAccess;
  const show = () => servingModeCommands.find(({ name }) => name === 'serving-mode show')!.run({} as never, {}, fleet);
  try {
    const { rows } = await older.query<{ pid: number; address: string | null }>(
      'select pg_backend_pid() as pid, host(inet_client_addr()) as address',
    );
    expect(await show()).toMatchObject({ mode: 'lease', waits_for: [] });
    // Going back to such a release needs the other mode first.
    expect(await findWayBack(database.url)).toContain('serving-mode ask --mode guard');
    await pool.query(`update serving_mode set mode = 'guard', wanted = 'lease'`);
    const waiting = {
      mode: 'guard',
      wanted: 'lease',
      waits_for: [{ ...rows[0], connected_seconds: expect.any(Number) }],
    };
    expect(await show()).toMatchObject(waiting);
    await pool.query(`update serving_mode set wanted = 'guard'`);
    expect(await show()).toMatchObject({ mode: 'guard', waits_for: [] });
    expect(await findWayBack(database.url)).toBe(undefined);
    await owner.query('drop table serving_mode');
    expect(await findWayBack(database.url)).toBe(undefined);
  } finally {
    await older.end();
    await owner.end();
    await pool.end();
    await database.stop();
  }
});
