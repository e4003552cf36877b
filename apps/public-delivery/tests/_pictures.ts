import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import {
  cellGrid,
  durationTicks,
  firstFrames,
  iFrameArguments,
  iFrameTrack,
  indexFragments,
  indexIFrames,
  pictureArguments,
  pictureLadder,
} from '@longwave/hls-media';
import { sha256 } from '@longwave/test-kit';
import type { PictureTracks } from '../src/projection/projected.ts';
import type { Bench } from './_support.ts';

const run = promisify(execFile);
/** Few pictures a second make a test fast. */
const rate = { frames: 5, seconds: 1 };

type PictureTrack = PictureTracks['iframe'];
export type TestPictures = PictureTracks & { readonly v480: PictureTrack };

/** One that hardly moves, in all sizes and for seeking, in the store; with the cells of `storeTone`. */
export async function storePictures(
  { store }: Pick<Bench, 'store'>,
  seconds: number,
  cutsMs: readonly number[] = [],
): Promise<TestPictures> {
  const folder = await mkdtemp(path.join(tmpdir(), 'longwave-pictures-'));
  const fileOf = (name: string) => path.join(folder, `${name}.mp4`);
  const starts = firstFrames(cellGrid(seconds * 48_000, cutsMs, []), rate);
  const span = (frames: number) => ({ offsetSeconds: 0, pictures: seconds * frames });
  const moving = `color=c=navy:size=320x180:rate=${rate.frames}:duration=${seconds},drawbox=x=t*20:y=60:w=40:h=40:c=white:t=fill`;
  await run('ffmpeg', [
    ...['-nostdin', '-v', 'error', '-f', 'lavfi', '-i', moving],
    ...pictureLadder.flatMap((rung) =>
      pictureArguments(rung, rate, starts, span(rate.frames), fileOf(`v${rung.height}`)),
    ),
    ...iFrameArguments(span(iFrameTrack.rate.frames), fileOf('iframe')),
  ]);

  async function keep(bytes: Buffer, contentType: string) {
    const digest = sha256(bytes);
    const storage_key = `media/${digest}`;
    await store.put(storage_key, bytes, { contentType });
    return { storage_key, sha256: digest, size_bytes: bytes.length };
  }

  async function trackOf(name: string): Promise<PictureTrack> {
    const bytes = await readFile(fileOf(name));
    const read = async (from: number, to: number) => bytes.subarray(from, to);
    const indexed = await (name === 'iframe' ? indexIFrames : indexFragments)(read, bytes.length);
    const { index, codec, width, height } = indexed;
    return {
      ...{ codec, width, height, frame_rate: name === 'iframe' ? iFrameTrack.rate : rate },
      ...(await keep(bytes, 'video/mp4')),
      duration_ms: Math.round((durationTicks(index) * 1000) / index.timescale),
      index: await keep(Buffer.from(JSON.stringify(index)), 'application/json'),
    };
  }

  const names = ['v360', 'v480', 'v720', 'v1080', 'iframe'] as const;
  const tracks = await Promise.all(names.map(async (name) => [name, await trackOf(name)] as const));
  await rm(folder, { recursive: true });
  return Object.fromEntries(tracks) as TestPictures;
}
