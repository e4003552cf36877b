import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { checkPresentation, readPresentation } from '@longwave/hls-profile';
import { newId } from '@longwave/ids';
import { encodeTranscript, parseTranscript } from '@longwave/transcript';
import { sha256, until } from '@longwave/test-kit';
import fc from 'fast-check';
import hls from 'hls-parser';
import { gunzipSync } from 'node:zlib';
import type { DeliveryApp } from '../src/app.ts';
import { apply, next } from './_apply.ts';
import { askAt, newListener } from './_ask.ts';
import { storeTone, type TestTrack } from './_hls.ts';
import { publishShow, storeSegment } from './_stitched.ts';
import { audio, openBench, workspaceId, type Bench } from './_support.ts';

let bench: Bench;
let app: DeliveryApp;
const ask = askAt(() => app.port);
let content: TestTrack;
let intro: TestTrack;

beforeAll(async () => {
  bench = await openBench();
  app = await bench.start();
  content = await storeTone(bench, 60, 440, [20_000]);
  intro = await storeTone(bench, 5.5, 880);
});
afterAll(async () => {
  await app[Symbol.asyncDispose]();
  await bench.stop();
});

const hlsOn = { hls_audio: true };

/** A published show whose production has a track, unless `production` says otherwise. */
async function show(
  episode: Record<string, unknown> = {},
  production: Record<string, unknown> = { tracks: { a192: { state: 'ready', file: content.track } } },
  podcast: Record<string, unknown> = hlsOn,
  {
    workspace = workspaceId,
    mp3 = audio(2_500),
  }: { readonly workspace?: typeof workspaceId; readonly mp3?: Buffer } = {},
) {
  const made = await publishShow(bench, mp3, episode, production, workspace);
  const events = { ...made.events, podcast: next(made.events.podcast, podcast) };
  await apply(bench, events.podcast);
  return { ...made, events, entry: made.enclosure.replace(/\.mp3$/, '.m3u8') };
}

/** Who only looks gets the presentation for everybody. */
const entryOf = ({ entry }: { entry: string }) => ask(entry, newListener(), 'HEAD');

/** The address of the presentation for everybody, once there is one that is not `before`. */
const presented = (of: { entry: string }, before?: string) =>
  until('the presentation', async () => {
    const { status, headers } = await entryOf(of);
    return status === 302 && headers.location !== before ? headers.location : undefined;
  });

const folderOf = (main: string) => main.slice(0, -'main.m3u8'.length);
const textAt = async (path: string) => {
  const { status, body } = await ask(path);
  expect(status).toBe(200);
  return body.toString();
};

/** The address of the file of its sound. */
async function trackOf(main: string): Promise<string> {
  const playlist = `${folderOf(main)}a192/media.m3u8`;
  return new URL(/URI="([^"]+)"/.exec(await textAt(playlist))![1]!, playlist).pathname;
}

