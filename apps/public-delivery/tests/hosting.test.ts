import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { newId } from '@longwave/ids';
import { sha256, until } from '@longwave/test-kit';
import { encodeTranscript, parseTranscript } from '@longwave/transcript';
import type { DeliveryApp } from '../src/app.ts';
import { apply, applySeen, next } from './_apply.ts';
import { askAt, channelOf, itemsOf, newListener } from './_ask.ts';
import { jpeg, probe, tone } from './_media.ts';
import { audio, eventOf, frameBytes, makeShow, noAds, openBench, pickOf, playedFacts, type Bench } from './_support.ts';

let bench: Bench;
let app: DeliveryApp;
const ask = askAt(() => app.port);

const durationOf = (bytes: Buffer) => (bytes.length / frameBytes) * 24;

async function segmentOf(bytes: Buffer) {
  const digest = sha256(bytes);
  await bench.store.put(`media/${digest}`, bytes, { contentType: 'audio/mpeg' });
  return {
    stream_format: 'mp3/128000/48000/2',
    storage_key: `media/${digest}`,
    sha256: digest,
    size_bytes: bytes.length,
    duration_ms: durationOf(bytes),
  };
}

async function renditionOf(size: number, content_type: string, bytes: Buffer) {
  const digest = sha256(bytes);
  await bench.store.put(`artwork/${digest}`, bytes, { contentType: content_type });
  return { size, content_type, storage_key: `artwork/${digest}`, sha256: digest, size_bytes: bytes.length };
}

beforeAll(async () => {
  bench = await openBench();
  app = await bench.start();
});
afterAll(async () => {
  await app[Symbol.asyncDispose]();
  await bench.stop();
});
beforeEach(() => {
  bench.serving.answer = async (request) => noAds(request);
});

const transcript = parseTranscript('vtt', 'WEBVTT\n\n00:01.000 --> 00:02.500\n<v Ana>Low tide.\n');

const recipient = { type: 'node', address: 'abc', split: 100 };

/** A show with every feature of hosting, and real audio. */
async function fullShow() {
  const [intro, content, outro] = [tone(3, 440), tone(20, 330), tone(2, 550)] as const;
  const picture = jpeg(600);
  const document = Buffer.from(encodeTranscript(transcript));
  const transcriptDigest = sha256(document);
  await bench.store.put(`transcripts/${transcriptDigest}`, document, { contentType: 'application/json' });
  const artwork = {
    renditions: [
      await renditionOf(3000, 'image/jpeg', jpeg(200)),
      await renditionOf(600, 'image/jpeg', picture),
      await renditionOf(600, 'image/webp', audio(1)),
    ],
  };
  const show = await makeShow(bench.store, content);
  const podcast = next(show.events.podcast, { artwork, owner_email: 'ana@tides.example', owner_name: 'Tides' });
  const episode = next(show.events.episode, {
    intro: await segmentOf(intro),
    outro: await segmentOf(outro),
    chapters: [
      { start_ms: 0, title: 'Ébb', url: 'https://tides.example/1' },
      { start_ms: 8_000, title: 'Hidden', toc: false },
      { start_ms: 12_000, title: 'Flow', image_url: 'https://tides.example/2.jpg' },
    ],
    transcripts: [
      {
        language: 'en',
        captions: true,
        storage_key: `transcripts/${transcriptDigest}`,
        sha256: transcriptDigest,
        size_bytes: document.length,
        cue_count: 1,
      },
    ],
    soundbites: [{ start_ms: 1_500, duration_ms: 4_000, title: 'Best' }],
    value: {
      ...{ type: 'lightning', method: 'keysend', recipients: [recipient] },
      time_splits: [{ start_ms: 3_000, duration_ms: 2_500, remote_start_ms: 500, recipients: [recipient] }],
    },
  });
  await apply(bench, podcast, episode, show.events.production);
  const channel = async () => channelOf((await ask(`/feeds/${show.subdomain}.xml`)).body);
  const events = { podcast, episode, production: show.events.production };
  return { ...show, events, intro, content, outro, picture, artwork, transcriptDigest, channel };
}
type FullShow = Awaited<ReturnType<typeof fullShow>>;

