import { afterAll, beforeAll, expect, test } from '@jest/globals';
import {
  audioExtent,
  checkCanonical,
  renderId3,
  stripTags,
  tryParseFrameHeader,
  tryParseVbrHeader,
  walkFrames,
} from '@longwave/audio';
import { newId } from '@longwave/ids';
import { sha256 } from '@longwave/test-kit';
import type { DeliveryApp } from '../src/app.ts';
import { arrangementId, composeArrangement } from '../src/arrangements/arrangement.ts';
import { findArrangement, saveArrangement } from '../src/arrangements/arrangement-table.ts';
import type { TimelineDocument } from '../src/companions/timeline-document.ts';
import { askAt, newListener } from './_ask.ts';
import { decode, jpeg, noise, probe, tone } from './_media.ts';
import { durationOf, giveAds, publishShow, storeSegment } from './_stitched.ts';
import { noAds, openBench, type Bench } from './_support.ts';

let bench: Bench;
let app: DeliveryApp;
const ask = askAt(() => app.port);

const intro = tone(2, 440);
const outro = tone(3, 550);
const content = noise(60, 1, [20, 20.6]);
const ads = [tone(5, 220), noise(7, 2), tone(4, 330)] as const;
const chapters = [
  { start_ms: 0, title: 'Ebb' },
  { start_ms: 15_000, title: 'Around the silence' },
  { start_ms: 40_008, title: 'From the second break on' },
];

/** The file with ads and the one without, with the timeline of the former. */
interface Played {
  readonly file: Buffer;
  readonly clean: Buffer;
  readonly timeline: TimelineDocument;
}
let played: Played;
let episodeId: string;
let enclosure: string;

beforeAll(async () => {
  bench = await openBench();
  // A machine that is busy must not make a decision late.
  app = await bench.start();
  for (const ad of ads) await storeSegment(bench, ad);
  const picture = jpeg(300);
  await bench.store.put(`artwork/${sha256(picture)}`, picture, { contentType: 'image/jpeg' });
  const image = { size: 300, content_type: 'image/jpeg', storage_key: `artwork/${sha256(picture)}` };
  ({ enclosure, episodeId } = await publishShow(
    bench,
    content,
    {
      intro: await storeSegment(bench, intro),
      outro: await storeSegment(bench, outro),
      artwork: { renditions: [{ ...image, sha256: sha256(picture), size_bytes: picture.length }] },
      markers: [
        { key: 'in-silence', kind: 'mid', position_ms: 19_000, max_slots: 2 },
        { key: 'in-sound', kind: 'mid', position_ms: 40_000, max_slots: 1 },
        { key: 'end', kind: 'post', position_ms: 60_000, max_slots: 1 },
      ],
      chapters,
      number: 7,
      link: 'https://tides.example/seven',
    },
    { silences: [[20_000, 20_600]] },
  ));
  const clean = (await ask(`${enclosure}?direct=1`, newListener())).body;
  giveAds(bench, (key, slot) => (key === 'in-silence' ? ads[slot + 1] : ads[0]));
  const listener = newListener();
  const location = String((await ask(enclosure, listener)).headers.location);
  const timeline = await ask(location.replace(/[^/]+\.mp3$/, 'timeline.json'));
  played = {
    file: (await ask(location, listener)).body,
    clean,
    timeline: JSON.parse(timeline.body.toString()) as TimelineDocument,
  };
  bench.serving.answer = async (request) => noAds(request);
});
afterAll(async () => {
  await app[Symbol.asyncDispose]();
  await bench.stop();
});

const soundOf = (file: Buffer) => Buffer.from(stripTags(file));
const sum = (numbers: readonly number[]) => numbers.reduce((a, b) => a + b, 0);

test('the file lasts as long as its content and its ads, to the frame, by ffprobe and by its own tag', () => {
  const expectedMs = sum([intro, content, outro, ads[0], ads[1], ads[2], ads[0], ads[0]].map(durationOf));
  expect(durationOf(soundOf(played.file))).toBe(expectedMs);
  expect(played.timeline.duration_ms).toBe(expectedMs);
  const { format } = probe(bench.folder, played.file);
  expect(Math.abs(Number(format.duration) * 1000 - expectedMs)).toBeLessThanOrEqual(24);
  expect(format.tags['TLEN']).toBe(String(expectedMs));
});

