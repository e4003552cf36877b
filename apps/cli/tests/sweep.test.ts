import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { deployMigrations, ownApps, startTestDatabase, startTestObjectStore } from '@longwave/fleet';
import { createObjectStore, type ObjectStore } from '@longwave/object-store';
import { sha256 } from '@longwave/test-kit';
import fc from 'fast-check';
import pg from 'pg';
import { lockObjects } from '../src/backup/lock-folder.ts';
import { findNamed } from '../src/sweep/find-named.ts';
import { sweepObjects } from '../src/sweep/sweep-objects.ts';

const stack = new AsyncDisposableStack();
afterAll(() => stack.disposeAsync());
let store: ObjectStore;
beforeAll(async () => {
  store = createObjectStore(stack.use(await startTestObjectStore()));
  await store.ensureBucket();
});

const put = (key: string) => store.put(key, Buffer.from(`bytes of ${key}`), { contentType: 'audio/mpeg' });
async function keys(): Promise<string[]> {
  const found: string[] = [];
  for await (const { key } of store.list('')) found.push(key);
  return found;
}

/** The keys and no others. */
async function storeAll(wanted: readonly string[]): Promise<void> {
  for (const key of await keys()) await store.remove(key);
  for (const key of wanted) await put(key);
}

/** A moment after everything that was stored until now, and before what is stored later. */
async function moment(): Promise<Date> {
  await sleep(3);
  const at = new Date();
  await sleep(3);
  return at;
}

const sweepBefore = (before: Date, named: ReadonlySet<string>, isDryRun = false) =>
  sweepObjects({
    store,
    findNamed: async (digests) => new Set([...digests.keys()].filter((key) => named.has(key))),
    before,
    isDryRun,
    onSeen: () => undefined,
  });

const digest = (of: string | number) => sha256(String(of));
const swept = ['media/', 'artwork/', 'transcripts/', 'exports/', 'imports/'];
const others = [
  'uploads/upl_1/',
  'reports/rpt_1/',
  'bus/product/0/',
  'decisions/2026-01-01/',
  'bindings/',
  'plans/',
  '',
];

test('in random worlds everything that is named, young or in no swept folder stays, and all else goes after two sweeps', async () => {
  const object = fc.record({
    folder: fc.constantFrom(...swept, ...others),
    name: fc.integer({ min: 0, max: 40 }).map(digest),
    ending: fc.constantFrom('', '', '.csv'),
    isNamed: fc.boolean(),
    isOld: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(object, { selector: (one) => one.folder + one.name + one.ending, maxLength: 12 }),
      async (world) => {
        const keyOf = ({ folder, name, ending }: (typeof world)[number]) => `${folder}${name}${ending}`;
        const named = new Set(world.filter(({ isNamed }) => isNamed).map(keyOf));
        await storeAll(world.filter(({ isOld }) => isOld).map(keyOf));
        const before = await moment();
        for (const one of world.filter(({ isOld }) => !isOld)) await put(keyOf(one));
        const stays = ({ folder, isNamed, isOld }: (typeof world)[number]) =>
          isNamed || !isOld || others.includes(folder);
        const all = await keys();
        const would = await sweepBefore(before, named, true);
        expect(await keys()).toEqual(all);
        const did = await sweepBefore(before, named);
        expect(did).toEqual(would);
        expect(did.moved).toBe(world.filter((one) => !stays(one)).length);
        const staying = world.filter(stays).map(keyOf).toSorted();
        expect((await keys()).filter((key) => !key.startsWith('removed/')).toSorted()).toEqual(staying);
        // They wait in `removed/` as long as others stay in any case.
        const again = await sweepBefore(before, named);
        expect([again.moved, again.removed]).toEqual([0, 0]);
        expect(await sweepBefore(await moment(), new Set([...named, ...staying]))).toMatchObject({
          removed: did.moved,
        });
        expect((await keys()).toSorted()).toEqual(staying);
      },
    ),
    { numRuns: 25 },
  );
});

test('an object that is named again while it waits is moved back with its bytes and type, and one that is stored again stays', async () => {
  const [back, stored] = [`media/${digest('back')}`, `media/${digest('stored')}`];
  await storeAll([back, stored]);
  const before = await moment();
  expect(await sweepBefore(before, new Set())).toMatchObject({ moved: 2 });
  await put(stored);
  expect(await sweepBefore(before, new Set([back]))).toMatchObject({ restored: 1, moved: 0, removed: 0 });
  const found = await keys();
  expect(found.filter((key) => !key.startsWith('removed/'))).toEqual([back, stored].toSorted());
  expect(found.filter((key) => key.startsWith('removed/'))).toEqual([expect.stringContaining(stored)]);
  expect(await store.find(back)).toMatchObject({ contentType: 'audio/mpeg' });
  expect(await text(await store.get(back))).toBe(`bytes of ${back}`);
});

test('an object that is stored again after it was looked up is not removed', async () => {
  const key = `media/${digest('again')}`;
  await storeAll([key]);
  // The dates of single objects are whole seconds.
  await sleep(1_001);
  const before = await moment();
  await sleep(1_001);
  const found = await sweepObjects({
    store,
    findNamed: async () => {
      await put(key);
      return new Set();
    },
    before,
    isDryRun: false,
    onSeen: () => undefined,
  });
  expect(found.moved).toBe(0);
  expect(await keys()).toContain(key);
});

