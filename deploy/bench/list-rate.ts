import { randomBytes } from 'node:crypto';
import { productCatalog } from '@longwave/command-catalog';
import { createResourceReader } from '@longwave/command-pipeline';
import { startTestDatabase } from '@longwave/fleet';
import { newId } from '@longwave/ids';
import { createPool } from '@longwave/postgres';
import { compare, ratePerSecond, type Row } from './measure.ts';

const rows = 1_000_000;
const pageSize = 50;
const pages = 1_000;
const resourceType = 'advertisers';

/** Page 1,000 of a list of a million resources against its page 1: 1 when a page costs the same wherever it is. */
export async function listRate(): Promise<Row> {
  await using database = await startTestDatabase({ schema: 'product', migrations: 'apps/management/prisma' });
  const pool = createPool(database.url, 'product', {
    ...{ name: 'bench', max: 8, statementTimeoutMs: 600_000 },
    readsPages: true,
  });
  try {
    const workspaceId = newId('ws');
    await pool.query(
      `insert into resource (id, workspace_id, resource_type, version, lifecycle_state, attributes, digest, operation_id, created_at, updated_at)
       select 'adv_' || lpad(i::text, 26, '0'), $1, $2, 1, 'active', jsonb_build_object('legal_name', 'Tidewater ' || i), 'd', 'op_1', t, t
       from generate_series(1, $3::int) i, lateral (select timestamptz '2026-01-01' + make_interval(secs => i)) as at(t)`,
      [workspaceId, resourceType, rows],
    );
    await using reader = createResourceReader({
      ...{ pool, schema: 'product', catalog: productCatalog },
      cursorKey: randomBytes(32),
      clock: () => new Date(),
    });
    const first = { scopes: [{ workspaceId }], resourceType, limit: pageSize };
    let last: typeof first & { cursor?: string } = first;
    for (let page = 1; page < pages; page++) {
      const { nextCursor } = await reader.listResources(last);
      last = { ...first, cursor: nextCursor! };
    }
    const rate = (query: typeof last) => () => ratePerSecond(400, 4, () => reader.listResources(query));
    const row = { name: 'page 1,000 of a list of 1,000,000', unit: 'pages/s', baselineName: 'page 1' };
    return await compare(row, 5, rate(last), rate(first));
  } finally {
    await pool.end();
  }
}
