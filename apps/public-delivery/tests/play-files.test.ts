import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { newId } from '@longwave/ids';
import { sha256, until } from '@longwave/test-kit';
import { encodeTranscript, parseTranscript, type Transcript } from '@longwave/transcript';
import type { DeliveryApp } from '../src/app.ts';
import { apply, next } from './_apply.ts';
import { askAt, itemsOf, newListener } from './_ask.ts';
import { giveAds, publishShow, storeSegment } from './_stitched.ts';
import { audio, eventOf, noAds, openBench, type Bench } from './_support.ts';

let bench: Bench;
let app: DeliveryApp;
const ask = askAt(() => app.port);

/** Frames of 24 ms: an intro of 2.4 s, ads of 24 s and 12 s, content of two minutes with a break at 48 s. */
const [intro, first, second, content] = [100, 1_000, 500, 5_000].map(audio) as [Buffer, Buffer, Buffer, Buffer];

async function storeTranscript(language: string, transcript: Transcript) {
  const document = Buffer.from(encodeTranscript(transcript));
  const digest = sha256(document);
  await bench.store.put(`transcripts/${digest}`, document, { contentType: 'application/json' });
  const file = { storage_key: `transcripts/${digest}`, sha256: digest, size_bytes: document.length };
  return { language, captions: true, cue_count: transcript.cues.length, ...file };
}

const english = parseTranscript(
  'vtt',
  'WEBVTT\n\n00:01.000 --> 00:02.000\n<v Ana>Ebb.\n\n00:48.000 --> 00:50.000\nFlow.\n',
);
const portuguese = parseTranscript('vtt', 'WEBVTT\n\n00:01.000 --> 00:02.000\nMaré.\n');

beforeAll(async () => {
  bench = await openBench();
  // A machine that is busy must not make a decision late.
  app = await bench.start();
  for (const ad of [first, second]) await storeSegment(bench, ad);
});
afterAll(async () => {
  await app[Symbol.asyncDispose]();
  await bench.stop();
});
beforeEach(() => {
  bench.serving.answer = async (request) => noAds(request);
  bench.setClock(undefined);
});

/** Each ad has the address for its events; no click address, because none was approved. */
const reportable = {
  event_url: expect.stringMatching(/^http:\/\/media\.test\/delivery\/v1\/ev\/t1\.[A-Za-z0-9_-]{100}$/),
};

async function playedShow() {
  giveAds(bench, (key, slot) => (key === 'pre' ? first : slot === 0 ? second : first));
  const show = await publishShow(bench, content, {
    intro: await storeSegment(bench, intro),
    markers: [
      { key: 'm1', kind: 'mid', position_ms: 48_000, max_slots: 2 },
      { key: 'end', kind: 'post', position_ms: 120_000, max_slots: 1 },
    ],
    chapters: [
      { start_ms: 0, title: 'Ebb' },
      { start_ms: 30_000, end_ms: 60_000, title: 'Around' },
      { start_ms: 48_000, title: 'Flow', toc: false },
    ],
    transcripts: [await storeTranscript('en', english), await storeTranscript('pt-BR', portuguese)],
  });
  const location = String((await ask(show.enclosure, newListener())).headers.location);
  const at = (name: string) => location.replace(/[^/]+\.mp3$/, name);
  return { ...show, location, at };
}

test('chapters, transcript and timeline tell the times of this very file', async () => {
  const { at } = await playedShow();
  const chapters = await ask(at('chapters.json'));
  expect([chapters.status, chapters.headers['content-type'], chapters.headers['cache-control']]).toEqual([
    200,
    'application/json+chapters',
    'private, max-age=300',
  ]);
  expect(JSON.parse(chapters.body.toString())).toEqual({
    version: '1.2.0',
    chapters: [
      { startTime: 26.4, title: 'Ebb' },
      // The break of 36 s lies in it.
      { startTime: 56.4, endTime: 122.4, title: 'Around' },
      { startTime: 110.4, title: 'Flow', toc: false },
    ],
  });
  const vtt = await ask(at('transcript.vtt'));
  expect(vtt.headers['content-type']).toBe('text/vtt; charset=utf-8');
  expect(vtt.body.toString()).toBe(
    'WEBVTT\n\n00:00:27.400 --> 00:00:28.400\n<v Ana>Ebb.\n\n00:01:50.400 --> 00:01:52.400\nFlow.\n',
  );
  const timeline = await ask(at('timeline.json'));
  expect(timeline.headers['content-type']).toBe('application/json');
  expect(JSON.parse(timeline.body.toString())).toEqual({
    version: 1,
    duration_ms: 24_000 + 2_400 + 48_000 + 36_000 + 72_000 + 12_000,
    parts: [
      {
        ...{ kind: 'break', key: 'pre', position: 'pre', start_ms: 0, duration_ms: 24_000 },
        slots: [{ slot: 0, start_ms: 0, duration_ms: 24_000, ...reportable }],
      },
      { kind: 'intro', start_ms: 24_000, duration_ms: 2_400 },
      { kind: 'content', start_ms: 26_400, duration_ms: 48_000, content_start_ms: 0 },
      {
        ...{ kind: 'break', key: 'm1', position: 'mid', start_ms: 74_400, duration_ms: 36_000 },
        slots: [
          { slot: 0, start_ms: 74_400, duration_ms: 12_000, ...reportable },
          { slot: 1, start_ms: 86_400, duration_ms: 24_000, ...reportable },
        ],
      },
      { kind: 'content', start_ms: 110_400, duration_ms: 72_000, content_start_ms: 48_000 },
      {
        ...{ kind: 'break', key: 'end', position: 'post', start_ms: 182_400, duration_ms: 12_000 },
        slots: [{ slot: 0, start_ms: 182_400, duration_ms: 12_000, ...reportable }],
      },
    ],
  });
});

