import path from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { recount } from '@longwave/audience';
import type { DeliveryFact } from '@longwave/events';
import { checkPresentation, readPresentation } from '@longwave/hls-profile';
import { until } from '@longwave/test-kit';
import { validateXml } from '@longwave/test-kit/validate-xml';
import { withPrograms } from '@longwave/test-kit/with-programs';
import { lists } from '@longwave/test-kit/delivery-facts';
import hls from 'hls-parser';
import type { DeliveryApp } from '../src/app.ts';
import { apply, next } from './_apply.ts';
import { askAt, newListener } from './_ask.ts';
import { decideAds, publishHlsShow, storeTone, type TestAd, type TestTrack } from './_hls.ts';
import { folderOf, servingOf, servingsInMp3, tokenOf, type AssetList } from './_hls-plays.ts';
import { storePictures, type TestPictures } from './_pictures.ts';
import { storeSegment } from './_stitched.ts';
import { audio, openBench, type Bench } from './_support.ts';

const boundedVast = path.join(import.meta.dirname, '../../../libs/vast/tests/bounded-vast.xsd');
let bench: Bench;
let app: DeliveryApp;
let content: TestTrack;
let pictures: TestPictures;
let ads: readonly TestAd[];
const ask = askAt(() => app.port);
const renditions = ['v360', 'v480', 'v720', 'v1080', 'iframe', 'a192'];
const sizesOfAds = ['v360', 'v720', 'v1080', 'iframe', 'a192'];

beforeAll(async () => {
  bench = await openBench();
  [app, content, pictures] = await Promise.all([
    bench.start(),
    storeTone(bench, 12, 440, [5_000]),
    storePictures(bench, 12, [5_000]),
  ]);
  ads = [{ mp3: audio(125), tone: await storeTone(bench, 3, 660), pictures: await storePictures(bench, 3) }];
  await storeSegment(bench, ads[0]!.mp3);
});
afterAll(async () => {
  await app[Symbol.asyncDispose]();
  await bench.stop();
});
beforeEach(() => {
  bench.serving.answer = async (request) => decideAds(request, ads);
  bench.serving.requests.length = 0;
});

const show = () =>
  publishHlsShow(
    bench,
    ask,
    content,
    [
      { key: 'm1', kind: 'mid', position_ms: 5_000, max_slots: 1 },
      { key: 'end', kind: 'post', position_ms: 12_000, max_slots: 1 },
    ],
    pictures,
  );

/** The folder of the listener's play. */
async function enter({ entry }: { readonly entry: string }, listener: Record<string, string>): Promise<string> {
  const { status, headers } = await ask(entry, listener);
  expect(status).toBe(302);
  return folderOf(headers.location!);
}

const textAt = async (url: string, listener = {}) => {
  const { status, body } = await ask(url, listener);
  expect(status).toBe(200);
  return body.toString();
};
const rangesOf = (playlist: string) => playlist.split('\n').filter((line) => line.startsWith('#EXT-X-DATERANGE'));
/** The assets of each break, in order. */
async function assetsOf(folder: string, listener: Record<string, string>): Promise<AssetList['ASSETS']> {
  const ranges = rangesOf(await textAt(`${folder}a192/media.m3u8`));
  const lists = ranges.map((line) => /X-ASSET-LIST="([^"]+)"/.exec(line)![1]!);
  const answers = [];
  for (const url of lists) answers.push(JSON.parse(await textAt(url, listener)) as AssetList);
  return answers.flatMap(({ ASSETS }) => ASSETS);
}
const servingsOf = async (episodeId: string) => {
  const { rows } = await bench.pool.query<{ ads: Record<string, { serving_id: string }> }>(
    'select ads from binding where episode_id = $1 order by sequence',
    [episodeId],
  );
  return rows.map((row) => ['pre/0', 'm1/0', 'end/0'].map((slot) => row.ads[slot]?.serving_id));
};

/** What is known of the productions of an episode, their tracks among it. */
const tracksOfEpisode = async (episodeId: string) =>
  (await bench.pool.query('select * from production where episode_id = $1', [episodeId])).rows;

