import { createHash } from 'node:crypto';
import path from 'node:path';
import { buffer } from 'node:stream/consumers';
import type { ChangesInput } from '@longwave/command-catalog';
import { cellIndexSchema, type CellIndex } from '@longwave/hls-media';
import { encodePictures } from '../media/encode-pictures.ts';
import { inspectPicture } from '../media/inspect-source.ts';
import { untrustedInput } from '../media/run-ffmpeg.ts';
import type { JobInput } from './job-input.ts';
import { requireSameSource, type Workplace } from './make-track.ts';
import { storePictures } from './stored-blobs.ts';
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