test('a transcript comes in every format, and in its languages only', async () => {
  const { at } = await playedShow();
  for (const [name, type] of [
    ['transcript.srt', 'application/x-subrip; charset=utf-8'],
    ['transcript.json', 'application/json'],
  ] as const) {
    const { status, headers, body } = await ask(at(name));
    expect([status, headers['content-type'], body.includes('Ebb.')]).toEqual([200, type, true]);
  }
  for (const language of ['pt-BR', 'pt', 'PT-br'])
    expect((await ask(at(`transcript.vtt?lang=${language}`))).body.toString()).toContain('Maré.');
  expect((await ask(at('transcript.vtt?lang=en&_HLS_primary_id=1'))).body.toString()).toContain('Ebb.');
  for (const name of ['transcript.vtt?lang=p', 'transcript.vtt?lang=de', 'transcript.vtt?lang=', 'transcript.txt'])
    expect([name, (await ask(at(name))).status]).toEqual([name, 404]);
});

test('a play without ads, chapters and transcript has the timeline of its content alone', async () => {
  const { enclosure } = await publishShow(bench, audio(100));
  const at = (name: string, location: string) => location.replace(/[^/]+\.mp3$/, name);
  const location = String((await ask(enclosure, newListener(), 'HEAD')).headers.location);
  expect(JSON.parse((await ask(at('chapters.json', location))).body.toString()).chapters).toEqual([]);
  expect((await ask(at('transcript.vtt', location))).status).toBe(404);
  expect(JSON.parse((await ask(at('timeline.json', location))).body.toString())).toEqual({
    version: 1,
    duration_ms: 2_400,
    parts: [{ kind: 'content', start_ms: 0, duration_ms: 2_400, content_start_ms: 0 }],
  });
});

test('HEAD, conditions, ranges and other origins are answered as for every file', async () => {
  const { at } = await playedShow();
  for (const name of ['chapters.json', 'transcript.srt', 'timeline.json']) {
    const { headers, body } = await ask(at(name));
    const head = await ask(at(name), {}, 'HEAD');
    const telling = ['content-length', 'content-type', 'etag', 'cache-control', 'access-control-allow-origin'];
    expect(telling.map((header) => head.headers[header])).toEqual(telling.map((header) => headers[header]));
    expect([head.status, head.body.length, headers['access-control-allow-origin']]).toEqual([200, 0, '*']);
    expect((await ask(at(name), { 'if-none-match': headers.etag! })).status).toBe(304);
    const part = await ask(at(name), { range: 'bytes=2-5' });
    expect([part.status, part.body]).toEqual([206, body.subarray(2, 6)]);
    expect((await ask(at(name), { origin: 'https://a.example' }, 'OPTIONS')).status).toBe(204);
  }
});

test('they answer a token as the audio does', async () => {
  const { at, location, enclosure, events } = await playedShow();
  const names = ['x.mp3', 'chapters.json', 'transcript.vtt', 'timeline.json'];
  const statuses = async (place: (name: string) => string) =>
    new Set(await Promise.all(names.map(async (name) => (await ask(place(name))).status)));
  const token = location.split('/').at(-2)!;
  const other = `${token.slice(0, -1)}${token.endsWith('A') ? 'B' : 'A'}`;
  const alias = enclosure.split('/').at(-2)!;
  expect(await statuses(at)).toEqual(new Set([200]));
  for (const wrong of [other, alias, `t1.${'A'.repeat(100)}`, 'x'])
    expect(await statuses((name) => at(name).replace(token, wrong))).toEqual(new Set([404]));
  // An expired token goes on while the episode is public, and ends when it is not.
  bench.setClock(new Date(Date.now() + 72 * 3_600_000));
  expect(await statuses(at)).toEqual(new Set([200]));
  // The audio of a play that was just read is asked about again within a second.
  const becomes = (status: number) => until(async () => [...(await statuses(at))].join() === String(status));
  await apply(bench, next(events.episode, {}, { state: 'unpublished' }));
  await becomes(404);
  await apply(bench, next(events.episode, {}, { state: 'archived', by: 2 }));
  await becomes(410);
});

