import { describe, expect, test } from '@jest/globals';
import type { MediaRangeServed } from '@longwave/events';
import { newId } from '@longwave/ids';
import { until } from '@longwave/test-kit';
import hls from 'hls-parser';
import { apply, next } from './_apply.ts';
import { bodyButTrace, newListener, type Answer } from './_ask.ts';
import { createHlsPlays, flipped, folderOf, tokenOf, type AssetList } from './_hls-plays.ts';
import { eventOf, workspaceId } from './_support.ts';

const world = createHlsPlays();
const { ask, show, enter, playlistOf, listsOf, assetsAt, bindingsOf } = world;

describe('a play by HLS', () => {
  test('has its breaks in every media playlist, and nothing is decided before a list is asked for', async () => {
    const made = await show();
    const main = await enter(made, newListener());
    expect(main).toMatch(/\/delivery\/v1\/hp\/t1\.[^/]+\/main\.m3u8$/);
    const parsed = hls.parse(await playlistOf(main)) as hls.types.MediaPlaylist;
    expect(parsed.segments.length).toBeGreaterThan(8);
    expect([...(await listsOf(main)).keys()]).toEqual(['pre', 'm1', 'end']);
    expect([world.bench.serving.requests.length, (await bindingsOf(made)).length]).toEqual([0, 0]);
  });

  test('lists the ads of each break, decided once over all breaks, and each ad is a presentation that plays', async () => {
    const made = await show();
    const listener = newListener();
    const main = await enter(made, listener);
    const lists = await listsOf(main);
    const mid = await assetsAt(lists.get('m1')!, listener);
    expect(mid.map(({ DURATION }) => DURATION)).toEqual([10.00533, 7.21067]);
    expect(await assetsAt(lists.get('pre')!, listener)).toHaveLength(1);
    expect(world.bench.serving.requests.map(({ breaks, streamFormats }) => [breaks.length, streamFormats])).toEqual([
      [3, ['mp3/128000/48000/2', 'hls-aac-192']],
    ]);
    const ad = mid[0]!.URI;
    const media = await playlistOf(ad);
    expect(media).not.toContain('DATERANGE');
    const track = new URL(/URI="([^"]+)"/.exec(media)![1]!, `${folderOf(ad)}a192/media.m3u8`).pathname;
    expect((await ask(track, listener)).body.equals(world.ads[0]!.tone.bytes)).toBe(true);
  });

  test('repeats a list byte for byte, whatever a player adds, and whoever asks', async () => {
    const made = await show();
    const listener = newListener();
    const url = (await listsOf(await enter(made, listener))).get('m1')!;
    const first = await ask(url, listener);
    expect(first.headers['cache-control']).toBe('private, no-store');
    const others = await Promise.all([
      ask(`${url}&_HLS_primary_id=7&_HLS_start_offset=3`, listener),
      ask(url, newListener()),
      ask(url, { 'user-agent': 'Other/1', 'x-forwarded-for': '203.0.113.77' }),
    ]);
    for (const { body } of others) expect(body.equals(first.body)).toBe(true);
    expect(world.bench.serving.requests).toHaveLength(1);
  });

  test('is another one after 24 hours, with other ads; addresses of the first lead to the first ones for 180 days', async () => {
    const made = await show();
    const listener = newListener();
    const main = await enter(made, listener);
    const url = (await listsOf(main)).get('m1')!;
    const first = (await ask(url, listener)).body.toString();
    const later = new Date(Date.now() + 25 * 3_600_000);
    world.bench.setClock(later);
    const other = await enter(made, listener);
    expect(other).not.toBe(main);
    expect((await ask((await listsOf(other)).get('m1')!, listener)).body.toString()).not.toBe(first);
    world.bench.setClock(new Date(Date.now() + 179 * 86_400_000));
    expect((await ask(url, listener)).body.toString()).toBe(first);
    world.bench.setClock(new Date(Date.now() + 181 * 86_400_000));
    expect((await ask(url, listener)).status).toBe(404);
  });

  test('decides when its first list is asked for days later, once, and then stays', async () => {
    const made = await show();
    const listener = newListener();
    const lists = await listsOf(await enter(made, listener));
    world.bench.setClock(new Date(Date.now() + 3 * 86_400_000));
    const late = await assetsAt(lists.get('m1')!, listener);
    expect(late).toHaveLength(2);
    expect(await assetsAt(lists.get('m1')!, listener)).toEqual(late);
    expect(world.bench.serving.requests).toHaveLength(1);
  });

  test('leaves out an ad that was halted, whose address is gone, and keeps the others', async () => {
    const made = await show();
    const listener = newListener();
    const url = (await listsOf(await enter(made, listener))).get('m1')!;
    const [halted, kept] = await assetsAt(url, listener);
    const halt = eventOf('serving_halts', newId('hlt'), 1, 'active', {
      scope: { kind: 'creative', creative_id: 'crv_m1_0' },
      cause: 'x',
    });
    await apply(world.bench, halt);
    await until('the halt', async () => (await assetsAt(url, listener)).length === 1);
    expect(await assetsAt(url, listener)).toEqual([kept]);
    expect([(await ask(halted!.URI)).status, (await ask(kept!.URI)).status]).toEqual([410, 200]);
    await apply(world.bench, { ...next(halt, {}, { state: 'released' }) });
  });
});