describe('an episode of a show with HLS', () => {
  test('has a presentation that a decoder plays to its last sample, intro included', async () => {
    const main = await presented(
      await show({ intro: { ...(await storeSegment(bench, audio(230))), hls: intro.track } }),
    );
    const local = main.replace('http://media.test', `http://127.0.0.1:${app.port}`);
    const { stdout: pcm } = await promisify(execFile)(
      'ffmpeg',
      ['-v', 'error', '-i', local, '-map', '0:a:0', '-f', 's16le', 'pipe:1'],
      { maxBuffer: 1 << 28, encoding: 'buffer' },
    );
    expect(pcm.length / 4).toBe((intro.frames + content.frames) * 1024);
  });

  test('has a presentation against which the checker has nothing, read over HTTP and whole', async () => {
    const main = await presented(await show({ chapters: [{ start_ms: 0, title: 'Ebb' }] }));
    const { presentation } = await readPresentation(
      async ({ url, range }) => {
        const path = url.replace('http://media.test', '');
        const headers = range ? { range: `bytes=${range.offset}-${range.offset + range.length - 1}` } : undefined;
        const answer = await ask(path, { ...headers, origin: 'https://podcasts.apple.com' });
        return { url, status: answer.status, headers: answer.headers as Record<string, string>, body: answer.body };
      },
      main,
      { extent: 'all' },
    );
    expect(checkPresentation(presentation!, { profile: 'general', checkedAt: Date.now() })).toEqual([]);
  });

  test('names its sound by language, its chapters and its captions, at the times behind the intro', async () => {
    const transcript = parseTranscript(
      'vtt',
      'WEBVTT\n\n00:01.000 --> 00:02.000\nEbb.\n\n00:58.000 --> 00:59.000\nFlow.\n',
    );
    const document = Buffer.from(encodeTranscript(transcript));
    const stored = { storage_key: `transcripts/${sha256(document)}`, sha256: sha256(document) };
    await bench.store.put(stored.storage_key, document, { contentType: 'application/json' });
    const main = await presented(
      await show({
        intro: { ...(await storeSegment(bench, audio(230))), hls: intro.track },
        chapters: [{ start_ms: 1_000, title: 'Flood' }],
        transcripts: [{ language: 'en', captions: true, cue_count: 2, size_bytes: document.length, ...stored }],
      }),
    );
    const parsed = hls.parse(await textAt(main)) as hls.types.MasterPlaylist;
    const [variant] = parsed.variants;
    expect(variant!.audio).toMatchObject([{ language: 'en', name: 'English', uri: 'a192/media.m3u8' }]);
    expect(variant!.subtitles).toMatchObject([{ language: 'en', uri: 'subs-en/media.m3u8' }]);
    const introMs = (intro.frames * 1024) / 48;
    expect(JSON.parse(await textAt(`${folderOf(main)}chapters.json`))).toMatchObject([
      { 'start-time': (introMs + 1_000) / 1_000, titles: [{ title: 'Flood' }] },
    ]);
    const captions = await textAt(`${folderOf(main)}subs-en/media.m3u8`);
    const files = captions.split('\n').filter((line) => line.endsWith('.vtt'));
    const shown = await Promise.all(files.map((file) => textAt(`${folderOf(main)}subs-en/${file}`)));
    expect(shown.filter((text) => text.includes('Ebb.')).map((text) => /^\d.* -->/m.exec(text)?.[0])).toEqual([
      '00:00:06.504 -->',
    ]);
    expect(shown.filter((text) => text.includes('Flow.'))).toHaveLength(1);
    expect((await ask(`${folderOf(main)}subs-en/${files.length + 1}.vtt`)).status).toBe(404);
  });

  test('gives any byte range of a joined track as the whole file has it', async () => {
    const main = await presented(
      await show({ intro: { ...(await storeSegment(bench, audio(230))), hls: intro.track } }),
    );
    const track = await trackOf(main);
    const whole = (await ask(track)).body;
    await fc.assert(
      fc.asyncProperty(fc.nat(whole.length - 1), fc.integer({ min: 1, max: 200_000 }), async (from, length) => {
        const { status, headers, body } = await ask(track, { range: `bytes=${from}-${from + length - 1}` });
        const to = Math.min(whole.length, from + length);
        expect([status, headers['content-range']]).toEqual([206, `bytes ${from}-${to - 1}/${whole.length}`]);
        expect(body.equals(whole.subarray(from, to))).toBe(true);
      }),
      { numRuns: 40 },
    );
  });

  test('has playlists that are compressed, tagged and the same for ever', async () => {
    const main = await presented(await show());
    const path = `${folderOf(main)}a192/media.m3u8`;
    const plain = await ask(path);
    const zipped = await ask(path, { 'accept-encoding': 'gzip' });
    expect(zipped.headers).toMatchObject({ 'content-encoding': 'gzip', vary: 'Accept-Encoding' });
    expect(plain.headers['cache-control']).toBe('public, max-age=31536000, immutable');
    expect(gunzipSync(zipped.body).equals(plain.body)).toBe(true);
    expect(zipped.headers.etag).not.toBe(plain.headers.etag);
    expect((await ask(path, { 'if-none-match': plain.headers.etag! })).status).toBe(304);
    expect((await ask(path, {}, 'HEAD')).headers['content-length']).toBe(String(plain.body.length));
  });

  test('answers with the playlist itself where it is asked to', async () => {
    const made = await show();
    const main = await presented(made);
    const { status, body } = await ask(`${made.entry}?direct=1&_HLS_primary_id=x`, { 'user-agent': 'Googlebot/2.1' });
    const uris = body
      .toString()
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'));
    expect([status, uris]).toEqual([200, [`${new URL(folderOf(main)).pathname}a192/media.m3u8`]]);
  });
});

