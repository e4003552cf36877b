export { ffmpeg, makeAudio } from './ffmpeg.ts';
export { sha256 } from './sha256.ts';
export { until, type UntilOptions } from './until.ts';
