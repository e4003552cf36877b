import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { AdTrack } from '@longwave/events';
import { newId } from '@longwave/ids';
import { getLines } from '@longwave/object-store';
import { sha256, until } from '@longwave/test-kit';
import { findAdPictures } from '../src/decisions/ad-picture-table.ts';
import type { AdPictures } from '../src/decisions/ad-pictures.ts';
import { findAdTracks } from '../src/decisions/ad-track-table.ts';
import { createBindings } from '../src/plays/bindings.ts';
import { createKnownArrangements } from '../src/arrangements/known-arrangements.ts';
import { findArrangement, type NewArrangement } from '../src/arrangements/arrangement-table.ts';
import type { AdFiles, Binding } from '../src/plays/binding-table.ts';
import type { DeliveryApp } from '../src/app.ts';
import { arrangementOf } from './_arrangement.ts';
import { askAt, newListener } from './_ask.ts';
import { giveAds, publishShow, storeSegment } from './_stitched.ts';
import { audio, openBench, type Bench } from './_support.ts';

let bench: Bench;
beforeAll(async () => {
  bench = await openBench();
});
afterAll(() => bench.stop());

/** The arrangements and bindings of one process. */
function openNode() {
  const statements: string[] = [];
  const pool = new Proxy(bench.pool, {
    get: (target, name) => {
      if (name !== 'query') return Reflect.get(target, name, target) as unknown;
      return (asked: { name: string; text: string }) => {
        statements.push(asked.name);
        return target.query(asked);
      };
    },
  });
  const arrangements = createKnownArrangements(pool);
  return { bindings: createBindings(pool, arrangements), arrangements, statements };
}
const bindingOf = (listenerKey: string, arrangementId: string, sequence = 0): Binding => ({
  ...{ listenerKey, episodeId: 'ep_1', sequence, arrangementId, ads: {} },
  ...{ decisionId: newId('dec'), startedAt: new Date(1_767_225_600_000 + sequence) },
  ...{ addressKey: 'a', app: undefined, system: undefined },
});
const none: AdFiles = { tracks: new Map(), pictures: new Map() };
const listeners = (count: number) => Array.from({ length: count }, () => newId('lst'));

test('a hundred listeners at once cost one query and one statement, and each gets its own binding', async () => {
  const { bindings, statements, arrangements } = openNode();
  const [one, two] = ['Bound', 'Bound too'].map(arrangementOf) as [NewArrangement, NewArrangement];
  const wanted = listeners(100).map((key, at) => {
    const arrangement = at % 2 ? one : two;
    return [arrangement, bindingOf(key, arrangement.id)] as const;
  });
  const held = await Promise.all(wanted.map(([arrangement, binding]) => bindings.bind(arrangement, binding, none)));
  expect(held).toEqual(wanted.map(([, binding]) => binding));
  const found = await Promise.all(
    wanted.map(([, { listenerKey }]) => bindings.findLatest({ listener: [listenerKey], shared: [] }, 'ep_1')),
  );
  expect(found.map(({ own }) => own)).toEqual(held);
  expect(statements).toEqual(['save_bindings', 'latest_bindings']);
  expect(await findArrangement(bench.pool, one.id)).toEqual(await arrangements.find(one.id));
});

test('when two processes bind the same listeners at once, each listener has one binding, and both processes learn which', async () => {
  const [first, second] = [openNode(), openNode()];
  const [one, two] = ['Here', 'There'].map(arrangementOf);
  const keys = listeners(150);
  const [here, there] = await Promise.all([
    Promise.all(keys.map((key) => first.bindings.bind(one!, bindingOf(key, one!.id), none))),
    Promise.all(keys.toReversed().map((key) => second.bindings.bind(two!, bindingOf(key, two!.id), none))),
  ]);
  expect(here).toEqual(there.toReversed());
  const { rowCount } = await bench.pool.query('select from binding where listener_key = any($1)', [keys]);
  expect(rowCount).toBe(keys.length);
});

test('of several keys and bindings the newest is found, and none where none was stored', async () => {
  const { bindings } = openNode();
  const arrangement = arrangementOf('Newest');
  const [old, current, unknown] = listeners(3) as [string, string, string];
  await bindings.bind(arrangement, bindingOf(old, arrangement.id, 7), none);
  for (const sequence of [0, 1]) await bindings.bind(arrangement, bindingOf(current, arrangement.id, sequence), none);
  const asked: [string[], string[], string][] = [
    [[current, old], [unknown], 'ep_1'],
    [[current], [old], 'ep_1'],
    [[unknown], [unknown, current], 'ep_1'],
    [[current], [old], 'ep_2'],
  ];
  const found = await Promise.all(
    asked.map(([listener, shared, episodeId]) => bindings.findLatest({ listener, shared }, episodeId)),
  );
  const told = (each: Binding | undefined) => each && [each.listenerKey, each.sequence];
  expect(found.map(({ own, shared }) => [told(own), told(shared)])).toEqual([
    [[old, 7], undefined],
    [
      [current, 1],
      [old, 7],
    ],
    [undefined, [current, 1]],
    [undefined, undefined],
  ]);
});

