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

test('arrangements and servings of facts that were stored before there were batches are known', async () => {
  const database = await startTestDatabase({ schema: 'audience', migrations: 'apps/analytics-sink/prisma' });
  const pool = createPool(database.adminUrl, 'earlier', { name: 'test' });
  try {
    await pool.query('create schema earlier');
    const apply = (name: string) => pool.query(readFileSync(new URL(`${name}/migration.sql`, folder), 'utf8'));
    const at = migrations.findIndex((name) => name.endsWith('_batches'));
    for (const name of migrations.slice(0, at)) await apply(name);
    // Two decisions for the same bytes; the ads of those days had no price.
    for (const [digest, serving] of [
      ['layout_1', 'srv_1'],
      ['layout_2', 'srv_2'],
    ]) {
      const parts = [
        { kind: 'ad', from: 0, to: 10, duration_ms: 1, ad: { serving_id: serving, campaign_id: 'cmp_1' } },
        { kind: 'content', from: 10, to: 20, duration_ms: 1 },
      ];
      await pool.query(`insert into layout values ($1, 'arr_1', 20, $2)`, [digest, JSON.stringify(parts)]);
    }
    for (const [index, digest] of ['layout_2', 'layout_1', 'layout_1'].entries()) {
      const time = `2025-11-02T10:0${index}:00Z`;
      await pool.query(
        `insert into fact (fact_id, request_id, started_at, at, workspace_id, podcast_id, episode_id, layout_digest, method,
           status, requested, written, published_at, listener_key, address_key, address_verdict, prefetch, country, region,
           late, lists_version)
         values ($1, 'req', $2, $2, 'ws_1', 'pod_1', 'ep_1', $3, 'GET', 200, '{}', '{}', '2025-10-01T00:00:00Z', 'anna', 'a',
           'ok', false, 'DE', 'unknown', false, '1')`,
        [`fact_${index}`, time, digest],
      );
    }
    for (const name of migrations.slice(at)) await apply(name);
    const { rows } = await pool.query(
      'select name, arrangement_id, layout_digest, workspace_id, podcast_id, episode_id from known_layout order by name',
    );
    const place = { arrangement_id: 'arr_1', workspace_id: 'ws_1', podcast_id: 'pod_1', episode_id: 'ep_1' };
    expect(rows).toEqual([
      { name: 'arr_1', layout_digest: 'layout_2', ...place },
      { name: 'srv_1', layout_digest: 'layout_1', ...place },
      { name: 'srv_2', layout_digest: 'layout_2', ...place },
    ]);
  } finally {
    await pool.end();
    await database.stop();
  }
});
