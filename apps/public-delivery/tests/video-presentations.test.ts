import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { checkPresentation, readPresentation } from '@longwave/hls-profile';
import { deliveryContract, type DeliveryContract } from '@longwave/services';
import { until } from '@longwave/test-kit';
import hls from 'hls-parser';
import type { DeliveryApp } from '../src/app.ts';
import { apply, next } from './_apply.ts';
import { askAt, newListener } from './_ask.ts';
import { readyTracks, storeTone, type TestTrack } from './_hls.ts';
import { storePictures, type TestPictures } from './_pictures.ts';
import { publishShow, storeSegment } from './_stitched.ts';
import { audio, openBench, type Bench } from './_support.ts';

let bench: Bench;
let app: DeliveryApp;
let sound: TestTrack;
let pictures: TestPictures;
const ask = askAt(() => app.port);

beforeAll(async () => {
  bench = await openBench();
  [app, sound, pictures] = await Promise.all([bench.start(), storeTone(bench, 10, 440), storePictures(bench, 10)]);
});
afterAll(async () => {
  await app[Symbol.asyncDispose]();
  await bench.stop();
});

const both = { hls_audio: true, hls_video: true };

async function show(
  podcast: Record<string, unknown>,
  tracks: Record<string, unknown> = readyTracks(sound.track, pictures),
  episode: Record<string, unknown> = {},
) {
  const made = await publishShow(bench, audio(417), episode, { tracks });
  const events = { ...made.events, podcast: next(made.events.podcast, podcast) };
  await apply(bench, events.podcast);
  return { ...made, events, entry: made.enclosure.replace(/\.mp3$/, '.m3u8') };
}

/** The address of the presentation for everybody; undefined when there is none. */
const presentationOf = async ({ entry }: { readonly entry: string }) =>
  (await ask(entry, newListener(), 'HEAD')).headers.location;
const presented = (of: { readonly entry: string }, before?: string) =>
  until('the presentation', async () => {
    const main = await presentationOf(of);
    return main !== before && main;
  });
/** Resolves when no presentation of the episode is to be looked at. */
const looked = (episodeId: string) =>
  until('a look', async () => {
    const { rows } = await bench.pool.query<{ due_at: Date | null }>(
      'select due_at from presented_episode where episode_id = $1',
      [episodeId],
    );
    return rows[0]?.due_at === null;
  });

const textAt = async (url: string) => {
  const { status, body } = await ask(url);
  expect(status).toBe(200);
  return body.toString();
};
const parsed = async (main: string) => hls.parse(await textAt(main)) as hls.types.MasterPlaylist;
/** The sizes of its pictures, the sound alone last. */
const sizesOf = async (main: string) => (await parsed(main)).variants.map(({ resolution }) => resolution?.height);

test('an episode with a picture has a presentation of all sizes, the sound alone and pictures for seeking', async () => {
  const main = await presented(await show({ hls_video: true }));
  const { variants } = await parsed(main);
  const named = variants.map(({ codecs, resolution, frameRate, uri, isIFrameOnly }) => [
    ...[uri, codecs, resolution?.width, resolution?.height, frameRate, isIFrameOnly],
  ]);
  expect(named).toEqual([
    ['v360/media.m3u8', 'avc1.4d401e,mp4a.40.2', 640, 360, 5, false],
    ['v480/media.m3u8', 'avc1.4d401f,mp4a.40.2', 854, 480, 5, false],
    ['v720/media.m3u8', 'avc1.64001f,mp4a.40.2', 1280, 720, 5, false],
    ['v1080/media.m3u8', 'avc1.640028,mp4a.40.2', 1920, 1080, 5, false],
    ['a192/media.m3u8', 'mp4a.40.2', undefined, undefined, undefined, false],
    ['iframe/media.m3u8', 'avc1.4d401e', 640, 360, undefined, true],
  ]);
});

test("a presentation with pictures has nothing against it by Apple's profile, read over HTTP and whole", async () => {
  const main = await presented(await show(both, undefined, { chapters: [{ start_ms: 0, title: 'Ebb' }] }));
  const { presentation, findings } = await readPresentation(
    async ({ url, range }) => {
      const headers = range ? { range: `bytes=${range.offset}-${range.offset + range.length - 1}` } : undefined;
      const answer = await ask(url, { ...headers, origin: 'https://podcasts.apple.com' });
      return { url, status: answer.status, headers: answer.headers as Record<string, string>, body: answer.body };
    },
    main,
    { extent: 'all' },
  );
  expect([...findings, ...checkPresentation(presentation!, { profile: 'apple', checkedAt: Date.now() })]).toEqual([]);
});

test('the files of pictures are video, and are sent in ranges', async () => {
  const main = await presented(await show(both));
  const playlist = new URL('v720/media.m3u8', main).href;
  const file = new URL(/URI="([^"]+)"/.exec(await textAt(playlist))![1]!, playlist).href;
  const { status, headers, body } = await ask(file, { range: 'bytes=4-7' });
  expect([status, headers['content-type'], body.toString()]).toEqual([206, 'video/mp4', 'ftyp']);
  expect(headers['content-range']).toMatch(/^bytes 4-7\/\d+$/);
  const other = file.replace(/[0-9a-f]{64}(?=\/m\.mp4)/, pictures.v720.sha256);
  expect((await ask(other)).status).toBe(404);
});

