import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { encodeTranscript, parseTranscript, type Transcript } from '@longwave/transcript';
import type { DeliveryApp } from '../src/app.ts';
import { apply, next } from './_apply.ts';
import { askAt, newListener } from './_ask.ts';
import { giveAds, publishShow, storeSegment } from './_stitched.ts';
import { audio, eventually, noAds, openBench, sha256, type Bench } from './_support.ts';

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
  app = await bench.start({ DECIDE_DEADLINE_MS: '10000' });
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

test('a transcript comes in every format and language that there is, and in no other', async () => {
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

test('they follow the rules of the audio: what it answers to a token, they do', async () => {
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
  const becomes = (status: number) => eventually(async () => [...(await statuses(at))].join() === String(status));
  await apply(bench, next(events.episode, {}, { state: 'unpublished' }));
  await becomes(404);
  await apply(bench, next(events.episode, {}, { state: 'archived', by: 2 }));
  await becomes(410);
});