describe('documents that the feed names beside the audio', () => {
  const [chrome, overcast] = [
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.0.0 Safari/537.36',
    'Overcast/3.0 (+http://overcast.fm/; iOS podcast app)',
  ];

  /** A show in whose feed everything is, with an intro of 2.4 s; its breaks are filled as the test says. */
  async function shownInFeed() {
    const show = await publishShow(bench, content, {
      intro: await storeSegment(bench, intro),
      chapters: [{ start_ms: 0, title: 'Ebb' }],
      transcripts: [await storeTranscript('en', english), await storeTranscript('pt-BR', portuguese)],
    });
    const [item] = itemsOf((await ask(`/feeds/${show.subdomain}.xml`)).body);
    const links = item!['podcast:transcript'] as { '@_url': string; '@_language': string; '@_type': string }[];
    const chapters = (item!['podcast:chapters'] as { '@_url': string })['@_url'];
    const play = (headers: Record<string, string>, ad: Buffer | undefined) => {
      giveAds(bench, () => ad);
      return ask(show.enclosure, headers);
    };
    /** Seconds at which the content begins by its chapters, and the first cue of each transcript. */
    async function timesFor(headers: Record<string, string>) {
      const answers = await Promise.all(
        [chapters, ...links.map((link) => link['@_url'])].map((url) => ask(url, headers)),
      );
      expect(new Set(answers.map((answer) => [answer.status, answer.headers['cache-control']].join(' ')))).toEqual(
        new Set(['200 private, no-store']),
      );
      const [document, ...transcripts] = answers;
      const cues = transcripts.map(
        ({ body }, at) =>
          parseTranscript(links[at]!['@_url'].match(/\.(vtt|srt|json)/)![1] as 'vtt', body.toString()).cues[0]!
            .start_ms,
      );
      expect(new Set(cues).size).toBe(1);
      const { chapters: told } = JSON.parse(document!.body.toString()) as { chapters: { startTime: number }[] };
      expect(cues[0]).toBe(told[0]!.startTime * 1_000 + 1_000);
      return told[0]!.startTime;
    }
    return { ...show, chapters, links, play, timesFor };
  }
  const adFree = 2.4;
  const withFirst = 26.4;
  const withSecond = 14.4;

  test.each([
    [
      'Apple Podcasts on a Mac (opawg/user-agents#119)',
      'AppleCoreMedia/1.0.0.21G83 (Macintosh; U; Intel Mac OS X 12_5_1; en_gb)',
      'Podcasts/1660.5 CFNetwork/1335.0.3 Darwin/21.6.0',
      chrome,
    ],
    [
      'KidsPod on an iPhone (opawg/user-agents-v2#7)',
      'AppleCoreMedia/1.0.0.20F75 (iPhone; U; CPU OS 16_5_1 like Mac OS X; en_us)',
      'KidspodMobileClient/111 CFNetwork/1408.0.4 Darwin/22.5.0',
      overcast,
    ],
    [
      'AntennaPod before its agents were one (AntennaPod#4240)',
      'stagefright/1.2 (Linux;Android 10)',
      'AntennaPod/1.8.3',
      overcast,
    ],
    [
      'Anytime (anytime_podcast_player#21)',
      'just_audio/0.2.0 (Linux;Android 6.0) ExoPlayerLib/2.12.2',
      'Anytime/0.2.1 (phone;Android 10) https://github.com/amugofjava/anytime_podcast_player',
      'AntennaPod/3.4.0',
    ],
    [
      'NPR on Android (opawg/user-agents-v2#15)',
      'NPROneAndroid',
      'Dalvik/2.1.0 (Linux; U; Android 13; SM-G991U Build/TP1A.220624.014) nprone_android/3.7.0/OSv:13',
      'AntennaPod/3.4.0',
    ],
    [
      'Podverse on an iPhone (podcast-agent, podverse-rn)',
      'Podverse/iOS Mobile App/Mozilla/5.0 (iPhone; CPU iPhone OS 14_4 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148',
      'Podverse/7 CFNetwork/902.2 Darwin/17.7.0',
      'Podcasts/1660.5 CFNetwork/1335.0.3 Darwin/21.6.0',
    ],
  ])(
    'tells the times of the play of this address that the same app has: %s',
    async (_name, media, documents, anotherApp) => {
      const { play, timesFor } = await shownInFeed();
      const home = newListener();
      await play({ ...home, 'user-agent': media }, first);
      await play({ ...home, 'user-agent': anotherApp }, second);
      expect(await timesFor({ ...home, 'user-agent': documents })).toBe(withFirst);
      expect(await timesFor({ ...home, 'user-agent': media })).toBe(withFirst);
      expect(await timesFor({ ...home, 'user-agent': anotherApp })).toBe(withSecond);
    },
  );

  test('tells the times of the only play of this address to every app, and ad-free times where the play is not certain', async () => {
    const { play, timesFor, ...show } = await shownInFeed();
    const home = newListener();
    expect(await timesFor({ ...home, 'user-agent': overcast })).toBe(adFree);
    await play({ ...home, 'user-agent': overcast }, first);
    expect(await timesFor({ ...home, 'user-agent': chrome })).toBe(withFirst);
    expect(await timesFor(newListener())).toBe(adFree);
    await play({ ...home, 'user-agent': 'AntennaPod/3.4.0' }, second);
    expect(await timesFor({ ...home, 'user-agent': chrome })).toBe(adFree);
    // A request for a document causes no decision.
    expect(bench.serving.requests.filter(({ episodeId }) => episodeId === show.episodeId)).toHaveLength(2);
  });

  test('tells the times of a play for 24 hours, over midnight too', async () => {
    const { play, timesFor } = await shownInFeed();
    const home = { ...newListener(), 'user-agent': overcast };
    const began = new Date('2027-03-10T23:30:00Z');
    bench.setClock(began);
    await play(home, first);
    bench.setClock(new Date(began.getTime() + 24 * 3_600_000 - 1));
    expect(await timesFor(home)).toBe(withFirst);
    bench.setClock(new Date(began.getTime() + 24 * 3_600_000));
    expect(await timesFor(home)).toBe(adFree);
  });

  test.each([
    ['before the end', 60_000],
    ['just after it, where it was not known yet', -2_000],
  ])(
    'tells ad-free times once the play was ended for everybody, begun %s, and those of the next play',
    async (_when, agoMs) => {
      const { play, timesFor, events } = await shownInFeed();
      const home = { ...newListener(), 'user-agent': overcast };
      const began = new Date(Date.now() - 120_000);
      bench.setClock(began);
      const location = String((await play(home, first)).headers.location);
      expect(await timesFor(home)).toBe(withFirst);
      bench.setClock(undefined);

      const { sha256: digest, size_bytes, duration_ms } = await storeSegment(bench, audio(700));
      const id = newId('pro');
      const files = [
        { role: 'rendition', stream_format: 'mp3/128000/48000/2', sha256: digest, size_bytes, duration_ms },
      ];
      const made = { ...events.production.after.attributes, files, audio_duration_ms: duration_ms };
      const ends = { current_production_id: id, plays_end_before: new Date(began.getTime() + agoMs).toISOString() };
      await apply(bench, eventOf('productions', id, 1, 'encoded', made), next(events.episode, ends));
      await until(async () => (await ask(location, home)).status === 410);
      expect(await timesFor(home)).toBe(adFree);
      await play(home, second);
      expect(await timesFor(home)).toBe(withSecond);
    },
  );

  test('has another address once it changed, one for each language, and ends with its episode', async () => {
    const { chapters, links, events } = await shownInFeed();
    expect(new Set([chapters, ...links.map((link) => link['@_url'])]).size).toBe(1 + 6);
    for (const link of links) {
      const { body } = await ask(link['@_url']);
      expect(body.includes(link['@_language'] === 'en' ? 'Ebb.' : 'Maré.')).toBe(true);
    }
    await apply(bench, next(events.episode, { chapters: [{ start_ms: 0, title: 'Flow' }] }));
    const changed = await until(async () => {
      const [item] = itemsOf((await ask(`/feeds/${String(events.podcast.after.attributes['subdomain'])}.xml`)).body);
      const now = (item!['podcast:chapters'] as { '@_url': string })['@_url'];
      return now !== chapters && now;
    });
    expect((await ask(changed)).body.toString()).toContain('Flow');
    await apply(bench, next(events.episode, {}, { state: 'unpublished', by: 2 }));
    for (const url of [changed, links[0]!['@_url']]) expect((await ask(url)).status).toBe(404);
    await apply(bench, next(events.episode, {}, { state: 'archived', by: 3 }));
    for (const url of [changed, links[0]!['@_url']]) expect((await ask(url)).status).toBe(410);
  });
});