test('an arrangement that is known to be stored is not sent again', async () => {
  const { bindings, arrangements } = openNode();
  const arrangement = arrangementOf('Once');
  const [one, two] = listeners(2) as [string, string];
  await bindings.bind(arrangement, bindingOf(one, arrangement.id), none);
  expect(arrangements.has(arrangement.id)).toBe(true);
  // PostgreSQL would refuse this row, so it was not sent.
  const unsendable = { ...arrangement, workspaceId: '\0' };
  await expect(bindings.bind(unsendable, bindingOf(two, arrangement.id), none)).resolves.toBeDefined();
});

test('tracks and pictures of ads are stored with the binding, by its statement; the first of an ad stay, and another process finds them', async () => {
  const [first, second] = [openNode(), openNode()];
  const arrangement = arrangementOf('Tracked');
  const [a, b, unknown] = [sha256(Buffer.from('a')), sha256(Buffer.from('b')), sha256(Buffer.from('c'))];
  const trackOf = (digest: string): AdTrack => ({
    ...{ codec: 'mp4a.40.2', digest, size_bytes: 70_605, duration_ms: 3_008 },
    ...{ index_digest: sha256(Buffer.from(digest)), index_size_bytes: 60 },
  });
  const [mine, theirs] = listeners(2) as [string, string];
  const tracks = new Map([a, b].map((digest) => [digest, trackOf(digest)]));
  const picture = (digest: string) => ({
    ...trackOf(digest),
    width: 16,
    height: 9,
    frame_rate: { frames: 25, seconds: 1 },
  });
  const picturesOf = (digest: string): AdPictures => ({
    ...{ v360: picture(digest), v720: picture(digest), v1080: picture(digest), iframe: picture(digest) },
  });
  const pictures = new Map([a, b].map((digest) => [`crv_${digest}`, picturesOf(digest)]));
  // Both at once, in either order: two processes that store the same files wait for each other.
  await Promise.all([
    first.bindings.bind(arrangement, bindingOf(mine, arrangement.id), { tracks, pictures }),
    second.bindings.bind(arrangement, bindingOf(theirs, arrangement.id), {
      tracks: new Map([...tracks].toReversed()),
      pictures: new Map([...pictures].toReversed()),
    }),
  ]);
  expect(first.statements).toEqual(['save_bindings']);
  await first.bindings.bind(arrangement, bindingOf(mine, arrangement.id, 1), {
    tracks: new Map([[a, trackOf(b)]]),
    pictures: new Map([[`crv_${a}`, picturesOf(b)]]),
  });
  expect(await findAdTracks(bench.pool, [b, unknown, a])).toEqual(tracks);
  expect(await findAdPictures(bench.pool, [unknown, ...pictures.keys()])).toEqual(pictures);
});

