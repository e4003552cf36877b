import { expect, test } from '@jest/globals';
import { startEarlierDatabase } from '@longwave/fleet';
import { newId } from '@longwave/ids';
import { findAudioByAlias } from '../src/projection/content-table.ts';
import { createCleanBindingSweep } from '../src/plays/binding-table.ts';

test('bindings and episodes from before 22 November 2026 stay as they were; only those without ads are ever removed', async () => {
  await using database = await startEarlierDatabase('apps/public-delivery/prisma', '_binding_address');
  const { pool } = database;
  const at = '2026-11-20T10:00:00Z';
  const bind = (listener: string, ads: object) =>
    pool.query(`insert into binding values ($1, 'ep_1', 0, $2, 'arr_1', $3, $4)`, [listener, newId('dec'), ads, at]);
  await bind('with ads', { pre: ['srv_1'] });
  await bind('clean', {});
  await pool.query(
    `insert into podcast (id, workspace_id, version, state, attributes) values ('pod_1', 'ws_1', 1, 'published', $1)`,
    [{ title: 'Tides' }],
  );
  await pool.query(
    `insert into episode (id, workspace_id, podcast_id, version, state, attributes, production_id, published_at)
     values ('ep_1', 'ws_1', 'pod_1', 1, 'published', $1, 'pro_1', $2)`,
    [{ title: 'One' }, at],
  );
  await pool.query(`insert into production (id, episode_id, version, state, rendition_digest, rendition_bytes, duration_ms)
                    values ('pro_1', 'ep_1', 1, 'encoded', 'digest', 384, 24)`);
  await pool.query(`insert into alias (episode_id, alias, file_name) values ('ep_1', 't1.alias', 'one')`);
  await database.upgrade();
  const read = async () =>
    (
      await pool.query<object>(
        'select listener_key, ads, started_at, address_key, app, system from binding order by listener_key desc',
      )
    ).rows;
  const unnoted = { started_at: new Date(at), address_key: '', app: null, system: null };
  const withAds = { listener_key: 'with ads', ads: { pre: ['srv_1'] }, ...unnoted };
  expect(await read()).toEqual([withAds, { listener_key: 'clean', ads: {}, ...unnoted }]);
  await expect(pool.query(`update binding set ads = '{}'`)).rejects.toThrow();
  await expect(pool.query(`delete from binding where ads <> '{}'`)).rejects.toThrow();
  expect(await createCleanBindingSweep(pool)(new Date(), 10)).toBe(1);
  expect(await read()).toEqual([withAds]);
  expect(await findAudioByAlias(pool, 't1.alias')).toMatchObject({
    kind: 'ours',
    episode: { episodeId: 'ep_1', title: 'One', playsEndBefore: undefined, withoutAds: false, rights: undefined },
  });
});
