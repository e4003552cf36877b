import { z } from 'zod';
import type { FrameRate } from '@longwave/hls-media';

/** The moving picture of a source. */
export interface SourcePicture {
  /** As it is shown: turned as the file says, with square pixels. */
  readonly width: number;
  readonly height: number;
  readonly frameRate: FrameRate;
}

/** What a track of pictures is made of. */
export interface PictureSource {
  /** ffmpeg's options for it. */
  readonly input: readonly string[];
  /** Of the source. */
  readonly frameRate: FrameRate;
  /** Seconds of the source before the sound begins. */
  readonly offsetSeconds: number;
}

/** What ffprobe is asked about the streams. */
export const pictureEntries = {
  stream: 'width,height,sample_aspect_ratio,avg_frame_rate,r_frame_rate,nb_frames',
  others: ['stream_disposition=attached_pic,timed_thumbnails', 'stream_side_data=rotation'],
} as const;

const count = z.coerce.number().catch(0);
const ratio = z
  .string()
  .regex(/^\d+[:/]\d+$/)
  .transform((text) => text.split(/[:/]/).map(Number) as [number, number])
  .catch([0, 0]);

/** The fields of a stream that say what its picture is. */
export const pictureFields = {
  width: count,
  height: count,
  sample_aspect_ratio: ratio,
  avg_frame_rate: ratio,
  r_frame_rate: ratio,
  nb_frames: count,
  disposition: z
    .object({ attached_pic: count, timed_thumbnails: count })
    .catch({ attached_pic: 0, timed_thumbnails: 0 }),
  side_data_list: z.array(z.object({ rotation: count })).catch([]),
};

type Stream = z.output<z.ZodObject<typeof pictureFields>> & {
  readonly codec_type?: string | undefined;
  readonly duration: number;
};

/** The rate of a source that does not state one. */
const assumedRate: FrameRate = { frames: 30, seconds: 1 };

/** ffprobe's second rate is a guess: where pictures have no rate, it is the clock of the file, such as 1000 or 90000 a second. */
function rateOf({ avg_frame_rate: average, r_frame_rate: guess }: Stream): FrameRate {
  const isRate = (rate: readonly [number, number]) => rate.every((each) => each > 0);
  const isPlausible = isRate(guess) && guess[0] <= 120 * guess[1];
  const [frames, seconds] = isRate(average) ? average : isPlausible ? guess : [];
  return frames && seconds ? { frames, seconds } : assumedRate;
}

/** The stream that ffmpeg calls "V:0": no cover image. */
export const videoStreamOf = <S extends Stream>(streams: readonly S[]): S | undefined =>
  streams.find(
    ({ codec_type: type, disposition }) =>
      type === 'video' && disposition.attached_pic === 0 && disposition.timed_thumbnails === 0,
  );

/** The moving picture of a file: more than one picture long. */
export function pictureOf(streams: readonly Stream[]): SourcePicture | undefined {
  const stream = videoStreamOf(streams);
  if (!stream || stream.width < 1 || stream.height < 1) return undefined;
  const frameRate = rateOf(stream);
  const { nb_frames: pictures, duration, sample_aspect_ratio: aspect, side_data_list: sideData } = stream;
  if (pictures === 1 || (duration > 0 && (duration * frameRate.frames) / frameRate.seconds < 1.5)) return undefined;
  const shape = aspect.every((each) => each > 0) ? aspect[0] / aspect[1] : 1;
  const [width, height] = [Math.max(1, Math.round(stream.width * shape)), stream.height];
  const isTurned = sideData.some(({ rotation }) => Math.abs(rotation) % 180 === 90);
  return isTurned ? { width: height, height: width, frameRate } : { width, height, frameRate };
}

/** The rates that players know, up to 30 pictures a second. */
const usualRates: readonly FrameRate[] = [
  { frames: 24_000, seconds: 1001 },
  { frames: 24, seconds: 1 },
  { frames: 25, seconds: 1 },
  { frames: 30_000, seconds: 1001 },
  { frames: 30, seconds: 1 },
];

/**
 * The usual rate next to one of at most 30 pictures a second, where they differ by less than a thousandth (telephones measure 29.98); for
 * any other rate 30 pictures a second, so that nothing of the motion is lost.
 */
export function usualRate({ frames, seconds }: FrameRate): FrameRate {
  const distance = (rate: FrameRate) => Math.abs((frames * rate.seconds) / (seconds * rate.frames) - 1);
  const nearest = usualRates.reduce((best, rate) => (distance(rate) < distance(best) ? rate : best));
  return distance(nearest) < 0.001 ? nearest : { frames: 30, seconds: 1 };
}
