import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import {
  aacArguments,
  aacFrameRate,
  aacFramesOfSamples,
  bitRates,
  cellGrid,
  composeTrack,
  createTrackReader,
  dateRangesOf,
  durationTicks,
  firstFrames,
  iFrameArguments,
  iFramePlaylist,
  indexFragments,
  indexIFrames,
  mediaPlaylist,
  muxAac,
  pictureArguments,
  pictureLadder,
  renderAssetList,
  renderCaptions,
  renderChapters,
  renderMediaPlaylist,
  renderMultivariant,
  scheduleBreaks,
  subtitlePlaylist,
  type CellIndex,
} from '@longwave/hls-media';
import { ffmpeg, type HlsFiles } from '@longwave/test-kit';
import { judge, readerOf } from './_golden.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'longwave-hls-own-'));
afterAll(() => rmSync(folder, { recursive: true }));

const base = 'https://media.example.com/show/';

interface Track {
  readonly bytes: Buffer;
  readonly index: CellIndex;
}

/** The AAC track of some seconds of noise, as the encoder makes it. */
async function makeSound(seconds: number, markersMs: readonly number[]): Promise<Track> {
  const filters = ['aresample=48000', 'aformat=sample_fmts=fltp:channel_layouts=stereo'];
  const noise = `anoisesrc=color=pink:sample_rate=48000:duration=${seconds}:seed=${seconds}`;
  const adts = ffmpeg('-f', 'lavfi', '-i', noise, ...aacArguments(filters));
  const written: Buffer[] = [];
  const starts = firstFrames(cellGrid(seconds * 48_000, markersMs, []), aacFrameRate);
  const frames = aacFramesOfSamples(seconds * 48_000);
  const index = await muxAac([adts], starts, frames, (bytes) => void written.push(bytes));
  return { bytes: Buffer.concat(written), index };
}

/** An intro and a content as one track, written out. */
function join(...sounds: readonly [Track, ...Track[]]): Track {
  const blobs = sounds.map(({ bytes, index }) => ({
    digest: createHash('sha256').update(bytes).digest('hex'),
    index,
    bytes,
  }));
  const reader = createTrackReader(
    composeTrack('mp4a.40.2', [blobs[0]!, ...blobs.slice(1)]),
    sounds.map(({ index }) => index),
  );
  const bytesOf = (digest: string) => blobs.find((blob) => blob.digest === digest)!.bytes;
  const slices = reader.slices(0, reader.index.bytes);
  const bytes = slices.map((slice) =>
    'bytes' in slice ? slice.bytes : bytesOf(slice.blob).subarray(slice.from, slice.to),
  );
  return { bytes: Buffer.concat(bytes), index: reader.index };
}

interface Picture extends Track {
  readonly name: string;
  readonly codec: string;
  readonly width: number;
  readonly height: number;
}

const rate = { frames: 5, seconds: 1 };

/** The rungs and the I-frames of a moving test picture. */
async function makePictures(seconds: number, gridMs: readonly number[]) {
  const source = ['-f', 'lavfi', '-i', `testsrc=size=320x180:rate=5:duration=${seconds}`];
  const rungs = pictureLadder.filter(({ height }) => height !== 480);
  const fileOf = (name: string | number) => path.join(folder, `${name}.mp4`);
  const starts = firstFrames(gridMs, rate);
  const whole = (perSecond: number) => ({ offsetSeconds: 0, pictures: Math.round(seconds * perSecond) });
  ffmpeg(
    ...source,
    ...rungs.flatMap((rung) => pictureArguments(rung, rate, starts, whole(rate.frames), fileOf(`${rung.height}p`))),
    ...iFrameArguments(whole(2), fileOf('iframes')),
  );
  const read = async (name: string, indexFile: typeof indexFragments): Promise<Picture> => {
    const bytes = readFileSync(fileOf(name));
    return { name, bytes, ...(await indexFile((from, to) => bytes.subarray(from, to), bytes.length)) };
  };
  const pictures = await Promise.all(rungs.map(({ height }) => read(`${height}p`, indexFragments)));
  return { pictures, iFrames: await read('iframes', indexIFrames) };
}