test('all playlists of a play have the same breaks, byte for byte, and one of pictures begins a segment at each', async () => {
  const folder = await enter(await show(), newListener());
  const playlists = await Promise.all(renditions.map((name) => textAt(`${folder}${name}/media.m3u8`)));
  const [first, ...others] = playlists.map((text) => rangesOf(text).join('\n'));
  expect(first!.split('\n')).toHaveLength(3);
  for (const other of others) expect(other).toBe(first);
  const { segments } = hls.parse(playlists[3]!) as hls.types.MediaPlaylist;
  let at = 0;
  const starts = segments.map(({ duration }) => (at += duration) - duration);
  expect(starts).toContainEqual(expect.closeTo(5, 2));
});

test('a marker that is moved moves the break of the next play, from the tracks that are there', async () => {
  const made = await show();
  const [earlier, tracks] = await Promise.all([enter(made, newListener()), tracksOfEpisode(made.episodeId)]);
  const textsOf = (folder: string) => Promise.all(renditions.map((name) => textAt(`${folder}${name}/media.m3u8`)));
  const before = await textsOf(earlier);
  const [m1, end] = (made.events.episode.after.attributes as { markers: { key: string }[] }).markers;
  await apply(bench, next(made.events.episode, { markers: [{ ...m1, position_ms: 7_000 }, end] }));
  const startOf = (playlist: string) => {
    const begins = /#EXT-X-PROGRAM-DATE-TIME:(\S+)/.exec(playlist)![1]!;
    return (Date.parse(/ID="m1".*?START-DATE="([^"]+)"/.exec(playlist)![1]!) - Date.parse(begins)) / 1000;
  };
  const after = await until('the moved break', async () => {
    const texts = await textsOf(await enter(made, newListener()));
    return startOf(texts[0]!) !== startOf(before[0]!) && texts;
  });
  expect(startOf(before[0]!)).toBeCloseTo(5, 1);
  expect(startOf(after[0]!)).toBeCloseTo(7.33, 1);
  const filesOf = (texts: readonly string[]) => texts.map((text) => /s\/([0-9a-f]{64})\/m\.mp4/.exec(text)![1]);
  expect(filesOf(after)).toEqual(filesOf(before));
  expect(new Set(after.map((text) => rangesOf(text).join()))).toHaveProperty('size', 1);
  // The play that was opened stays what it is.
  expect([await textsOf(earlier), await tracksOfEpisode(made.episodeId)]).toEqual([before, tracks]);
});

test('an ad has its pictures and its sound, as long as its sound, and is decided for all that the show plays', async () => {
  const listener = newListener();
  const folder = await enter(await show(), listener);
  const assets = await assetsOf(folder, listener);
  const seconds = Number(((ads[0]!.tone.frames * 1024) / 48_000).toFixed(5));
  expect(assets.map(({ DURATION }) => DURATION)).toEqual([seconds, seconds, seconds]);
  expect(bench.serving.requests.map(({ streamFormats }) => streamFormats)).toEqual([
    ['mp3/128000/48000/2', 'hls-aac-192', 'hls-avc'],
  ]);
  const main = assets[0]!.URI;
  const { variants } = hls.parse(await textAt(main)) as hls.types.MasterPlaylist;
  expect(variants.map(({ uri, resolution }) => [uri, resolution?.height])).toEqual([
    ...[
      ['v360/media.m3u8', 360],
      ['v720/media.m3u8', 720],
      ['v1080/media.m3u8', 1080],
    ],
    ...[
      ['a192/media.m3u8', undefined],
      ['iframe/media.m3u8', 360],
    ],
  ]);
  for (const name of sizesOfAds) {
    const playlist = `${folderOf(main)}${name}/media.m3u8`;
    const text = await textAt(playlist);
    expect(rangesOf(text)).toEqual([]);
    const { status, headers } = await ask(new URL(/URI="([^"]+)"/.exec(text)![1]!, playlist).href, listener, 'HEAD');
    expect([status, headers['content-type']]).toEqual([200, name === 'a192' ? 'audio/mp4' : 'video/mp4']);
  }
  for (const other of ['v480', 'v240', 'constructor']) {
    const { status } = await ask(`${folderOf(main)}${other}/media.m3u8`);
    expect(status).toBe(404);
  }
});

