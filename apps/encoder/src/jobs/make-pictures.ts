import { createHash } from 'node:crypto';
import path from 'node:path';
import { buffer } from 'node:stream/consumers';
import type { ChangesInput } from '@longwave/command-catalog';
import { cellIndexSchema, type CellIndex } from '@longwave/hls-media';
import { encodePictures, type PictureSource, type PictureTrackName } from '../media/encode-pictures.ts';
import { inspectPicture } from '../media/inspect-source.ts';
import { untrustedInput } from '../media/run-ffmpeg.ts';
import type { JobInput } from './job-input.ts';
import { stillCard } from '../media/still-card.ts';
import { requireSameSource, type Workplace } from './make-track.ts';
import { storePictures, type StoredPictures } from './stored-blobs.ts';
import { untilAborted } from './until-aborted.ts';

/** The index of a sound's track from the store. Throws a plain error when the store does not have it whole. */
async function readIndex(
  { store, signal }: Workplace,
  { storage_key: key, sha256 }: { readonly storage_key: string; readonly sha256: string },
): Promise<CellIndex> {
  const body = await untilAborted(store.get(key), signal, (late) => late.destroy());
  const bytes = await untilAborted(buffer(body), signal);
  if (createHash('sha256').update(bytes).digest('hex') !== sha256)
    throw new Error('the object store has other cells of the sound');
  return cellIndexSchema.parse(JSON.parse(bytes.toString()));
}

/**
 * One track of the pictures of a production. Throws `MediaFault` when the source is not the file that the MP3 was made of any more, or has no
 * moving picture; otherwise as `encodePictures`.
 */
export async function makePictures(
  input: Extract<JobInput, { kind: 'encode_hls_video' }>,
  source: { readonly path: string; readonly sha256: string },
  workplace: Workplace,
): Promise<ChangesInput<'production.record_track'>> {
  requireSameSource(input, source);
  const { store, folder, signal } = workplace;
  const { picture, offsetSeconds } = await inspectPicture(source.path, signal);
  const { width, height, frameRate } = picture;
  const pictures = await encodePictures({
    name: input.track,
    source: { input: untrustedInput(`file:${source.path}`), frameRate, offsetSeconds },
    sound: await readIndex(workplace, input.sound_index),
    outputPath: path.join(folder, 'pictures.mp4'),
    signal,
  });
  return {
    track: input.track,
    file: await storePictures(store, pictures, signal),
    picture: { width, height, frame_rate: frameRate },
  };
}

/**
 * All sizes of the pictures of an ad, as long as its sound. Throws `MediaFault` for a file without a moving picture; otherwise as
 * `encodePictures`.
 * @param sourcePath undefined for a still picture
 */
export async function makeAdPictures(
  input: Extract<JobInput, { kind: 'encode_creative_pictures' }>,
  sourcePath: string | undefined,
  workplace: Workplace,
): Promise<ChangesInput<'creative.record_pictures'>> {
  const { store, folder, signal } = workplace;
  const sound = await readIndex(workplace, input.sound_index);
  const source = sourcePath === undefined ? stillCard : await openPictures(sourcePath, signal);
  const make = async (name: PictureTrackName): Promise<StoredPictures> => {
    const outputPath = path.join(folder, `${name}.mp4`);
    return storePictures(store, await encodePictures({ name, source, sound, outputPath, signal }), signal);
  };
  return {
    v360: await make('v360'),
    v720: await make('v720'),
    v1080: await make('v1080'),
    iframe: await make('iframe'),
  };
}

/** The moving picture of a local file. Throws as `inspectPicture`. */
async function openPictures(sourcePath: string, signal: AbortSignal): Promise<PictureSource> {
  const { picture, offsetSeconds } = await inspectPicture(sourcePath, signal);
  return { input: untrustedInput(`file:${sourcePath}`), frameRate: picture.frameRate, offsetSeconds };
}