test('an episode with pictures plays without the intro and outro, which have none', async () => {
  const intro = await storeTone(bench, 5, 880);
  const part = { ...(await storeSegment(bench, audio(208))), hls: intro.track };
  const main = await presented(await show(both, undefined, { intro: part, outro: part }));
  const timeline = JSON.parse(await textAt(new URL('timeline.json', main).href)) as { duration_ms: number };
  expect(timeline.duration_ms).toBe(Math.round((sound.frames * 1024) / 48));
});

describe('while pictures are not all made', () => {
  /** The largest size is still being made, or failed. */
  const without = (state: string) => ({ ...readyTracks(sound.track, pictures), v1080: { state } });

  test.each(['encoding', 'failed'])('a podcast with sound plays that, the intro included: one is %s', async (state) => {
    const intro = await storeTone(bench, 5, 880);
    const part = { ...(await storeSegment(bench, audio(209))), hls: intro.track };
    const made = await show(both, without(state), { intro: part });
    const main = await presented(made);
    expect(await sizesOf(main)).toEqual([undefined]);
    const timeline = JSON.parse(await textAt(new URL('timeline.json', main).href)) as { duration_ms: number };
    expect(timeline.duration_ms).toBe(Math.round(((sound.frames + intro.frames) * 1024) / 48));
    await apply(bench, next(made.events.production, { tracks: readyTracks(sound.track, pictures) }));
    expect(await sizesOf(await presented(made, main))).toEqual([360, 480, 720, 1080, undefined, 360]);
  });

  test('a podcast of pictures alone has no presentation', async () => {
    const made = await show({ hls_video: true }, without('encoding'));
    await looked(made.episodeId);
    expect(await presentationOf(made)).toBeUndefined();
  });
});

test('an episode without a picture has the presentation of sound in a podcast with both, and none in one of pictures alone', async () => {
  const tracks = readyTracks(sound.track, {});
  expect(await sizesOf(await presented(await show(both, tracks)))).toEqual([undefined]);
  const made = await show({ hls_video: true }, tracks);
  await looked(made.episodeId);
  expect(await presentationOf(made)).toBeUndefined();
});

test('pictures that the checker refuses leave the episode its sound', async () => {
  const longer = await storeTone(bench, 12, 440);
  const made = await show(both, readyTracks(longer.track, pictures));
  expect(await sizesOf(await presented(made))).toEqual([undefined]);
  const refused = bench.logLines.find((line) => line.includes('presentation.refused') && line.includes(made.episodeId));
  expect(refused).toContain('equal-lengths');
});

test('the switch of pictures takes them away and gives them back', async () => {
  const made = await show(both);
  const main = await presented(made);
  await apply(bench, next(made.events.podcast, { hls_video: false }, { by: 1 }));
  const alone = await presented(made, main);
  expect(await sizesOf(alone)).toEqual([undefined]);
  await apply(bench, next(made.events.podcast, { hls_video: true }, { by: 2 }));
  expect(await presented(made, alone)).toBe(main);
  await apply(bench, next(made.events.podcast, { hls_audio: false }, { by: 3 }));
  await looked(made.episodeId);
  expect(await presentationOf(made)).toBe(main);
});

test('the feed names it as video of its largest picture, while the podcast shows pictures', async () => {
  const made = await show({ ...both, hls_in_feed: true });
  const tagOf = async () => {
    const { body } = await ask(`/feeds/${made.subdomain}.xml`);
    return /<podcast:alternateEnclosure[^>]*>/.exec(body.toString())?.[0];
  };
  const main = await presented(made);
  const { variants } = await parsed(main);
  const largest = variants.find(({ resolution }) => resolution?.height === 1080)!;
  expect(await until('the tag', tagOf)).toBe(
    `<podcast:alternateEnclosure type="application/x-mpegURL" length="0" bitrate="${largest.averageBandwidth}" height="1080" lang="en" title="Video" codecs="avc1.640028,mp4a.40.2" default="false">`,
  );
  await apply(bench, next(made.events.podcast, { hls_video: false }));
  // At once, before the episode has its other presentation.
  expect((await tagOf())?.includes('"Video"')).not.toBe(true);
  await presented(made, main);
  expect(await until('the tag', tagOf)).toContain('title="Audio (HLS)"');
});

type Surface = DeliveryContract['surfaces'][number];

/** The same app by another contract. */
async function restart(change: (surface: Surface) => Surface): Promise<void> {
  await app[Symbol.asyncDispose]();
  const surfaces = deliveryContract.surfaces.map(change);
  app = await bench.start({}, { contract: { ...deliveryContract, surfaces } });
}

test('while the surface has no video, a show with both gets its sound alone, and one of pictures alone nothing', async () => {
  await restart((each) =>
    each.name === 'hls' ? { ...each, media: each.media.filter((media) => media !== 'video') } : each,
  );
  expect(await sizesOf(await presented(await show(both)))).toEqual([undefined]);
  const made = await show({ hls_video: true });
  await looked(made.episodeId);
  expect(await presentationOf(made)).toBeUndefined();
});

test('a surface that is on its way out gets no new presentation, and keeps those that it has', async () => {
  const before = await show({ hls_audio: true });
  const main = await presented(before);
  await restart((surface) => ({ ...surface, status: 'deprecated' }));
  const after = await show(both);
  // Every event of the episode makes it due.
  await apply(bench, next(before.events.podcast, { title: 'Another' }));
  await looked(after.episodeId);
  await looked(before.episodeId);
  expect(await Promise.all([after, before].map(presentationOf))).toEqual([undefined, main]);
});