describe('an episode has no presentation', () => {
  test('of a show that has HLS switched off, and one once it is switched on', async () => {
    const made = await show({}, undefined, {});
    expect((await entryOf(made)).status).toBe(404);
    await apply(bench, next(made.events.podcast, hlsOn));
    const main = await presented(made);
    await apply(bench, next(made.events.podcast, { hls_audio: false }, { by: 2 }));
    await until('none', async () => (await entryOf(made)).status === 404);
    // Who has begun to listen goes on.
    expect((await ask(main)).status).toBe(200);
  });

  test('until its audio and its intro have their tracks', async () => {
    const segment = await storeSegment(bench, audio(231));
    const made = await show({ intro: segment }, {});
    const produced = next(made.events.production, { tracks: { a192: { state: 'ready', file: content.track } } });
    await apply(bench, produced);
    await until('a look', async () => (await dueOf(made.episodeId)) === null);
    expect((await entryOf(made)).status).toBe(404);
    // The intro is prepared again: the episode keeps the MP3, and the podcast has its track.
    const part = { file_url: 'http://media.test/i', upload_id: 'upl_01JY7Q2K9M4T8V6W3X5Z0A1B2C', state: 'ready' };
    await apply(bench, next(made.events.podcast, { intro: { ...part, segment: { ...segment, hls: intro.track } } }));
    await presented(made);
  });

  test('while an index in the store is not what it is named, and nothing is announced', async () => {
    const broken = { ...content.track, index: { ...content.track.index, sha256: 'a'.repeat(64) } };
    const made = await show({}, { tracks: { a192: { state: 'ready', file: broken } } });
    await until('a warning', async () =>
      bench.logLines.some((line) => line.includes('presentation.postponed') && line.includes(made.episodeId)),
    );
    expect((await entryOf(made)).status).toBe(404);
  });

  test('that the checker refuses', async () => {
    // Its index tells other times than the file has.
    const { bytes, track } = content;
    const index = JSON.parse((await read(track.index.storage_key)).toString()) as { cells: number[][] };
    const shifted = Buffer.from(
      JSON.stringify({
        ...index,
        cells: index.cells.map(([o, l, s, d], at) => [o, l, at === 0 ? s : s! + 4_096, at === 0 ? d! + 4_096 : d]),
      }),
    );
    await bench.store.put(`media/${sha256(shifted)}`, shifted, { contentType: 'application/json' });
    const wrong = {
      ...track,
      size_bytes: bytes.length,
      index: { storage_key: `media/${sha256(shifted)}`, sha256: sha256(shifted), size_bytes: shifted.length },
    };
    const made = await show({}, { tracks: { a192: { state: 'ready', file: wrong } } });
    await until('a refusal', async () =>
      bench.logLines.some((line) => line.includes('presentation.refused') && line.includes(made.episodeId)),
    );
    expect((await entryOf(made)).status).toBe(404);
  });
});

async function read(key: string): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of await bench.store.get(key)) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

async function dueOf(episodeId: string): Promise<Date | null | undefined> {
  const { rows } = await bench.pool.query<{ due_at: Date | null }>(
    'select due_at from presented_episode where episode_id = $1',
    [episodeId],
  );
  return rows[0]?.due_at;
}