const english = { name: 'English', language: 'en' };

/** Every file of a presentation with a break before, in and after the content; ads are the content again. */
function render(sound: Track, video?: Awaited<ReturnType<typeof makePictures>>): HlsFiles {
  const files: HlsFiles = new Map();
  const put = (name: string, text: string) => files.set(name, Buffer.from(text));
  const schedule = scheduleBreaks(sound.index, 0, [
    { key: 'pre', position: 'pre', contentMs: 0 },
    { key: 'mid-1', position: 'mid', contentMs: 6_000 },
    { key: 'post', position: 'post', contentMs: 12_000 },
  ]);
  const ranges = dateRangesOf(schedule, ({ key }) => `${base}al/${key}.json`);
  const pictures = video?.pictures ?? [];
  for (const { name, bytes, index } of [{ name: 'a192', ...sound }, ...pictures]) {
    files.set(`s/${name}.mp4`, bytes);
    put(`${name}/media.m3u8`, renderMediaPlaylist(mediaPlaylist(`../s/${name}.mp4`, index, schedule), ranges));
    put(`ad/${name}/media.m3u8`, renderMediaPlaylist(mediaPlaylist(`../../s/${name}.mp4`, index)));
  }
  const audio = { ...english, uri: 'a192/media.m3u8', rates: bitRates(sound.index) };
  const renditions = pictures.map(({ name, codec, width, height, index }) => ({
    ...{ uri: `${name}/media.m3u8`, codec, width, height, frameRate: rate.frames, rates: bitRates(index) },
  }));
  if (video) {
    files.set('s/iframes.mp4', video.iFrames.bytes);
    put('iframes/media.m3u8', renderMediaPlaylist(iFramePlaylist('../s/iframes.mp4', video.iFrames.index), ranges));
    put('subs-en/media.m3u8', renderMediaPlaylist(subtitlePlaylist(sound.index, schedule), ranges));
    const transcript = {
      version: 1 as const,
      language: 'en',
      cues: [{ start_ms: 1_000, end_ms: 2_000, text: 'Good evening.' }],
    };
    for (let file = 1; file <= 6; file += 1) put(`subs-en/${file}.vtt`, renderCaptions(transcript, 0, 0, 6_000));
  }
  put('chapters.json', renderChapters([{ start_ms: 0, title: 'Evening' }], 'en', 0));
  const { codec = '', width = 0, height = 0, index = sound.index } = video?.iFrames ?? {};
  const iFrames = { uri: 'iframes/media.m3u8', codec, width, height, rates: bitRates(index) };
  const more = video && { captions: [{ ...english, uri: 'subs-en/media.m3u8' }], iFrames };
  put('main.m3u8', renderMultivariant({ chaptersUri: 'chapters.json', audio, pictures: renditions, ...more }));
  put('ad/main.m3u8', renderMultivariant({ audio, pictures: renditions }));
  const asset = { uri: `${base}ad/main.m3u8`, ticks: durationTicks(sound.index), timescale: sound.index.timescale };
  for (const { key } of schedule) put(`al/${key}.json`, renderAssetList(key === 'post' ? [] : [asset]));
  return files;
}

test('what libs/hls-media makes of a sound with an intro has nothing against it but that it is no video', async () => {
  const read = readerOf(render(join(await makeSound(5, []), await makeSound(12, [6_000]))));
  expect(await judge(read, 'general')).toEqual({ found: [], notes: [], rules: [] });
  expect((await judge(read, 'apple')).rules).toEqual(['A2', 'A4']);
});

test('what libs/hls-media makes of a sound with pictures is what Apple Podcasts takes', async () => {
  const sound = await makeSound(12, [6_000]);
  const video = await makePictures(12, cellGrid(12 * 48_000, [6_000], []));
  expect(await judge(readerOf(render(sound, video)), 'apple')).toEqual({ found: [], notes: [], rules: [] });
});
