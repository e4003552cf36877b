import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { buffer } from 'node:stream/consumers';
import { MediaFault } from '../media/media-fault.ts';
import { FfmpegExit, runFfmpeg } from '../media/run-ffmpeg.ts';
import { artworkSide } from './check-artwork.ts';
import type { ImageFile } from './image-file.ts';

export interface RenderedImage {
  readonly size: number;
  readonly contentType: 'image/jpeg' | 'image/webp';
  readonly bytes: Buffer;
}

/** The size that directories advise for artwork (PRX: 512 KB). */
const advisedBytes = 512 * 1024;
/** ffmpeg's JPEG quality, 2 is best: the first that stays below the advised size, else the last. */
const jpegQualities = [2, 3, 4, 6, 8, 11] as const;
const webpQuality = 82;
const smallSizes = [1400, 600] as const;

const localOnly = ['-protocol_whitelist', 'file,pipe'];
/** One thread and no version strings: equal pixels give equal bytes. */
const exact = ['-threads', '1', '-flags:v', '+bitexact', '-fflags', '+bitexact', '-map_metadata', '-1'];
const toStdout = ['-frames:v', '1', '-f', 'image2pipe', 'pipe:1'];
const careful = 'flags=lanczos+accurate_rnd+full_chroma_int+full_chroma_inp';

/**
 * Square renditions of one image, in RGB (as the YCbCr of JPEG), upright, without metadata: JPEG of its own size, 1400 and 600, WebP
 * of 600. Nothing is enlarged. Equal input gives equal bytes (with the same ffmpeg). Works in `folder`.
 * Throws `MediaFault` when the image cannot be decoded, the signal's reason when aborted.
 */
export async function renderArtwork(image: ImageFile, folder: string, signal: AbortSignal): Promise<RenderedImage[]> {
  const own = image.width;
  const run = (args: readonly string[]) => runForBytes(['-loglevel', 'error', ...args], signal);
  const sourcePath = path.join(folder, 'source');
  await writeFile(sourcePath, image.bytes);
  const flat = await decode(image, sourcePath, run);
  const flatPath = path.join(folder, 'flat');
  await writeFile(flatPath, flat);
  const raw = ['-f', 'rawvideo', '-pixel_format', 'rgb24', '-video_size', `${own}x${own}`, '-i', `file:${flatPath}`];

  const encode = (size: number, codec: readonly string[], pixelFormat: string) =>
    run([
      ...localOnly,
      ...raw,
      '-vf',
      `scale=${size}:${size}:${careful},format=${pixelFormat}`,
      ...codec,
      ...exact,
      ...toStdout,
    ]);
  const jpeg = async (size: number): Promise<RenderedImage> => {
    let bytes: Buffer = Buffer.alloc(0);
    for (const quality of jpegQualities) {
      bytes = await encode(size, ['-c:v', 'mjpeg', '-q:v', String(quality), '-huffman', 'optimal'], 'yuvj420p');
      if (bytes.length <= advisedBytes) break;
    }
    return { size, contentType: 'image/jpeg', bytes };
  };

  const renditions: RenderedImage[] = [];
  for (const size of new Set([own, ...smallSizes])) renditions.push(await jpeg(size));
  const webp = ['-c:v', 'libwebp', '-quality', String(webpQuality), '-compression_level', '6'];
  renditions.push({ size: 600, contentType: 'image/webp', bytes: await encode(600, webp, 'yuv420p') });
  return renditions;
}

/** Decodes to RGB, three bytes a pixel, on white where the image is transparent. */
async function decode(
  image: ImageFile,
  sourcePath: string,
  run: (args: readonly string[]) => Promise<Buffer>,
): Promise<Buffer> {
  const side = image.width;
  const [demuxer, decoder] = image.kind === 'jpeg' ? ['jpeg_pipe', 'mjpeg'] : ['png_pipe', 'png'];
  // Decoders count pixels in whole blocks.
  const maxPixels = String((artworkSide.max + 64) ** 2);
  const input = ['-f', demuxer, '-c:v', decoder, '-max_pixels', maxPixels, '-i', `file:${sourcePath}`];
  const graph = [
    `[0:v]scale=${side}:${side}:${careful},format=rgba[image]`,
    `color=white:s=${side}x${side}:r=25,format=rgba[paper]`,
    '[paper][image]overlay=format=rgb:eof_action=endall,format=rgb24',
  ].join(';');
  try {
    const args = [...localOnly, '-xerror', '-err_detect', 'explode', ...input, '-filter_complex', graph];
    const pixels = await run([...args, '-c:v', 'rawvideo', '-frames:v', '1', '-f', 'rawvideo', 'pipe:1']);
    if (pixels.length === side * side * 3) return pixels;
  } catch (error) {
    if (!(error instanceof FfmpegExit)) throw error;
  }
  throw new MediaFault(
    'artwork_not_acceptable',
    'The image is damaged and cannot be decoded. Export it again as JPEG or PNG.',
  );
}

async function runForBytes(args: readonly string[], signal: AbortSignal): Promise<Buffer> {
  let bytes: Buffer = Buffer.alloc(0);
  await runFfmpeg('ffmpeg', args, { signal, consume: async (stdout) => void (bytes = await buffer(stdout)) });
  return bytes;
}