describe('who only looks', () => {
  test.each([
    ['a HEAD', {}, 'HEAD'],
    ["Apple's Scout", { 'user-agent': 'iTMS Scout/1.0' }, 'GET'],
    ['a bot', { 'user-agent': 'Googlebot/2.1 (+http://www.google.com/bot.html)' }, 'GET'],
  ])('gets the presentation for everybody: %s', async (_who, headers, method) => {
    const made = await show();
    const { headers: answered } = await ask(made.entry, { ...newListener(), ...headers }, method);
    expect(answered.location).toMatch(/\/delivery\/v1\/h\/[0-9a-f]{64}\/main\.m3u8$/);
    const { rowCount } = await world.bench.pool.query('select from hls_play where episode_id = $1', [made.episodeId]);
    expect([rowCount, world.bench.serving.requests.length]).toEqual([0, 0]);
  });

  test('causes no decision by a list that somebody else opened', async () => {
    const made = await show();
    const url = (await listsOf(await enter(made, newListener()))).get('pre')!;
    expect((await ask(url, newListener(), 'HEAD')).status).toBe(200);
    expect(await assetsAt(url, { ...newListener(), 'user-agent': 'Googlebot/2.1' })).toEqual([]);
    expect(await assetsAt(url, { ...newListener(), 'sec-purpose': 'prefetch' })).toEqual([]);
    expect([world.bench.serving.requests.length, (await bindingsOf(made)).length]).toEqual([0, 0]);
  });

  test('gets the same 404 for a token that is flipped, of another purpose, or none', async () => {
    const made = await show();
    const main = await enter(made, newListener());
    const list = (await listsOf(main)).get('m1')!;
    const answers: Answer[] = await Promise.all(
      [
        `al/${flipped(tokenOf(list))}`,
        `al/${tokenOf(main)}`,
        `hp/${tokenOf(list)}/main.m3u8`,
        `ad/${tokenOf(list)}/main.m3u8`,
        `hp/${tokenOf(made.entry)}/main.m3u8`,
      ].map((path) => ask(`/delivery/v1/${path}`)),
    );
    expect(new Set(answers.map((answer) => `${answer.status} ${bodyButTrace(answer)}`)).size).toBe(1);
    expect(answers[0]!.status).toBe(404);
  });
});

describe('what is sent under the tokens of a play', () => {
  test('is told in facts that cover every cell once, with the play, and of ads with the serving', async () => {
    const made = await show();
    const listener = newListener();
    const main = await enter(made, listener);
    const playlist = hls.parse(await playlistOf(main)) as hls.types.MediaPlaylist;
    const track = new URL(playlist.segments[0]!.uri, `${folderOf(main)}a192/media.m3u8`).pathname;
    for (const { byterange } of playlist.segments)
      await ask(track, {
        ...listener,
        range: `bytes=${byterange.offset}-${byterange.offset + byterange.length - 1}`,
      });
    const [asset] = await assetsAt((await listsOf(main)).get('pre')!, listener);
    await ask(`${folderOf(asset!.URI)}s/${/s\/([0-9a-f]{64})/.exec(await playlistOf(asset!.URI))![1]}/m.mp4`, listener);

    const ofEpisode = (): readonly MediaRangeServed[] =>
      world.bench.facts.filter(
        (fact): fact is MediaRangeServed => fact.kind === 'media_range_served' && fact.episode_id === made.episodeId,
      );
    const facts = await until('the facts', async () => (ofEpisode().some(({ ad }) => ad) ? ofEpisode() : undefined));
    const written = facts
      .filter(({ ad }) => !ad)
      .flatMap((fact) => fact.written)
      .toSorted(([a], [b]) => a - b);
    const { offset } = playlist.segments[0]!.byterange;
    expect(written[0]![0]).toBe(offset);
    for (const [at, [from]] of written.slice(1).entries()) expect(from).toBe(written[at]![1]);
    expect(written.at(-1)![1]).toBe(world.content.bytes.length);
    const [binding] = await bindingsOf(made);
    expect(facts.find(({ ad }) => ad)).toMatchObject({
      ad: { serving_id: binding!.ads['pre/0']!.serving_id },
      late: false,
    });
    const { rows } = await world.bench.pool.query<{ play_id: string; presentation: string }>(
      'select play_id, presentation from hls_play where episode_id = $1',
      [made.episodeId],
    );
    for (const fact of facts)
      expect(fact).toMatchObject({
        play_id: rows[0]!.play_id,
        presentation: rows[0]!.presentation,
        workspace_id: workspaceId,
      });
    const described = world.bench.facts.filter(
      (fact) => fact.kind === 'track_described' && fact.track === facts[0]!.track,
    );
    expect(described).toMatchObject([{ media: 'audio', timescale: 48_000 }]);
  });
});

