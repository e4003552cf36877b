import { createHash } from 'node:crypto';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { buffer } from 'node:stream/consumers';
import type { ChangesInput } from '@longwave/command-catalog';
import { cellIndexSchema, type CellIndex } from '@longwave/hls-media';
import { encodePictures, maxTrackBytes, type PictureTrackName } from '../media/encode-pictures.ts';
import { inspectPicture } from '../media/inspect-source.ts';
import { checkPictureLength } from '../media/picture-limits.ts';
import type { PictureSource } from '../media/source-picture.ts';
import { stillCard } from '../media/still-card.ts';
import { checkFreeDisk } from './fetch-source.ts';
import type { JobInput } from './job-input.ts';
import { requireSameSource, type Workplace } from './make-track.ts';
import type { Completion } from './report.ts';
import { storePictures, type StoredPictures } from './stored-blobs.ts';
import { untilAborted } from './until-aborted.ts';

/**
 * The index of a sound's track from the store. Throws `MediaFault` for sound that is too long to get pictures, a plain error when the store
 * does not have it whole.
 */
async function readIndex(
  { store, signal }: Workplace,
  { storage_key: key, sha256 }: { readonly storage_key: string; readonly sha256: string },
): Promise<CellIndex> {
  const body = await untilAborted(store.get(key), signal, (late) => late.destroy());
  const bytes = await untilAborted(buffer(body), signal);
  if (createHash('sha256').update(bytes).digest('hex') !== sha256)
    throw new Error('the object store has other cells of the sound');
  const index = cellIndexSchema.parse(JSON.parse(bytes.toString()));
  checkPictureLength(index);
  return index;
}

/** Encodes a track and stores it, if the disk has room for it; its files are gone after that. Throws as `encodePictures`. */
async function makeOne(
  name: PictureTrackName,
  source: PictureSource,
  sound: CellIndex,
  { store, folder, signal, progress }: Workplace,
): Promise<StoredPictures> {
  const outputPath = path.join(folder, `${name}.mp4`);
  await checkFreeDisk(outputPath, maxTrackBytes(name, sound));
  const onFraction = (fraction: number) => progress.report('encoding', fraction);
  const pictures = await encodePictures({ name, source, sound, outputPath, onFraction, signal });
  progress.report('storing', 0);
  const stored = await storePictures(store, pictures, signal);
  await Promise.all([pictures.path, pictures.index.path].map((file) => rm(file, { force: true })));
  return stored;
}

type VideoInput = Extract<JobInput, { kind: 'encode_hls_video' | 'encode_creative_pictures' }>;
type StillInput = Extract<JobInput, { kind: 'encode_creative_pictures' }>;

/**
 * One track of the pictures of a production, or all sizes of those of an ad. Throws `MediaFault` when the source is not the file that the MP3
 * was made of any more, or has no moving picture within the limits; otherwise as `encodePictures`.
 * @param fetch brings the source; it is not called when the sound already says that there are no pictures
 */
export async function makeVideo(
  input: VideoInput,
  workplace: Workplace,
  fetch: () => Promise<{ readonly path: string; readonly sha256: string }>,
): Promise<Completion> {
  const sound = await readIndex(workplace, input.sound_index);
  const fetched = await fetch();
  if (input.kind === 'encode_hls_video') requireSameSource(input, fetched);
  const { picture, source } = await inspectPicture(fetched.path, workplace.signal);
  if (input.kind === 'encode_creative_pictures')
    return { commandType: 'creative.record_pictures', changes: await makeAdPictures(source, sound, workplace) };
  const { width, height, frameRate } = picture;
  return {
    commandType: 'production.record_track',
    changes: {
      track: input.track,
      file: await makeOne(input.track, source, sound, workplace),
      picture: { width, height, frame_rate: frameRate },
    },
  };
}

/** The pictures of an ad of sound: a still one. Throws as `encodePictures`. */
export const makeStillPictures = async (input: StillInput, workplace: Workplace) =>
  makeAdPictures(stillCard, await readIndex(workplace, input.sound_index), workplace);

/** All sizes of the pictures of an ad, as long as its sound. */
async function makeAdPictures(
  source: PictureSource,
  sound: CellIndex,
  workplace: Workplace,
): Promise<ChangesInput<'creative.record_pictures'>> {
  const make = (name: PictureTrackName) => makeOne(name, source, sound, workplace);
  return {
    v360: await make('v360'),
    v720: await make('v720'),
    v1080: await make('v1080'),
    iframe: await make('iframe'),
  };
}