describe('a presentation', () => {
  test('changes with the intro, and its sound is not encoded again', async () => {
    const made = await show();
    const main = await presented(made);
    const withIntro = { intro: { ...(await storeSegment(bench, audio(230))), hls: intro.track } };
    await apply(bench, next(made.events.episode, withIntro));
    const joined = await presented(made, main);
    const timelines = await Promise.all(
      [main, joined].map(
        async (each) => JSON.parse(await textAt(`${folderOf(each)}timeline.json`)) as { duration_ms: number },
      ),
    );
    expect(timelines[1]!.duration_ms - timelines[0]!.duration_ms).toBeCloseTo((intro.frames * 1024) / 48, -1);
  });

  test('is hidden with its episode, and gone with it', async () => {
    const made = await show();
    const main = await presented(made);
    const track = await trackOf(main);
    const statuses = () =>
      Promise.all([main, track, made.entry].map(async (path) => (await ask(path, newListener())).status));
    await apply(bench, next(made.events.episode, {}, { state: 'unpublished' }));
    await until('hidden', async () => String(await statuses()) === '404,404,404');
    await apply(bench, next(made.events.episode, {}, { state: 'archived', by: 2 }));
    await until('gone', async () => String(await statuses()) === '410,410,410');
  });

  test('goes on while new audio has no track yet, unless plays are ended for everybody', async () => {
    const made = await show();
    const main = await presented(made);
    const other = [
      { role: 'rendition', stream_format: 'mp3/128000/48000/2', size_bytes: 960_000, sha256: 'b'.repeat(64) },
    ];
    await apply(bench, next(made.events.production, { files: other, tracks: {} }));
    await until('no presentation', async () => (await entryOf(made)).status === 404);
    expect((await ask(main)).status).toBe(200);
    await apply(bench, next(made.events.episode, { plays_end_before: new Date().toISOString() }));
    // The process asks again after a second.
    await until('the end', async () => (await ask(main)).status === 410);
  });

  test('has one address: another digest that begins like its own is unknown', async () => {
    const main = await presented(await show());
    const { pathname } = new URL(main);
    const digest = /[0-9a-f]{64}/.exec(pathname)![0];
    const others = [digest.slice(0, 32) + '0'.repeat(32), digest.slice(0, 63) + (digest.endsWith('0') ? '1' : '0')];
    const statuses = await Promise.all(others.map(async (other) => (await ask(main.replace(digest, other))).status));
    expect([...statuses, (await ask(main)).status]).toEqual([404, 404, 200]);
  });

  test('ends with its own episode, whatever else has the same bytes', async () => {
    const made = await show();
    const main = await presented(made);
    const track = await trackOf(main);
    // Made later, in another workspace.
    const copy = await show({}, undefined, hlsOn, { workspace: newId('ws'), mp3: made.content });
    const copyMain = await presented(copy);
    const copyTrack = await trackOf(copyMain);
    await apply(bench, next(copy.events.episode, {}, { state: 'archived' }));
    await until('gone', async () => (await ask(copyMain)).status === 410);
    const statuses = await Promise.all([main, track, copyTrack].map(async (path) => (await ask(path)).status));
    expect(statuses).toEqual([200, 200, 410]);
    expect((await ask(track.replace(/[0-9a-f]{64}(?=\/m\.mp4)/, 'a'.repeat(64)))).status).toBe(404);
  });

  test('keeps the sound of its workspace where another one has other sound for the same MP3', async () => {
    const made = await show();
    const main = await presented(made);
    const tracks = { a192: { state: 'ready', file: intro.track } };
    const other = await show({}, { tracks }, hlsOn, { workspace: newId('ws'), mp3: made.content });
    const otherTrack = await trackOf(await presented(other));
    await apply(bench, next(made.events.episode, { chapters: [{ start_ms: 0, title: 'Ebb' }] }));
    const digestOf = (track: string) => track.split('/').at(-2);
    const digests = [main, await presented(made, main)].map(async (each) => digestOf(await trackOf(each)));
    const [before, after] = await Promise.all(digests);
    expect(after).toBe(before);
    expect(digestOf(otherTrack)).not.toBe(before);
  });

  test.each([
    'main.mp4',
    'a192/other.m3u8',
    'subs-xx/media.m3u8',
    'subs-xx/1.vtt',
    'chapters.json',
    'constructor/media.m3u8',
  ])('has no file %s', async (file) => {
    const main = await presented(await show());
    expect((await ask(`${folderOf(main)}${file}`)).status).toBe(404);
  });
});
