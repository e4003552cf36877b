import type { FrameRate } from './aac-track.ts';

/** One size of the picture, from Apple's ladder for podcasts. Rates are kbit/s. */
export interface PictureRung {
  readonly height: number;
  readonly width: number;
  readonly profile: 'main' | 'high';
  readonly level: string;
  readonly maxRate: number;
}

/** From the smallest. Apple asks for 720p and 1080p. */
export const pictureLadder: readonly PictureRung[] = Object.freeze([
  { height: 360, width: 640, profile: 'main', level: '3.0', maxRate: 900 },
  { height: 480, width: 854, profile: 'main', level: '3.1', maxRate: 1400 },
  { height: 720, width: 1280, profile: 'high', level: '3.1', maxRate: 2800 },
  { height: 1080, width: 1920, profile: 'high', level: '4.0', maxRate: 5500 },
]);

/**
 * The rate of every rung of a source: its own, halved until it is at most 30 pictures a second. Throws `RangeError` for a source without a
 * rate, such as ffprobe's 0/0.
 */
export function pictureRate({ frames, seconds }: FrameRate): FrameRate {
  if (![frames, seconds].every((each) => Number.isSafeInteger(each) && each > 0))
    throw new RangeError(`${frames}/${seconds} is no rate of pictures`);
  if (frames <= 30 * seconds) return { frames, seconds };
  return pictureRate(frames % 2 === 0 ? { frames: frames / 2, seconds } : { frames, seconds: seconds * 2 });
}

/** Equal inputs give equal bytes, and nothing of the source's own data comes along. */
const bitExact = (stream: 'a' | 'v') => [
  '-map_metadata',
  '-1',
  '-map_chapters',
  '-1',
  '-fflags',
  '+bitexact',
  `-flags:${stream}`,
  '+bitexact',
];

/**
 * What ffmpeg does with the sound of its input: AAC on its standard output, for `muxAac`. The native coder `fast` takes half the time of the
 * default one and is closer to the source at this rate.
 * @param filters those of the MP3, with the same gain, but for what its encoder alone needs
 */
export const aacArguments = (filters: readonly string[]): string[] => [
  ...['-map', '0:a:0', '-af', filters.join(',')],
  ...['-c:a', 'aac', '-aac_coder', 'fast', '-b:a', '192k'],
  ...bitExact('a'),
  ...['-f', 'adts', 'pipe:1'],
];

/** What a track shows of the pictures of its input, and when. */
export interface PictureSpan {
  /** Seconds of the input before the track begins. Where its pictures begin later, the first one is held. */
  readonly offsetSeconds: number;
  /** How many pictures the track has. Where the input has fewer, the last one is held. */
  readonly pictures: number;
}

/**
 * One step, from any shape of pixels to the size with square ones: a step between would be as wide as the file says. Sides are even.
 */
const fit = ({ width, height }: Pick<PictureRung, 'width' | 'height'>) => {
  const side = (most: number, other: string) => `'max(2,2*trunc(round(min(${most},${other}))/2))'`;
  return `scale=w=${side(width, `${height}*dar`)}:h=${side(height, `${width}/dar`)}`;
};

/**
 * Pictures at the rate, from the beginning of the track on and without end: each whole, with square pixels, and with bars where the source has
 * another shape.
 */
const pictureFilters = ({ width, height }: Pick<PictureRung, 'width' | 'height'>, rate: string, offset: number) =>
  [
    `setpts=PTS-${offset.toFixed(6)}/TB,fps=${rate}:start_time=0`,
    fit({ width, height }),
    `pad=${width}:${height}:-1:-1,setsar=1,tpad=stop=-1:stop_mode=clone`,
  ].join(',');

/** The first moving picture, no cover image. */
const picturesOnly = ['-map', '0:V:0', '-an'];

/** Linux takes one argument of at most 128 KiB, which is about ten hours of cells. */
const maxArgumentBytes = 131_071;

/** A quarter of a picture before each first picture of a cell: ffmpeg takes the nearest picture, newer versions the next one. */
function keyFrameTimes(starts: readonly number[], { frames, seconds }: FrameRate): string {
  const times = starts.map((start) => ((Math.max(0, start - 0.25) * seconds) / frames).toFixed(3)).join(',');
  if (times.length > maxArgumentBytes) throw new RangeError('the pictures are too long for one run');
  return times;
}

const fragmented = '+frag_keyframe+empty_moov+default_base_moof';

/**
 * What ffmpeg does with the pictures of its input for one rung: a file with one fragment and one closed group of pictures per cell, for
 * `indexFragments`.
 * @param rate `pictureRate` of the source
 * @param starts the first picture of each cell (`firstFrames`)
 * @param output a file, or "pipe:1"
 */
export const pictureArguments = (
  { height, width, profile, level, maxRate }: PictureRung,
  rate: FrameRate,
  starts: readonly number[],
  { offsetSeconds, pictures }: PictureSpan,
  output: string,
): string[] => [
  ...picturesOnly,
  ...['-vf', pictureFilters({ width, height }, `${rate.frames}/${rate.seconds}`, offsetSeconds)],
  ...['-frames:v', String(pictures), '-c:v', 'libx264', '-preset', 'veryfast', '-profile:v', profile, '-level', level],
  ...['-crf', '23', '-maxrate', `${maxRate}k`, '-bufsize', `${maxRate * 2}k`, '-bf', '2', '-refs', '3'],
  // No key frame but at the beginning of cells, which are at most 4 s long.
  ...['-g', String(Math.ceil((6 * rate.frames) / rate.seconds)), '-keyint_min', '1', '-sc_threshold', '0'],
  ...['-flags', '+cgop', '-force_key_frames', keyFrameTimes(starts, rate)],
  ...['-pix_fmt', 'yuv420p', '-colorspace', 'bt709', '-color_primaries', 'bt709', '-color_trc', 'bt709'],
  ...['-color_range', 'tv', '-video_track_timescale', String(timescaleOf(rate))],
  ...bitExact('v'),
  ...['-movflags', `${fragmented}+negative_cts_offsets`, '-f', 'mp4', output],
];

/** Ticks per second in which a picture lasts a whole number of ticks. */
const timescaleOf = ({ frames }: FrameRate) => (frames < 1000 ? frames * 1000 : frames);

/** Pictures for seeking: two small ones a second, which Apple asks for. */
export const iFrameTrack = Object.freeze({ width: 640, height: 360, rate: Object.freeze({ frames: 2, seconds: 1 }) });

/** What ffmpeg does with the pictures of its input for seeking: each is a fragment (`indexIFrames`). */
export const iFrameArguments = ({ offsetSeconds, pictures }: PictureSpan, output: string): string[] => [
  ...picturesOnly,
  ...['-vf', pictureFilters(iFrameTrack, String(iFrameTrack.rate.frames), offsetSeconds)],
  ...['-frames:v', String(pictures), '-c:v', 'libx264', '-preset', 'veryfast', '-profile:v', 'main', '-level', '3.0'],
  ...['-crf', '28', '-g', '1', '-bf', '0', '-pix_fmt', 'yuv420p', '-video_track_timescale', '30000'],
  ...bitExact('v'),
  ...['-movflags', fragmented, '-f', 'mp4', output],
];