describe('a hosted show', () => {
  let show: FullShow;
  let item: Record<string, unknown>;
  let introMs: number;
  const attribute = (tag: string, name: string) => (item[tag] as Record<string, string>)[`@_${name}`]!;

  beforeAll(async () => {
    show = await fullShow();
    item = (await show.channel()).item![0]!;
    introMs = durationOf(show.intro);
  });

  test('has the file that its feed announces: header, intro, content and outro, of the announced length', async () => {
    const enclosure = attribute('enclosure', 'url');
    const clean = await ask(`${enclosure}?direct=1`, newListener());
    expect(clean.headers['content-length']).toBe(attribute('enclosure', 'length'));
    const sound = Buffer.concat([show.intro, show.content, show.outro]);
    expect(clean.body.subarray(-sound.length).equals(sound)).toBe(true);
    expect(item['itunes:duration']).toBe(String(Math.round(durationOf(sound) / 1000)));
  });

  test('has a tag with the listed chapters at the times of this very file, and a cover', async () => {
    const ad = tone(5, 220);
    await segmentOf(ad);
    bench.serving.answer = async (request) => ({ ...noAds(request), picks: [pickOf(ad)], servingPlanId: 'spl' });
    const listener = newListener();
    const played = await ask(`${attribute('enclosure', 'url')}?direct=1`, listener);
    expect(played.body.length).toBe(Number(attribute('enclosure', 'length')) + ad.length);
    const { format, chapters, streams } = probe(bench.folder, played.body);
    expect(format.tags).toMatchObject({ title: 'One: the Größe', album: 'Tides', artist: 'Ana Ruiz' });
    const shift = (durationOf(ad) + introMs) / 1000;
    expect(chapters.map((each) => [each.tags.title, Number(each.start_time), Number(each.end_time)])).toEqual([
      ['Ébb', shift, shift + 12],
      ['Flow', shift + 12, shift + durationOf(show.content) / 1000],
    ]);
    expect(streams.map(({ codec_name, width }) => [codec_name, width])).toEqual([
      ['mp3', undefined],
      ['mjpeg', 600],
    ]);
    // Any range, across the picture too.
    const at = played.body.indexOf(show.picture);
    const range = await ask(`${attribute('enclosure', 'url')}?direct=1`, {
      ...listener,
      range: `bytes=${at - 5}-${at + show.picture.length + 4}`,
    });
    expect(range.body.equals(played.body.subarray(at - 5, at + show.picture.length + 5))).toBe(true);
  });

  test('counts intro and outro as content and only the ad as an ad', async () => {
    const listener = newListener();
    const played = await ask(`${attribute('enclosure', 'url')}?direct=1`, listener);
    const fact = await until(() =>
      playedFacts(bench.facts).find((each) => each.request_id === played.headers['x-request-id']),
    );
    const sound = fact.parts.filter((part) => part.kind !== 'header');
    expect(sound.map((part) => [part.kind, part.to - part.from])).toEqual([
      ['content', show.intro.length],
      ['content', show.content.length],
      ['content', show.outro.length],
    ]);
    expect(sound.reduce((sum, part) => sum + part.duration_ms, 0)).toBe(
      durationOf(Buffer.concat([show.intro, show.content, show.outro])),
    );
  });

  test('stores the picture of the tag once for all plays', async () => {
    const { rows } = await bench.pool.query<{ largest: number }>('select max(length(bytes)) as largest from header');
    expect(rows[0]!.largest).toBeLessThan(show.picture.length);
  });

  test('shows its artwork in every size, in ranges, for ever', async () => {
    const channel = await show.channel();
    const [large, small] = channel['podcast:image'] as Record<string, string>[];
    expect((channel['itunes:image'] as Record<string, string>)['@_href']).toBe(large!['@_href']);
    const path = small!['@_href']!;
    expect(path).toBe(`http://media.test/delivery/v1/i/${sha256(show.picture)}/600.jpg`);
    const whole = await ask(path);
    expect([whole.status, whole.headers['content-type'], whole.headers['cache-control']]).toEqual([
      200,
      'image/jpeg',
      'public, max-age=31536000, immutable',
    ]);
    expect(whole.body.equals(show.picture)).toBe(true);
    const part = await ask(path, { range: 'bytes=10-19' });
    expect([part.status, part.headers['content-range'], part.body]).toEqual([
      206,
      `bytes 10-19/${show.picture.length}`,
      show.picture.subarray(10, 20),
    ]);
    expect((await ask(path, { range: 'bytes=9999999-' })).status).toBe(416);
    const head = await ask(path, {}, 'HEAD');
    expect([head.status, head.headers['content-length'], head.headers['accept-ranges']]).toEqual([
      200,
      String(show.picture.length),
      'bytes',
    ]);
    expect((await ask(path, { 'if-none-match': whole.headers.etag! })).status).toBe(304);
    expect(whole.headers['access-control-allow-origin']).toBe('*');
    for (const other of ['600.webp', '600.png', '1400.jpg', 'x.jpg'])
      expect([other, (await ask(path.replace('600.jpg', other))).status]).toEqual([other, 404]);
  });

  test('shows chapters, and the immutable document at the times of the file without ads under their digest', async () => {
    const shown = await ask(attribute('podcast:chapters', 'url'));
    expect([shown.status, shown.headers['cache-control']]).toEqual([200, 'private, no-store']);
    const path = `/delivery/v1/c/${sha256(shown.body)}.json`;
    const answer = await ask(path);
    expect(answer.body).toEqual(shown.body);
    expect([answer.headers['content-type'], answer.headers['cache-control']]).toEqual([
      'application/json+chapters',
      'public, max-age=31536000, immutable',
    ]);
    const at = (ms: number) => (ms + introMs) / 1000;
    expect(JSON.parse(answer.body.toString())).toEqual({
      version: '1.2.0',
      chapters: [
        { startTime: at(0), title: 'Ébb', url: 'https://tides.example/1' },
        { startTime: at(8_000), title: 'Hidden', toc: false },
        { startTime: at(12_000), title: 'Flow', img: 'https://tides.example/2.jpg' },
      ],
    });
    expect((await ask(path, { 'if-none-match': answer.headers.etag! })).status).toBe(304);
    const head = await ask(path, {}, 'HEAD');
    expect([head.status, head.headers['content-length']]).toEqual([200, String(answer.body.length)]);
  });

  test('shows its transcript in every format at the times of the file without ads, and at no others', async () => {
    const links = item['podcast:transcript'] as Record<string, string>[];
    expect(links.map((link) => [link['@_type'], link['@_language'], link['@_rel']])).toEqual([
      ['text/vtt', 'en', 'captions'],
      ['application/x-subrip', 'en', 'captions'],
      ['application/json', 'en', 'captions'],
    ]);
    const [vtt, srt, json] = await Promise.all(links.map((link) => ask(link['@_url']!)));
    expect(vtt!.headers['content-type']).toBe('text/vtt; charset=utf-8');
    const shifted = parseTranscript('vtt', vtt!.body.toString());
    expect(shifted.cues).toMatchObject([{ start_ms: 1_000 + introMs, end_ms: 2_500 + introMs, text: 'Low tide.' }]);
    for (const [format, answer] of [
      ['srt', srt],
      ['json', json],
    ] as const)
      expect(parseTranscript(format, answer!.body.toString()).cues).toMatchObject([{ start_ms: 1_000 + introMs }]);
    for (const file of ['0.vtt', `${introMs + 1}.vtt`, `${introMs}.txt`, `0${introMs}.vtt`])
      expect((await ask(`/delivery/v1/t/${show.transcriptDigest}/${file}`)).status).toBe(404);
  });

  test('shifts its soundbites and value time splits by the intro, but no time of another file', () => {
    const { 'podcast:valueTimeSplit': split } = item['podcast:value'] as Record<string, Record<string, unknown>>;
    const times = ['startTime', 'duration', 'remoteStartTime'].map((name) => split![`@_${name}`]);
    expect(times).toEqual([String((3_000 + introMs) / 1000), '2.5', '0.5']);
    expect(attribute('podcast:soundbite', 'startTime')).toBe(String((1_500 + introMs) / 1000));
    expect(attribute('podcast:soundbite', 'duration')).toBe('4');
  });

  test('names its owner where directories look for them', async () => {
    const channel = await show.channel();
    expect(channel['itunes:owner']).toEqual({ 'itunes:name': 'Tides', 'itunes:email': 'ana@tides.example' });
    expect(channel['podcast:locked']).toEqual({ '#text': 'no', '@_owner': 'ana@tides.example' });
  });
});