describe('rows that a client without a credential can cause', () => {
  const began = new Date('2027-05-04T23:59:30Z');
  const hourMs = 3_600_000;
  const maxPlays = 5;
  let app: DeliveryApp;
  const ask = askAt(() => app.port);
  const ad = audio(1_000);
  beforeAll(async () => {
    app = await bench.start({
      SWEEP_EVERY_MS: '50',
      NEW_PLAYS_PER_ADDRESS_AND_MINUTE: String(maxPlays),
    });
    await storeSegment(bench, ad);
    giveAds(bench, () => ad);
  });
  afterAll(async () => {
    await app[Symbol.asyncDispose]();
  });

  const bindingsOf = async (episodeId: string) =>
    (
      await bench.pool.query<{ clean: boolean }>(
        `select ads = '{}' as clean from binding where episode_id = $1 order by started_at, listener_key`,
        [episodeId],
      )
    ).rows;

  test('beyond the bound of an address, new listeners cost no decision and share one file for 24 hours', async () => {
    bench.setClock(began);
    const { enclosure, episodeId } = await publishShow(bench, audio(3_000));
    const decided = () => bench.serving.requests.filter((request) => request.episodeId === episodeId).length;
    const home = newListener();
    const players = Array.from({ length: 40 }, (_, n) => ({ ...home, 'user-agent': `Player${n}/1.0` }));
    const resolve = async (headers: Record<string, string>) => String((await ask(enclosure, headers)).headers.location);
    const first = await Promise.all(players.map(resolve));
    const shared = first.filter((location) => first.filter((each) => each === location).length > 1);
    expect([decided(), shared.length, new Set(shared).size]).toEqual([maxPlays, players.length - maxPlays, 1]);
    expect((await bindingsOf(episodeId)).filter(({ clean }) => clean)).toHaveLength(1);
    expect(await bindingsOf(episodeId)).toHaveLength(maxPlays + 1);

    // Listeners that come back, range by range, get the same bytes: also when more plays may begin, and on another day.
    for (const afterMs of [120_000, 24 * hourMs - 1]) {
      bench.setClock(new Date(began.getTime() + afterMs));
      expect(await Promise.all(players.map(resolve))).toEqual(first);
    }
    expect(decided()).toBe(maxPlays);
    const [clean] = shared;
    const whole = await ask(clean!, home);
    const ranges = await Promise.all(['bytes=0-9999', 'bytes=10000-'].map((range) => ask(clean!, { ...home, range })));
    expect(Buffer.concat(ranges.map(({ body }) => body)).equals(whole.body)).toBe(true);

    // Another address is not limited, and after 24 hours every listener causes a decision again.
    expect(await resolve(newListener())).not.toBe(clean);
    expect(decided()).toBe(maxPlays + 1);
    bench.setClock(new Date(began.getTime() + 24 * hourMs));
    const overflow = players[first.indexOf(clean!)]!;
    expect(await resolve(overflow)).not.toBe(clean);
    expect(decided()).toBe(maxPlays + 2);
  });

  test('a binding without ads goes after two days, one with ads stays, and both files are what they were', async () => {
    bench.setClock(began);
    const { enclosure, episodeId } = await publishShow(bench, audio(500));
    const withAds = String((await ask(enclosure, newListener())).headers.location);
    giveAds(bench, () => undefined);
    const clean = String((await ask(enclosure, newListener())).headers.location);
    giveAds(bench, () => ad);
    const before = [await ask(withAds), await ask(clean)];
    bench.setClock(new Date(began.getTime() + 48 * hourMs + 1));
    await until(async () => (await bindingsOf(episodeId)).length === 1);
    expect(await bindingsOf(episodeId)).toEqual([{ clean: false }]);
    const remove = bench.pool.query('delete from binding where episode_id = $1', [episodeId]);
    await expect(remove).rejects.toThrow('binding is append-only');
    for (const [n, location] of [withAds, clean].entries()) {
      const { status, headers, body } = await ask(location);
      expect([status, headers.etag, body.equals(before[n]!.body)]).toEqual([200, before[n]!.headers.etag, true]);
    }
  });

  test('a binding with ads moves to the object store when no token of it opens any more, without its listener', async () => {
    const dayMs = 24 * hourMs;
    const start = new Date(Date.now() - 200 * dayMs);
    bench.setClock(start);
    const { enclosure, episodeId } = await publishShow(bench, audio(700));
    const played = String((await ask(enclosure, newListener())).headers.location);
    const { rows } = await bench.pool.query<{ decision_id: string; arrangement_id: string; listener_key: string }>(
      'select decision_id, arrangement_id, listener_key from binding where episode_id = $1',
      [episodeId],
    );
    // Until then it stays, and facts of its token are counted.
    bench.setClock(new Date(start.getTime() + 186 * dayMs));
    expect(await bindingsOf(episodeId)).toHaveLength(1);

    bench.setClock(new Date(start.getTime() + 191 * dayMs));
    await until(async () => (await bindingsOf(episodeId)).length === 0);
    expect((await ask(played)).status).toBe(404);
    const folder = `bindings/${start.toISOString().slice(0, 10)}`;
    const digests: string[] = [];
    for await (const { key } of bench.store.list(`${folder}/`))
      digests.push(/([0-9a-f]{64})\.ndjson\.gz$/.exec(key)![1]!);
    const lines = (await Promise.all(digests.map((digest) => getLines(bench.store, folder, digest)))).flat();
    const line = lines.find((each) => each.includes(rows[0]!.decision_id))!;
    expect(JSON.parse(line)).toMatchObject({
      ...{ episode_id: episodeId, arrangement_id: rows[0]!.arrangement_id, started_at: start.toISOString() },
      ads: { 'pre/0': { serving_id: expect.any(String) } },
    });
    expect(line).not.toContain(rows[0]!.listener_key);
  });

  test('of a user agent 512 bytes are stored, once a day, and only of clients that were sent bytes', async () => {
    bench.setClock(began);
    const { enclosure } = await publishShow(bench, audio(500));
    const long = `Endless/1.0 (${'x'.repeat(7_000)})`;
    const seen = () => bench.facts.flatMap((fact) => (fact.kind === 'user_agent_seen' ? [fact] : []));
    await ask(enclosure, { ...newListener(), 'user-agent': 'OnlyLooksForTheAddress/1.0' });
    const listener = { ...newListener(), 'user-agent': long };
    const location = String((await ask(enclosure, listener)).headers.location);
    for (const at of [began, began, new Date(began.getTime() + 60_000)]) {
      bench.setClock(at);
      expect((await ask(location, listener)).status).toBe(200);
    }
    const told = await until(() => {
      const of = seen().filter((fact) => fact.user_agent.startsWith('Endless/'));
      return of.length >= 2 && of;
    });
    expect(told.map((fact) => [fact.at.slice(0, 10), fact.user_agent])).toEqual([
      ['2027-05-04', long.slice(0, 512)],
      ['2027-05-05', long.slice(0, 512)],
    ]);
    expect(seen().filter((fact) => fact.user_agent.startsWith('OnlyLooks'))).toEqual([]);
  });
});