test('a sweep and a backup of one installation exclude each other', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'longwave-sweep-'));
  stack.defer(() => rmSync(folder, { recursive: true }));
  using _backup = lockObjects(folder);
  expect(() => lockObjects(folder)).toThrow(`A backup or a sweep of ${folder} is under way (process ${process.pid})`);
});

test('a row names an object in whatever table and form: now or before, in a job, in what was delivered, as a platform wrote it', async () => {
  const database = stack.use(await startTestDatabase({ schema: 'unused' }));
  await deployMigrations(database.adminUrl, () => 'test-only', ownApps);
  const client = stack.adopt(new pg.Client({ connectionString: database.adminUrl }), (each) => each.end());
  await client.connect();
  await client.query('set session_replication_role = replica');
  const at = '2026-11-02T10:00:00Z';
  const resource = (type: string, id: string) =>
    `insert into product.resource values ('${id}', 'ws_1', '${type}', 2, 'draft', $1, '', 'op_1', '${at}', '${at}')`;
  const blob = (it: string) => ({ storage_key: `media/${it}`, sha256: it });
  const trackOf = (track: string, index: string) => ({
    tracks: { a192: { state: 'ready', file: { ...blob(track), index: blob(index) } } },
  });
  const places: Readonly<Record<string, (digest: string) => readonly [sql: string, ...values: unknown[]]>> = {
    'media/resource': (it) => [
      resource('episodes', 'ep_1'),
      JSON.stringify({ audio: { renditions: [{ storage_key: `media/${it}` }] } }),
    ],
    'media/track': (it) => [resource('productions', 'pro_1'), JSON.stringify(trackOf(it, digest('its index')))],
    'media/index of a track': (it) => [
      resource('productions', 'pro_2'),
      JSON.stringify(trackOf(digest('its track'), it)),
    ],
    'media/track of an intro': (it) => [
      resource('podcasts', 'pod_1'),
      JSON.stringify({ intro: { segment: { sha256: digest('its MP3'), hls: blob(it) } } }),
    ],
    'media/picture': (it) => [
      resource('productions', 'pro_3'),
      JSON.stringify({
        tracks: { v1080: { state: 'ready', file: { ...blob(it), index: blob(digest('its cells')) } } },
      }),
    ],
    'media/picture of an ad': (it) => [
      resource('creatives', 'crv_2'),
      JSON.stringify({ pictures: { state: 'ready', iframe: { ...blob(digest('its picture')), index: blob(it) } } }),
    ],
    'artwork/revision': (it) => [
      `insert into product.revision values ('ep_1', 1, 'draft', $1, '', 'op_1', '${at}')`,
      JSON.stringify({ artwork: { sha256: it } }),
    ],
    'imports/job': (it) => [
      `insert into product.job (id, kind, workspace_id, subject_type, subject_id, subject_version, state, input, created_at)
       values ('job_1', 'import', 'ws_1', 'feed_imports', 'imp_1', 1, 'queued', $1, '${at}')`,
      JSON.stringify({ storage_key: `imports/${it}.xml` }),
    ],
    'media/arrangement': (it) => [
      `insert into delivery.arrangement values ('arr_1', 'short', 'ws_1', 'pod_1', 'ep_1', '${at}', $1)`,
      JSON.stringify({ parts: [{ store: 'media', blob: it }] }),
    ],
    'media/creative': (it) => [
      `insert into product.resource values ('crv_1', 'ws_1', 'creatives', 2, 'approved', $1, '', 'op_1', '${at}', '${at}')`,
      JSON.stringify({ media: [{ hls: { index: { storage_key: `media/${it}`, sha256: it } } }] }),
    ],
    'media/ad': (it) => [`insert into delivery.ad_track values ('other', $1)`, JSON.stringify({ index_digest: it })],
    'transcripts/shown': (it) => [
      `insert into delivery.shown_file (kind, digest, subject_id, name, content_type, size_bytes, storage_key)
       values ('transcript', 'other', 'ep_1', 'en', 'text/vtt', 1, $1)`,
      `transcripts/${it}`,
    ],
    'media/message': (it) => [
      `insert into exchange.idempotency_record select (jsonb_populate_record(null::exchange.idempotency_record,
         (select jsonb_object_agg(column_name, case when data_type = 'text' then to_jsonb($1::text) when data_type like 'timestamp%' then
            to_jsonb('${at}'::text) else to_jsonb(1) end)
          from information_schema.columns where table_schema = 'exchange' and table_name = 'idempotency_record'))).*`,
      `of ${it}.`,
    ],
  };
  const digests = new Map([...Object.keys(places), 'media/nobody'].map((place) => [place, digest(place)]));
  for (const [place, insert] of Object.entries(places)) {
    expect(await findNamed(database.adminUrl, new Map([[place, digests.get(place)!]]))).toEqual(new Set());
    const [sql, ...values] = insert(digests.get(place)!);
    await client.query(sql, values);
  }
  expect(await findNamed(database.adminUrl, digests)).toEqual(new Set(Object.keys(places)));
});
