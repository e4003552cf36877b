import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { until } from '@longwave/test-kit';
import { download } from '@longwave/test-kit/clients';
import pg from 'pg';
import { countedDownloads, type Installation } from '../_fleet.ts';
import { publishWithAd } from '../_published-ad.ts';
import { openSharedInstallation } from '../_shared-installation.ts';
import { keysOf, placesOf, tablesOf } from '../_stored-texts.ts';

let world: Installation;
beforeAll(async () => {
  world = await openSharedInstallation();
});
afterAll(async () => world?.[Symbol.asyncDispose]());

interface BoundPlay {
  readonly decision_id: string;
  readonly listener_key: string;
}

/** The plays of a workspace, the first one first. */
async function boundPlays(workspaceId: string): Promise<BoundPlay[]> {
  const database = new pg.Client({ connectionString: world.fleet.adminDatabaseUrl });
  await database.connect();
  const { rows } = await database.query<BoundPlay>(
    `select decision_id, listener_key from delivery.binding b join delivery.arrangement a on a.id = b.arrangement_id
     where a.workspace_id = $1 order by b.started_at`,
    [workspaceId],
  );
  await database.end();
  return rows;
}

const allPlaces = async (text: string) =>
  placesOf(text, await tablesOf(world.fleet), await keysOf(world.fleet))
    .map((place) => place.replace(/ .*/, ''))
    .toSorted();

test('a listener who is erased is in no table of any service afterwards, and in Redis on the bus alone; numbers and files stay', async () => {
  const { podcaster, workspaceId, enclosureUrl, countNow } = await publishWithAd(world);
  const [agent, otherAgent] = ['Overcast/3.0 (+http://overcast.fm/; iOS podcast app)', 'Castro 2026.11/1'];
  const heard = await download(enclosureUrl, agent);
  await download(enclosureUrl, otherAgent);
  await until('the count', () => countedDownloads(podcaster), { holds: (downloads) => downloads === 2 });
  const before = await countNow();
  const [own, other] = (await boundPlays(workspaceId)) as [BoundPlay, BoundPlay];
  expect(await allPlaces(own.listener_key)).toEqual(
    expect.arrayContaining(['delivery.binding', 'audience.fact', 'audience.session', 'audience.ad_entry']),
  );
  const othersPlaces = await allPlaces(other.listener_key);

  const { id } = await world.operator.command(
    workspaceId,
    'listener_data.erase',
    { type: 'listener_erasures' },
    { request_reference: 'GDPR 2026-17', decision_ids: [own.decision_id] },
  );
  const erasure = await until('the erasure', () => world.operator.read(workspaceId, 'listener_erasures', id), {
    holds: ({ lifecycle_state: state }) => state === 'erased' || state === 'failed',
  });

  expect(erasure).toMatchObject({ lifecycle_state: 'erased', attributes: { unknown_decisions: 0, kept_listeners: 0 } });
  expect(erasure.attributes['erased']).toEqual(
    expect.arrayContaining([
      { store: 'public-delivery', table: 'binding', rows: 1 },
      { store: 'analytics-sink', table: 'session', rows: 1 },
    ]),
  );
  const places = await allPlaces(own.listener_key);
  expect(places.filter((place) => place !== 'redis')).toEqual([]);
  const keys = placesOf(own.listener_key, await keysOf(world.fleet));
  expect(keys.filter((key) => !key.startsWith('redis bus:'))).toEqual([]);
  expect(await allPlaces(other.listener_key)).toEqual(othersPlaces);
  expect(await countNow()).toEqual(before);
  const again = await fetch(heard.mediaUrl, { headers: { 'user-agent': agent } });
  expect(Buffer.from(await again.arrayBuffer()).equals(heard.bytes)).toBe(true);
  // The decision of the day is taken; the listener gets one more.
  expect((await download(enclosureUrl, agent)).status).toBe(200);
  expect((await boundPlays(workspaceId)).map((play) => play.decision_id)).toHaveLength(3);
});