describe('a file that no feed shows', () => {
  async function filesOf(show: FullShow) {
    const item = (await show.channel()).item![0]!;
    const url = (tag: string) => [item[tag]].flat().map((each) => (each as Record<string, string>)['@_url']!)[0]!;
    const artwork = `/delivery/v1/i/${show.artwork.renditions[0]!.sha256}/3000.jpg`;
    const [chapters, transcript] = [url('podcast:chapters'), url('podcast:transcript')];
    return { artwork, chapters, transcript, document: `/delivery/v1/c/${sha256((await ask(chapters)).body)}.json` };
  }
  const statuses = async (files: Record<string, string>) =>
    Object.fromEntries(
      await Promise.all(Object.entries(files).map(async ([name, path]) => [name, (await ask(path)).status] as const)),
    );

  test('chapters and transcripts of an unpublished episode are gone; artwork stays until the podcast ends', async () => {
    const show = await fullShow();
    // The same bytes are shown by other shows, so this one gets its own.
    const artwork = { renditions: [await renditionOf(3000, 'image/jpeg', audio(1))] };
    await apply(bench, next(show.events.podcast, { artwork }));
    const chapters = [{ start_ms: 0, title: newId('ep') }];
    const transcripts = [
      { ...(show.events.episode.after.attributes['transcripts'] as object[])[0], sha256: sha256(audio(1)) },
    ];
    await apply(bench, next(show.events.episode, { chapters, transcripts }));
    const files = await filesOf({ ...show, artwork });
    expect(await statuses(files)).toEqual({ artwork: 200, chapters: 200, transcript: 200, document: 200 });
    await apply(bench, next(show.events.episode, { chapters, transcripts }, { state: 'unpublished', by: 2 }));
    expect(await statuses(files)).toEqual({ artwork: 200, chapters: 404, transcript: 404, document: 404 });
    await apply(bench, next(show.events.podcast, { artwork }, { state: 'archived', by: 2 }));
    expect(await statuses(files)).toEqual({ artwork: 404, chapters: 410, transcript: 410, document: 404 });
  });

  test.each([
    `/i/${'0'.repeat(64)}/600.jpg`,
    `/c/${'0'.repeat(64)}.json`,
    `/t/${'0'.repeat(64)}/0.vtt`,
    '/i/x/600.jpg',
  ])('%s is not found', async (path) => expect((await ask(`/delivery/v1${path}`)).status).toBe(404));
});