test('the Info frame counts the frames and bytes of this very file, so that no player has to estimate its length', () => {
  for (const file of [played.file, played.clean]) {
    const { from } = audioExtent(file);
    const info = tryParseVbrHeader(file, from, tryParseFrameHeader(file, from)!);
    const frames = durationOf(soundOf(file)) / 24;
    expect(info).toEqual({ kind: 'Info', frames, sizeBytes: file.length - from });
    expect(Number(probe(bench.folder, file).format.duration) * 1000).toBeCloseTo(frames * 24, 3);
  }
});

test('the tag names genre, number, date, time and page of the episode', () => {
  const { tags } = probe(bench.folder, played.file).format;
  expect(tags).toMatchObject({ genre: 'Podcast', track: '7' });
  const bodyOf = (id: string) => {
    const at = played.file.indexOf(id, 0, 'latin1');
    return played.file.toString('latin1', at + 10, at + 10 + played.file.readUInt32BE(at + 4));
  };
  for (const id of ['TYER', 'TDAT', 'TIME']) expect(bodyOf(id).slice(1)).toMatch(/^\d{4}$/);
  expect(bodyOf('WOAF')).toBe('https://tides.example/seven');
});

test('the tag is as long as without ads, its chapters begin and end where the content does, and the picture is in it', () => {
  expect(audioExtent(played.file).from).toBe(audioExtent(played.clean).from);
  const found = probe(bench.folder, played.file);
  const startMs = durationOf(ads[0]) + durationOf(intro);
  const [middleMs, endMs] = [durationOf(ads[1]) + durationOf(ads[2]), durationOf(ads[0])];
  const times = found.chapters.map(({ start_time: from, end_time: to }) =>
    [from, to].map((time) => Number(time) * 1000),
  );
  expect(times.map((pair) => pair.map(Math.round))).toEqual([
    [startMs, startMs + 15_000],
    // The first break lies in it; the second one begins where it ends.
    [startMs + 15_000, startMs + middleMs + 40_008],
    [startMs + middleMs + endMs + 40_008, startMs + middleMs + endMs + durationOf(content)],
  ]);
  expect(found.streams.map(({ codec_name, width }) => [codec_name, width])).toEqual([
    ['mp3', undefined],
    ['mjpeg', 300],
  ]);
});

test('a break stands in the middle of the silence near its marker, else at the frame nearest to it', () => {
  const own = played.timeline.parts.filter((part) => part.kind === 'content');
  expect(own.map((part) => part.content_start_ms)).toEqual([0, 20_304, 40_008]);
});

test('the sound is nothing but canonical frames, and no frame at a join needs an earlier one', () => {
  expect(checkCanonical(soundOf(played.file))).toMatchObject({
    canonical: true,
    frames: played.timeline.duration_ms / 24,
  });
  const frames = [...walkFrames(soundOf(played.file))];
  const joins = played.timeline.parts.flatMap((part) =>
    part.kind === 'break' ? part.slots.map(({ start_ms: ms }) => ms) : [part.start_ms],
  );
  expect(joins).toHaveLength(10);
  for (const ms of joins) expect(frames[ms / 24]!.sideInfo.mainDataBegin).toBe(0);
});

/**
 * A decoder adds the second half of each granule's window to the next one (overlap of the IMDCT) and its filter bank remembers 480
 * samples: what comes before a join sounds on for less than the first frame behind it, and nowhere else.
 */
test('from the second frame behind every join on, the decoded samples are those of the file without ads', () => {
  const frameSamples = 1152 * 2;
  const [withAds, clean] = [played.file, played.clean].map((file) => decode(bench.folder, file)) as [
    Float32Array,
    Float32Array,
  ];
  expect(withAds.length).toBe((played.timeline.duration_ms / 24) * frameSamples);
  const introFrames = durationOf(intro) / 24;
  const own = played.timeline.parts.filter((part) => part.kind === 'content');
  expect(own).toHaveLength(3);
  for (const { start_ms, duration_ms, content_start_ms } of own) {
    const frames = duration_ms / 24;
    const here = (start_ms / 24) * frameSamples;
    const there = (introFrames + content_start_ms / 24) * frameSamples;
    const second = content_start_ms === 0 ? 0 : 1;
    const got = withAds.subarray(here + second * frameSamples, here + frames * frameSamples);
    const source = clean.subarray(there + second * frameSamples, there + frames * frameSamples);
    expect(Buffer.compare(Buffer.from(got.slice().buffer), Buffer.from(source.slice().buffer))).toBe(0);
  }
});