describe('while an engine is away', () => {
  test('playlists and media go on, and lists are empty', async () => {
    const made = await show();
    await using own = await world.startBehindProxy({ DECIDE_DEADLINE_MS: '300' });
    const { ask: askOwn, database } = own;
    const listener = newListener();
    const { headers } = await askOwn(made.entry, listener);
    const media = `${folderOf(headers.location!)}a192/media.m3u8`;
    const playlist = (await askOwn(media, listener)).body.toString();
    const url = /X-ASSET-LIST="([^"]+)"/.exec(playlist)![1]!;
    const track = new URL(/URI="([^"]+)"/.exec(playlist)![1]!, media).pathname;
    // A decision that hangs for ever is an answer without ads.
    world.bench.serving.answer = () => new Promise(() => undefined);
    expect((await askOwn(url, listener)).body.toString()).toBe('{"ASSETS":[]}');
    // Another listener's play is open when the database goes.
    const other = newListener();
    const theirs = (await askOwn(made.entry, other)).headers.location!;
    const before = (await askOwn(`${folderOf(theirs)}a192/media.m3u8`, other)).body.toString();
    await database.cut('refused');
    expect((await askOwn(`${folderOf(theirs)}a192/media.m3u8`, other)).body.toString()).toBe(before);
    expect((await askOwn(track, { ...listener, range: 'bytes=605-40000' })).status).toBe(206);
    const list = await askOwn(/X-ASSET-LIST="([^"]+)"/.exec(before)![1]!, other);
    expect([list.status, list.body.toString()]).toEqual([200, '{"ASSETS":[]}']);
    // Somebody new listens without breaks.
    const fresh = await askOwn(made.entry, newListener());
    expect(fresh.headers.location).toContain('/delivery/v1/h/');
  });

  test('without Redis playlists, lists and media go on, for new listeners too, and what was sent is told when it is back', async () => {
    const made = await show();
    await using own = await world.startBehindProxy();
    const { ask: askOwn, redis } = own;
    const playOf = async (listener: Record<string, string>) => {
      const { location } = (await askOwn(made.entry, listener)).headers;
      const media = `${folderOf(location!)}a192/media.m3u8`;
      const playlist = (await askOwn(media, listener)).body.toString();
      return { media, playlist, track: new URL(/URI="([^"]+)"/.exec(playlist)![1]!, media).pathname };
    };
    const listOf = async ({ playlist }: { readonly playlist: string }, listener: Record<string, string>) => {
      const { body } = await askOwn(/X-ASSET-LIST="([^"]+)"/.exec(playlist)![1]!, listener);
      return JSON.parse(body.toString()) as AssetList;
    };
    const [listener, stranger] = [newListener(), newListener()];
    const before = await playOf(listener);
    await redis.cut('refused');
    const during = await playOf(listener);
    expect(during).toEqual(before);
    const { ASSETS: ads } = await listOf(during, listener);
    expect(ads).toHaveLength(1);
    expect((await askOwn(ads[0]!.URI, listener)).status).toBe(200);
    const range = await askOwn(during.track, { ...listener, range: 'bytes=605-40000' });
    expect(range.body.equals(world.content.bytes.subarray(605, 40_001))).toBe(true);
    const theirs = await playOf(stranger);
    expect(theirs.media).toContain('/delivery/v1/hp/');
    expect((await listOf(theirs, stranger)).ASSETS).toHaveLength(1);

    const told = () =>
      world.bench.facts.filter((fact) => fact.kind === 'media_range_served' && fact.episode_id === made.episodeId);
    expect(told()).toEqual([]);
    await redis.heal();
    await until('the fact of the range', () => told().length > 0, { timeoutMs: 30_000 });
    expect(told()).toMatchObject([{ written: [[605, 40_001]] }]);
  });
});
