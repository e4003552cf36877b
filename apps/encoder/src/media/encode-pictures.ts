import { createHash } from 'node:crypto';
import { open, rm, writeFile } from 'node:fs/promises';
import {
  durationTicks,
  firstFrames,
  FragmentError,
  iFrameArguments,
  iFrameTrack,
  indexFragments,
  indexIFrames,
  pictureArguments,
  pictureLadder,
  pictureRate,
  type CellIndex,
  type FrameRate,
} from '@longwave/hls-media';
import type { EncodedTrack } from './encode-track.ts';
import { MediaFault } from './media-fault.ts';
import { checkPictureLength, maxEncodingMs, tookTooLong } from './picture-limits.ts';
import { FfmpegExit, runFfmpeg } from './run-ffmpeg.ts';
import { usualRate, type PictureSource } from './source-picture.ts';

/** One track of pictures in a file, and the index of its cells. */
export interface EncodedPictures extends Omit<EncodedTrack, 'frames'> {
  readonly width: number;
  readonly height: number;
  readonly frameRate: FrameRate;
}

/** A size of the picture by its height, or the pictures for seeking. */
export type PictureTrackName = 'v360' | 'v480' | 'v720' | 'v1080' | 'iframe';

/** How many pictures last as long as the sound, to within half a picture. */
const picturesOf = (sound: CellIndex, { frames, seconds }: FrameRate) =>
  Math.max(1, Math.round((durationTicks(sound) * frames) / (sound.timescale * seconds)));

const rungOf = (name: Exclude<PictureTrackName, 'iframe'>) =>
  pictureLadder.find(({ height }) => name === `v${height}`)!;

/** Pictures for seeking have no limit of their own; those of noise have about 100 kB each. kbit/s. */
const iFrameRate = 2000;

/** Room for a track on the disk: what its encoder may write at most, and a tenth for the container. */
export const maxTrackBytes = (name: PictureTrackName, sound: CellIndex): number =>
  Math.ceil(((name === 'iframe' ? iFrameRate : rungOf(name).maxRate) * 137.5 * durationTicks(sound)) / sound.timescale);

/** ffmpeg's arguments for a track with the cells of a sound. */
function argumentsFor(name: PictureTrackName, { frameRate, offsetSeconds }: PictureSource, sound: CellIndex) {
  if (name === 'iframe')
    return iFrameArguments({ offsetSeconds, pictures: picturesOf(sound, iFrameTrack.rate) }, 'pipe:1');
  const rung = rungOf(name);
  const rate = usualRate(pictureRate(frameRate));
  const starts = firstFrames(
    sound.cells.map(([, , start]) => (start * 1000) / sound.timescale),
    rate,
  );
  return pictureArguments(rung, rate, starts, { offsetSeconds, pictures: picturesOf(sound, rate) }, 'pipe:1');
}

const rateOf = (name: PictureTrackName, { frameRate }: PictureSource) =>
  name === 'iframe' ? iFrameTrack.rate : usualRate(pictureRate(frameRate));

/**
 * Encodes the pictures of a source in one size into a file at `outputPath`, and its index beside it: with the cells of the sound, to the
 * nearest picture, and as long as it. Leaves no file behind when it fails.
 * @param sound the index of the sound's track
 * @param maxMs how long it may take; absent: by the length of the sound
 * Throws `MediaFault` for a picture that cannot be decoded, one that takes too long and one that is too long, the signal's reason when aborted, anything else for a failure of ours.
 */
export async function encodePictures(options: {
  readonly name: PictureTrackName;
  readonly source: PictureSource;
  readonly sound: CellIndex;
  readonly outputPath: string;
  readonly maxMs?: number;
  /** Receives the encoded part, 0 … 1. */
  readonly onFraction?: (fraction: number) => void;
  readonly signal: AbortSignal;
}): Promise<EncodedPictures> {
  const { name, source, sound, outputPath, maxMs = maxEncodingMs(options.sound), onFraction, signal } = options;
  checkPictureLength(sound);
  const soundMs = (durationTicks(sound) * 1000) / sound.timescale;
  const deadline = AbortSignal.timeout(maxMs);
  const indexPath = `${outputPath}.json`;
  try {
    await using file = await open(outputPath, 'w+');
    const hash = createHash('sha256');
    let sizeBytes = 0;
    let isEmpty = true;
    const args = ['-loglevel', 'error', ...source.input, ...argumentsFor(name, source, sound)];
    await runFfmpeg('ffmpeg', args, {
      signal: AbortSignal.any([signal, deadline]),
      onPosition: (positionMs) => {
        isEmpty &&= positionMs <= 0;
        onFraction?.(Math.min(1, positionMs / soundMs));
      },
      consume: async (stdout) => {
        for await (const chunk of stdout as AsyncIterable<Buffer>) {
          hash.update(chunk);
          sizeBytes += chunk.length;
          await file.writeFile(chunk);
        }
      },
    }).catch((error: unknown) => {
      if (deadline.aborted && !signal.aborted) throw tookTooLong();
      // This process writes the output of ffmpeg, so a full disk never ends ffmpeg itself.
      throw error instanceof FfmpegExit ? undecodable(error) : error;
    });
    const read = async (from: number, to: number) => {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(to - from), { position: from });
      return buffer.subarray(0, bytesRead);
    };
    const indexFile = name === 'iframe' ? indexIFrames : indexFragments;
    const { index, codec, width, height } = await indexFile(read, sizeBytes).catch((error: unknown) => {
      throw error instanceof FragmentError && isEmpty ? undecodable(error) : error;
    });
    const json = Buffer.from(JSON.stringify(index));
    await writeFile(indexPath, json, { signal });
    return {
      path: outputPath,
      sha256: hash.digest('hex'),
      sizeBytes,
      codec,
      durationMs: Math.round((durationTicks(index) * 1000) / index.timescale),
      index: { path: indexPath, sha256: createHash('sha256').update(json).digest('hex'), sizeBytes: json.length },
      width,
      height,
      frameRate: rateOf(name, source),
    };
  } catch (error) {
    await Promise.all([outputPath, indexPath].map((path) => rm(path, { force: true })));
    throw error;
  }
}

const undecodable = (cause: unknown) =>
  new MediaFault(
    'media_unsupported_codec',
    'The picture of the file cannot be decoded. Upload the video as H.264 in MP4 or MOV.',
    cause,
  );
