import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { aacArguments, aacFrameRate, aacFramesOfSamples, cellGrid, firstFrames, muxAac } from '@longwave/hls-media';
import type { DecideRequest, DecideResponse } from '@longwave/rpc/serving';
import { sha256, until } from '@longwave/test-kit';
import type { HlsTrack, PictureTracks } from '../src/projection/projected.ts';
import { apply, next } from './_apply.ts';
import { newListener, type Ask } from './_ask.ts';
import { publishShow, storeSegment, type Marker } from './_stitched.ts';
import { audio, noAds, pickOf, type Bench } from './_support.ts';

const run = promisify(execFile);
const sampleRate = 48_000;

export interface TestTrack {
  readonly track: HlsTrack;
  readonly bytes: Buffer;
  readonly frames: number;
}

/**
 * A tone as a track of HLS in the store, with cells as the encoder makes them; `cutsMs` are places for ads. A long one is encoded sooner as so
 * many `parts` that are all the same.
 */
export async function storeTone(
  { store }: Pick<Bench, 'store'>,
  seconds: number,
  hertz: number,
  cutsMs: readonly number[] = [],
  parts = 1,
): Promise<TestTrack> {
  const samples = Math.round(seconds * sampleRate);
  const tone = `sine=frequency=${hertz}:sample_rate=${sampleRate}:duration=${seconds / parts}`;
  const filters = ['aformat=sample_fmts=fltp:channel_layouts=stereo', 'volume=0.5'];
  const { stdout: adts } = await run('ffmpeg', ['-v', 'error', '-f', 'lavfi', '-i', tone, ...aacArguments(filters)], {
    maxBuffer: 1 << 28,
    encoding: 'buffer',
  });
  const frames = aacFramesOfSamples(samples);
  const pieces: Buffer[] = [];
  const starts = firstFrames(cellGrid(samples, cutsMs, []), aacFrameRate);
  const index = await muxAac(
    Array<Buffer>(parts).fill(adts),
    starts,
    frames,
    (bytes) => void pieces.push(Buffer.from(bytes)),
  );
  const bytes = Buffer.concat(pieces);
  const indexBytes = Buffer.from(JSON.stringify(index));
  await store.put(`media/${sha256(bytes)}`, bytes, { contentType: 'audio/mp4' });
  await store.put(`media/${sha256(indexBytes)}`, indexBytes, { contentType: 'application/json' });
  const stored = (each: Buffer) => ({
    storage_key: `media/${sha256(each)}`,
    sha256: sha256(each),
    size_bytes: each.length,
  });
  const track = {
    codec: 'mp4a.40.2',
    ...stored(bytes),
    duration_ms: Math.round((frames * 1024 * 1000) / sampleRate),
    index: stored(indexBytes),
  };
  return { track, bytes, frames };
}

/** An ad as MP3 and as a track, and its pictures. */
export interface TestAd {
  readonly mp3: Buffer;
  readonly tone: TestTrack;
  readonly pictures?: PictureTracks;
}

const pickedTrack = ({ codec, sha256: digest, size_bytes, duration_ms, index }: HlsTrack) => ({
  ...{ codec, digest, sizeBytes: BigInt(size_bytes), durationMs: BigInt(duration_ms) },
  ...{ indexDigest: index.sha256, indexSizeBytes: BigInt(index.size_bytes) },
});

/** The sizes that ads have. */
const pickedPictures = ({ v480: _, ...pictures }: PictureTracks) =>
  Object.entries(pictures).map(([name, { width, height, frame_rate, ...track }]) => ({
    ...{ name, width, height, track: pickedTrack(track) },
    ...{ frameRateFrames: frame_rate.frames, frameRateSeconds: frame_rate.seconds },
  }));

/**
 * A decision with the first ad in the first slot of every break, the second one in the second; `without` is a break that stays empty, and a
 * click on any of them leads to `clickUrl`. Creatives are named by break and slot.
 */
export function decideAds(
  request: DecideRequest,
  ads: readonly TestAd[],
  { without, clickUrl = '' }: { readonly without?: string; readonly clickUrl?: string } = {},
): DecideResponse {
  const pickFor = (breakKey: string, slot: number) => {
    const { mp3, tone, pictures } = ads[slot]!;
    return {
      ...{ ...pickOf(mp3), breakKey, slot, creativeId: `crv_${breakKey}_${slot}`, clickUrl },
      ...{ hls: pickedTrack(tone.track), pictures: pictures ? pickedPictures(pictures) : [] },
    };
  };
  const picks = request.breaks
    .filter(({ key }) => key !== without)
    .flatMap(({ key, maxSlots }) => Array.from({ length: maxSlots }, (_, slot) => pickFor(key, slot)));
  return { ...noAds(request), servingPlanId: 'spl_1', noAdReason: '', picks };
}

/** The tracks of a production with sound and pictures. */
export const readyTracks = (a192: HlsTrack, pictures: Partial<PictureTracks> = {}) =>
  Object.fromEntries(Object.entries({ a192, ...pictures }).map(([name, file]) => [name, { state: 'ready', file }]));

/** Ads of 5 and 3 s with their tracks of HLS, in the store. */
export async function storeTwoAds(bench: Bench): Promise<TestAd[]> {
  const ads = [
    { mp3: audio(208), tone: await storeTone(bench, 5, 660) },
    { mp3: audio(125), tone: await storeTone(bench, 3, 990) },
  ];
  for (const { mp3 } of ads) await storeSegment(bench, mp3);
  return ads;
}

/**
 * A published show whose episode has this track, these breaks and these pictures, if any, and these attributes, once it is presented;
 * `entry` is its lasting address.
 */
export async function publishHlsShow(
  bench: Bench,
  ask: Ask,
  { track }: TestTrack,
  markers: readonly Marker[],
  pictures?: PictureTracks,
  episode: Record<string, unknown> = {},
) {
  const made = await publishShow(
    bench,
    audio(Math.floor(track.duration_ms / 24)),
    { ...episode, markers },
    { tracks: readyTracks(track, pictures) },
  );
  const events = {
    ...made.events,
    podcast: next(made.events.podcast, { hls_audio: true, hls_video: pictures !== undefined }),
  };
  await apply(bench, events.podcast);
  const entry = made.enclosure.replace(/\.mp3$/, '.m3u8');
  await until('the presentation', async () => (await ask(entry, newListener(), 'HEAD')).status === 302);
  return { ...made, events, entry };
}
