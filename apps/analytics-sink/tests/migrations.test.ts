import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { startTestDatabase } from '@longwave/fleet';
import { createPool } from '@longwave/postgres';

const folder = new URL('../prisma/migrations/', import.meta.url);
const migrations = readdirSync(folder)
  .filter((name) => /^\d{14}_/.test(name))
  .sort();

test('downloads counted before there were dimensions keep their place, with unknown where nobody noted it', async () => {
  const database = await startTestDatabase({ schema: 'audience', migrations: 'apps/analytics-sink/prisma' });
  const pool = createPool(database.adminUrl, 'earlier', { name: 'test' });
  try {
    await pool.query('create schema earlier');
    const apply = (name: string) => pool.query(readFileSync(new URL(`${name}/migration.sql`, folder), 'utf8'));
    const at = migrations.findIndex((name) => name.endsWith('_audience_dimensions'));
    for (const name of migrations.slice(0, at)) await apply(name);
    const session = (listener: string, startedAt: string, counted: boolean, country: string) => [
      ...[listener, 'ep_1', startedAt.slice(0, 10), startedAt, 'ws_1', 'pod_1', counted, 'arr_1', 60_000, 60_000, 0],
      ...[country, 'unknown', 'digest', '1'],
    ];
    for (const row of [
      session('anna', '2025-11-02T10:15:00Z', true, 'DE'),
      session('bert', '2025-11-02T10:45:00Z', true, 'DE'),
      session('carl', '2025-11-02T10:45:00Z', false, 'DE'),
      session('dora', '2025-11-02T11:00:00Z', true, 'AT'),
    ])
      await pool.query(`insert into session values (${row.map((_, index) => `$${index + 1}`).join(', ')})`, row);
    for (const name of migrations.slice(at)) await apply(name);
    const { rows } = await pool.query(
      'select hour, country, region, app, device, platform, downloads::int from download_audience_hour order by hour',
    );
    const unnoted = { region: 'unknown', app: 'unknown', device: 'unknown', platform: 'unknown' };
    expect(rows).toEqual([
      { hour: new Date('2025-11-02T10:00:00Z'), country: 'DE', ...unnoted, downloads: 2 },
      { hour: new Date('2025-11-02T11:00:00Z'), country: 'AT', ...unnoted, downloads: 1 },
    ]);
  } finally {
    await pool.end();
    await database.stop();
  }
});