test("a listener's presentation and its ads have nothing against them by Apple's profile, read whole", async () => {
  const made = await show();
  const listener = newListener();
  const { presentation, findings } = await readPresentation(
    async ({ url, range }) => {
      const headers = range ? { range: `bytes=${range.offset}-${range.offset + range.length - 1}` } : undefined;
      const answer = await ask(url, { ...listener, ...headers, origin: 'https://podcasts.apple.com' });
      return { url, status: answer.status, headers: answer.headers as Record<string, string>, body: answer.body };
    },
    `${await enter(made, listener)}main.m3u8`,
    { extent: 'all' },
  );
  expect(presentation!.breaks.map(({ assets }) => assets.length)).toEqual([1, 1, 1]);
  expect([...findings, ...checkPresentation(presentation!, { profile: 'apple', checkedAt: Date.now() })]).toEqual([]);
});

test('a listener has the same ads in the same order in the MP3 and with pictures, whichever comes first and also both at once in two processes', async () => {
  const made = await show();
  const second = await bench.start({ CACHE_FOLDER: `${bench.folder}/2`, JOURNAL_FOLDER: `${bench.folder}/2-journal` });
  const askSecond = askAt(() => second.port);
  const compare = async (order: 'mp3' | 'hls' | 'both') => {
    const listener = newListener();
    if (order === 'mp3') await askSecond(made.enclosure, listener);
    const byHls = async () => assetsOf(await enter(made, listener), listener);
    const [assets] = await Promise.all([byHls(), ...(order === 'both' ? [askSecond(made.enclosure, listener)] : [])]);
    const servings = assets.map(({ URI }) => servingOf(bench, 'ada', URI));
    expect(servings).toHaveLength(3);
    expect(servings).toEqual(await servingsInMp3(bench, askSecond, made.enclosure, listener));
  };
  try {
    await compare('mp3');
    await compare('hls');
    for (let attempt = 0; attempt < 20; attempt++) await compare('both');
    expect(bench.serving.requests.length).toBeLessThanOrEqual(2 + 2 * 20);
  } finally {
    await second[Symbol.asyncDispose]();
  }
});

test('once the pictures are switched off, who plays goes on with the same ads, and who has the MP3 gets them with the sound alone', async () => {
  const made = await show();
  const [first, second] = [newListener(), newListener()];
  const inMp3 = await servingsInMp3(bench, ask, made.enclosure, second);
  const folder = await enter(made, first);
  const assets = await assetsOf(folder, first);
  const everybody = async () => (await ask(made.entry, newListener(), 'HEAD')).headers.location;
  const before = await everybody();
  await apply(bench, next(made.events.podcast, { hls_audio: true, hls_video: false }));
  await until('the sound alone', async () => ![before, undefined].includes(await everybody()));
  expect([await enter(made, first), await assetsOf(folder, first)]).toEqual([folder, assets]);
  const alone = await enter(made, second);
  const { variants } = hls.parse(await textAt(`${alone}main.m3u8`)) as hls.types.MasterPlaylist;
  expect(variants.map(({ resolution }) => resolution?.height)).toEqual([undefined]);
  const servings = (await assetsOf(alone, second)).map(({ URI }) => servingOf(bench, 'ada', URI));
  expect(servings).toHaveLength(3);
  expect(servings).toEqual(inMp3);
  expect(bench.serving.requests).toHaveLength(2);
});