test('a play that was bound before there was an Info frame keeps its id and its bytes', async () => {
  const { enclosure: address, content: own, episodeId: id } = await publishShow(bench, tone(4, 660));
  const listener = newListener();
  const fresh = await ask(`${address}?direct=1`, listener);
  const { rows } = await bench.pool.query<{ id: string }>(
    'select arrangement_id as id from binding where episode_id = $1',
    [id],
  );
  const stored = (await findArrangement(bench.pool, rows[0]!.id))!;
  const bytes = Buffer.from(renderId3({ title: 'One', album: 'Tides', artist: 'Ana', lengthMs: 4008 }, 1024));
  const header = { digest: sha256(bytes), sizeBytes: bytes.length, durationMs: 0, kind: 'header' as const };
  const [part] = stored.document.parts.slice(-1);
  const audio = { digest: part!.blob, sizeBytes: own.length, durationMs: durationOf(own), kind: 'content' as const };
  const { codec, bitrate, channels, sample_rate: sampleRate } = stored.document.format;
  const document = composeArrangement(id, { codec, bitrate, channels, sampleRate }, [
    header,
    { ...audio, piece: { from: 0, to: own.length, contentMs: 0 } },
  ]);
  const old = { ...stored, id: arrangementId(document), document, headers: [{ digest: header.digest, bytes }] };
  await saveArrangement(bench.pool, old);
  await bench.pool.query(
    `insert into binding select (jsonb_populate_record(b, jsonb_build_object(
       'sequence', sequence + 1, 'decision_id', $1::text, 'arrangement_id', $2::text))).* from binding b where episode_id = $3`,
    [newId('dec'), old.id, id],
  );
  await using later = await bench.start({});
  const again = await askAt(() => later.port)(`${address}?direct=1`, listener);
  expect(again.headers.etag).toBe(`"${old.id}"`);
  expect(again.body.equals(Buffer.concat([bytes, own]))).toBe(true);
  expect(fresh.body.equals(again.body)).toBe(false);
});

test('where the podcast wants it, the content fades around a break that lies in sound, and nowhere else', async () => {
  await bench.pool.query(
    `update podcast set attributes = attributes || '{"break_fade_ms": 250}' where id = (select podcast_id from episode where id = $1)`,
    [episodeId],
  );
  giveAds(bench, (key, slot) => (key === 'in-silence' ? ads[slot + 1] : ads[0]));
  await using later = await bench.start();
  const [again, listener] = [askAt(() => later.port), newListener()];
  const location = String((await again(enclosure, listener)).headers.location);
  const faded = (await again(location, listener)).body;
  const timeline = JSON.parse((await again(location.replace(/[^/]+\.mp3$/, 'timeline.json'))).body.toString());
  expect((timeline as TimelineDocument).parts.map(({ kind, start_ms: ms }) => [kind, ms])).toEqual(
    played.timeline.parts.map(({ kind, start_ms: ms }) => [kind, ms]),
  );
  expect(checkCanonical(soundOf(faded))).toMatchObject({ canonical: true, frames: played.timeline.duration_ms / 24 });
  const [before, after] = [played.file, faded].map((file) => [...walkFrames(soundOf(file))].map(({ bytes }) => bytes));
  const changed = before!.flatMap((bytes, frame) => (Buffer.compare(bytes, after![frame]!) === 0 ? [] : [frame]));
  const inSound = played.timeline.parts.find((part) => part.kind === 'break' && part.key === 'in-sound')!;
  const [from, to] = [inSound.start_ms / 24, (inSound.start_ms + inSound.duration_ms) / 24];
  // 250 ms are ten frames; the first ones of a fade out, and the last ones of a fade in, are hardly lowered at all.
  expect(changed.every((frame) => (frame >= from - 10 && frame < from) || (frame >= to && frame < to + 10))).toBe(true);
  expect(changed).toEqual(expect.arrayContaining([from - 1, from - 5, to, to + 4]));
  const range = await again(location, { ...listener, range: `bytes=${faded.length >> 1}-` });
  expect(range.body.equals(faded.subarray(faded.length >> 1))).toBe(true);
  bench.serving.answer = async (request) => noAds(request);
});
