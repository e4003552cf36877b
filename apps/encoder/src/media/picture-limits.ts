import { durationTicks, type CellIndex } from '@longwave/hls-media';
import { MediaFault } from './media-fault.ts';
import type { SourcePicture } from './source-picture.ts';

/** Sides of the largest picture, upright or not; shown and as it is stored. */
const [longSide, shortSide] = [4096, 2304];
/** For the decoder, whose pictures may become larger in the middle of a file. */
export const maxPixels = longSide * shortSide;
const maxRate = 120;
const maxHours = 4;

const codecs: ReadonlySet<string> = new Set([
  ...['h264', 'hevc', 'vp8', 'vp9', 'av1', 'mpeg4', 'mpeg2video', 'prores', 'mjpeg'],
]);

const beyondLimits = (detail: string) => new MediaFault('media_picture_beyond_limits', detail);

const isTooLarge = ({ width, height }: { readonly width: number; readonly height: number }) =>
  Math.max(width, height) > longSide || Math.min(width, height) > shortSide;

/**
 * Throws `MediaFault` for a picture that would take too much memory or time, or that this service does not decode.
 * @param stored its size before it is stretched to square pixels
 */
export function checkPicture(
  picture: SourcePicture,
  stored: { readonly codec: string; readonly width: number; readonly height: number },
): void {
  if (!codecs.has(stored.codec))
    throw new MediaFault(
      'media_unsupported_codec',
      `Pictures of the codec "${stored.codec}" are not supported. Upload the video as H.264 in MP4 or MOV.`,
    );
  const large = [stored, picture].find(isTooLarge);
  if (large)
    throw beyondLimits(
      `The picture has ${large.width} x ${large.height} pixels; at most ${longSide} x ${shortSide} are possible. Upload a smaller video.`,
    );
  const { frames, seconds } = picture.frameRate;
  if (frames > maxRate * seconds)
    throw beyondLimits(
      `The video has more than ${maxRate} pictures a second. Upload it with fewer: at most 30 are shown.`,
    );
}

const secondsOf = (sound: CellIndex) => durationTicks(sound) / sound.timescale;

/** Throws `MediaFault` for sound that is too long to get pictures. */
export function checkPictureLength(sound: CellIndex): void {
  if (secondsOf(sound) > maxHours * 3600)
    throw beyondLimits(`The episode is longer than ${maxHours} hours, so it gets no pictures. Its sound is served.`);
}

/** How long one track of pictures may take. Usual sources take less than the time of their sound (docs/hls.md#what-pictures-cost). */
export const maxEncodingMs = (sound: CellIndex): number => Math.round(secondsOf(sound) * 20_000) + 5 * 60_000;

export const tookTooLong = (): MediaFault =>
  beyondLimits(
    'The picture of the file takes too long to decode and encode. Upload the video as H.264 with at most 1920 x 1080 pixels.',
  );