test('an ad that was decided before the show had pictures is left out of plays with pictures', async () => {
  bench.serving.answer = async (request) => decideAds(request, [{ ...ads[0]!, pictures: undefined! }]);
  const made = await show();
  const listener = newListener();
  // Other creatives than those of other tests, whose pictures are stored.
  const { answer } = bench.serving;
  bench.serving.answer = async (request) => {
    const decided = await answer(request);
    return { ...decided, picks: decided.picks.map((pick) => ({ ...pick, creativeId: `old_${pick.breakKey}` })) };
  };
  const folder = await enter(made, listener);
  expect(await assetsOf(folder, listener)).toEqual([]);
  expect((await servingsOf(made.episodeId))[0]!.every(Boolean)).toBe(true);
});

test('VAST names the picture of an ad where the play has pictures', async () => {
  const listener = newListener();
  const folder = await enter(await show(), listener);
  const body = JSON.stringify({ presentation_token: tokenOf(folder) });
  const binding = JSON.parse((await ask('/delivery/v1/pb', {}, 'POST', body)).body.toString()) as {
    readonly breaks: readonly { readonly vast: string }[];
  };
  const text = await textAt(binding.breaks[0]!.vast, listener);
  expect(text).toContain('adType="video"');
  expect(text).toMatch(/<MediaFile id="hls"[^>]* width="1920" height="1080"/);
  expect(text).toMatch(/<MediaFile id="mp3"[^>]* width="0" height="0"/);
  expect(text.match(/\/ad\/(t1\.[^/]+)\/main\.m3u8/)?.[1]).toBe(tokenOf((await assetsOf(folder, listener))[0]!.URI));
});

withPrograms('TEST_XMLLINT')('VAST of a play with pictures is valid by the schema of our bounds', async () => {
  const listener = newListener();
  const body = JSON.stringify({ presentation_token: tokenOf(await enter(await show(), listener)) });
  const { breaks } = JSON.parse((await ask('/delivery/v1/pb', {}, 'POST', body)).body.toString()) as {
    readonly breaks: readonly { readonly vast: string }[];
  };
  const texts = await Promise.all(breaks.map(({ vast }) => textAt(vast, listener)));
  for (const text of texts) expect(text).toContain('adType="video"');
  const verdicts = await validateXml(boundedVast, texts);
  expect(verdicts.map((line) => line.replace(/^\S+ /, ''))).toEqual(texts.map(() => 'validates'));
});

test('some of the sound, and pictures in two sizes one after the other, are one download of the whole time', async () => {
  const made = await show();
  const listener = newListener();
  const folder = await enter(made, listener);
  /** Reads the segments of a rendition that begin within a span of seconds. */
  async function read(name: string, from: number, to: number): Promise<void> {
    const playlist = `${folder}${name}/media.m3u8`;
    const { segments } = hls.parse(await textAt(playlist)) as hls.types.MediaPlaylist;
    let start = 0;
    for (const { uri, byterange, duration } of segments) {
      const range = `bytes=${byterange.offset}-${byterange.offset + byterange.length - 1}`;
      if (start >= from && start < to) await ask(new URL(uri, playlist).href, { ...listener, range });
      start += duration;
    }
  }
  await read('a192', 0, 9.5);
  await read('v360', 0, 4.9);
  await read('v720', 4.9, 12);
  // Pictures for seeking are no listening.
  await read('iframe', 0, 12);
  const isOurs = (fact: DeliveryFact) => 'episode_id' in fact && fact.episode_id === made.episodeId;
  const facts = await until('the facts', async () => {
    const ranges = bench.facts.filter((fact) => fact.kind === 'media_range_served' && isOurs(fact));
    const tracks = new Set(ranges.map((fact) => fact.kind === 'media_range_served' && fact.track));
    return tracks.size === 4 && bench.facts;
  });
  const described = facts.filter((fact) => fact.kind === 'track_described');
  expect(new Set(described.map((fact) => fact.kind === 'track_described' && fact.media))).toEqual(
    new Set(['audio', 'video', 'iframe']),
  );
  const { sessions } = recount(
    facts.filter((fact) => !('episode_id' in fact) || isOurs(fact)),
    lists.userAgents,
  );
  expect(sessions.map(({ session }) => session.download?.creditedMs)).toEqual([12_000]);
});
