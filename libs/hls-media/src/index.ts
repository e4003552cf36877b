export { aacFrameRate, aacFramesOfSamples } from './aac-track.ts';
export { cellGrid, firstFrames } from './cell-grid.ts';
export { cellIndexSchema, durationTicks, type CellIndex } from './cell-index.ts';
export { AdtsError } from './adts.ts';
export { muxAac } from './mux-aac.ts';
export { aacArguments } from './ffmpeg-arguments.ts';
export {
  composeTrack,
  createTrackReader,
  trackArrangementSchema,
  trackDigest,
  trackIndex,
  type TrackSlice,
} from './track-arrangement.ts';