test('without its picture the tag has padding in its place, and the file is as long', async () => {
  const show = await makeShow(bench.store, audio(100));
  const bytes = audio(50);
  const lost = await renditionOf(600, 'image/jpeg', bytes);
  await bench.store.remove(`artwork/${lost.sha256}`);
  await apply(
    bench,
    next(show.events.podcast, { artwork: { renditions: [lost] } }),
    show.events.episode,
    show.events.production,
  );
  const [item] = itemsOf((await ask(`/feeds/${show.subdomain}.xml`)).body);
  const played = await ask(`${item!.enclosure['@_url']}?direct=1`, newListener());
  expect([played.status, String(played.body.length)]).toEqual([200, item!.enclosure['@_length']]);
});

describe('audio that was taken away', () => {
  test('of an archived episode or podcast is 410 within a second by alias, digest and an arrangement in use', async () => {
    for (const archived of ['episode', 'podcast'] as const) {
      const show = await makeShow(bench.store, audio(50));
      await apply(bench, ...Object.values(show.events));
      const [item] = itemsOf((await ask(`/feeds/${show.subdomain}.xml`)).body);
      const alias = item!.enclosure['@_url'];
      const arrangement = String((await ask(alias, newListener())).headers.location);
      const digest = `/delivery/v1/a/${sha256(show.content)}/x.mp3`;
      const paths = [alias, arrangement, digest];
      for (const path of paths) expect((await ask(path, newListener())).status).toBeLessThan(400);
      await applySeen(bench, next(show.events[archived], {}, { state: 'unpublished' }));
      // Listeners may finish a play that they have begun.
      expect((await ask(arrangement, newListener())).status).toBe(200);
      for (const path of [alias, digest]) expect((await ask(path, newListener())).status).toBe(404);
      await applySeen(bench, next(show.events[archived], {}, { state: 'archived', by: 2 }));
      for (const path of [alias, digest]) expect((await ask(path, newListener())).status).toBe(410);
      expect((await ask(arrangement, newListener())).status).toBe(410);
    }
  });

  test('stays when its production is deleted; when its clip is, the enclosure ends and plays that have begun finish', async () => {
    const show = await makeShow(bench.store, audio(50));
    await apply(bench, ...Object.values(show.events));
    const feed = async () => itemsOf((await ask(`/feeds/${show.subdomain}.xml`)).body);
    const alias = (await feed())[0]!.enclosure['@_url'];
    const arrangement = String((await ask(alias, newListener())).headers.location);
    const digest = `/delivery/v1/a/${sha256(show.content)}/x.mp3`;
    await applySeen(bench, next(show.events.production, {}, { state: 'deleted' }));
    expect(await feed()).toHaveLength(1);
    for (const path of [alias, arrangement, digest]) expect((await ask(path, newListener())).status).toBeLessThan(400);
    const silent = { current_production_id: undefined, duration_ms: undefined };
    await applySeen(bench, next(show.events.episode, silent, { state: 'unpublished' }));
    expect(await feed()).toEqual([]);
    for (const path of [alias, digest]) expect((await ask(path, newListener())).status).toBe(404);
    const finished = await ask(arrangement, newListener());
    expect([finished.status, finished.body.subarray(-show.content.length).equals(show.content)]).toEqual([200, true]);
  });

  test('of an episode whose only audio lies outside is where the clip is, until there is a production', async () => {
    const show = await makeShow(bench.store, audio(50));
    const clip = eventOf('media_clips', newId('clip'), 1, 'active', {
      episode_id: show.episodeId,
      file_format: 'm4a',
      url: 'https://audio.example/one.m4a?x=ä',
      size: 12345,
      duration_ms: 61_000,
      hosted: 'outside',
    });
    const recorded = eventOf('media_clips', newId('clip'), 1, 'active', {
      ...clip.after.attributes,
      ...{ url: 'https://media.test/ours.mp3', file_format: 'mp3', hosted: 'ours', production_id: show.productionId },
    });
    await apply(bench, show.events.podcast, show.events.episode, clip, recorded);
    const feed = async () => itemsOf((await ask(`/feeds/${show.subdomain}.xml`)).body);
    const [item] = await feed();
    expect(item!.enclosure).toMatchObject({ '@_length': '12345', '@_type': 'audio/x-m4a' });
    expect(item!.enclosure['@_url']).toMatch(/\/one-the-groe\.m4a$/);
    expect(item!['itunes:duration']).toBe('61');
    const redirect = await ask(item!.enclosure['@_url'], newListener());
    expect([redirect.status, redirect.headers.location]).toEqual([302, 'https://audio.example/one.m4a?x=%C3%A4']);
    await applySeen(bench, show.events.production);
    const [encoded] = await feed();
    expect(encoded!.enclosure['@_type']).toBe('audio/mpeg');
    expect((await ask(encoded!.enclosure['@_url'], newListener())).headers.location).toContain('/delivery/v1/p/');
    await applySeen(
      bench,
      next(show.events.episode, { current_production_id: undefined }),
      next(clip, {}, { state: 'deleted' }),
    );
    expect(await feed()).toEqual([]);
    expect((await ask(item!.enclosure['@_url'], newListener())).status).toBe(404);
  });
});
