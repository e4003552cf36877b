import { randomBytes } from 'node:crypto';
import { productCatalog } from '@longwave/command-catalog';
import { createResourceReader } from '@longwave/command-pipeline';
import { startTestDatabase } from '@longwave/fleet';
import { newId } from '@longwave/ids';
import { createPool } from '@longwave/postgres';
import { compare, type Row } from './measure.ts';

const changes = 40_000;
const pageSize = 200;

/** Changes per second through the feed, each with its revision and cursor, against the same rows page by page by raw `pg`. */
export async function changesRate(): Promise<Row> {
  await using database = await startTestDatabase({ schema: 'product', migrations: 'apps/management/prisma' });
  const pool = createPool(database.url, 'product', { name: 'bench', max: 2, readsPages: true });
  try {
    const workspaceId = newId('ws');
    await pool.query(
      `with made as (
         select 'adv_' || lpad(i::text, 26, '0') as id, i, jsonb_build_object('legal_name', 'Tidewater ' || i) as attributes
         from generate_series(1, $2::int) i
       ), heads as (
         insert into resource (id, workspace_id, resource_type, version, lifecycle_state, attributes, digest, operation_id, created_at, updated_at)
         select id, $1, 'advertisers', 1, 'active', attributes, 'd', 'op_1', now(), now() from made
       ), listed as (
         insert into change (workspace_id, seq, position, kind, resource_type, resource_id, version, event_type, operation_id, occurred_at)
         select $1, i, 0, 'revision', 'advertisers', id, 1, 'advertiser.created', 'op_1', now() from made
       )
       insert into revision (resource_id, version, lifecycle_state, attributes, digest, operation_id, created_at)
       select id, 1, 'active', attributes, 'd', 'op_1', now() from made`,
      [workspaceId, changes],
    );
    await using reader = createResourceReader({
      ...{ pool, schema: 'product', catalog: productCatalog },
      cursorKey: randomBytes(32),
      clock: () => new Date(),
    });
    const hiddenBelow = { podcasts: ['archived'], episodes: ['archived'] };
    const throughFeed = async () => {
      let after: string | undefined;
      for (let more = true; more;) {
        const query = { scope: { workspaceId }, hiddenBelow, limit: pageSize, ...(after !== undefined && { after }) };
        ({ more, nextCursor: after } = await reader.listChanges(query));
      }
    };
    const byRawSql = async () => {
      for (let seq = 0; seq < changes; seq += pageSize)
        await pool.query({
          name: 'raw_changes',
          text: `select c.*, v.attributes, v.digest, v.lifecycle_state from change c join revision v using (resource_id, version)
                 where workspace_id = $1 and seq > $2 order by seq, position limit $3`,
          values: [workspaceId, seq, pageSize],
        });
    };
    const perSecond = (read: () => Promise<void>) => async () => {
      const started = performance.now();
      await read();
      return { value: (changes * 1000) / (performance.now() - started), items: changes };
    };
    const row = { name: 'feed of changes', unit: 'changes/s', baselineName: 'the same rows by raw pg' };
    return await compare(row, 3, perSecond(throughFeed), perSecond(byRawSql));
  } finally {
    await pool.end();
  }
}
