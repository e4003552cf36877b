export { aacFrameRate, aacFramesOfSamples, aacTrack, type FrameRate } from './aac-track.ts';
export { cellGrid, firstFrames } from './cell-grid.ts';
export { cellIndexSchema, durationTicks, type CellIndex } from './cell-index.ts';
export { AdtsError } from './adts.ts';
export { muxAac } from './mux-aac.ts';
export { FragmentError } from './read-boxes.ts';
export { indexFragments, indexIFrames } from './index-fragments.ts';
export {
  aacArguments,
  iFrameArguments,
  iFrameTrack,
  pictureArguments,
  pictureLadder,
  pictureRate,
} from './ffmpeg-arguments.ts';
export {
  composeTrack,
  createTrackReader,
  trackArrangementSchema,
  trackDigest,
  trackIndex,
  type TrackReader,
  type TrackSlice,
} from './track-arrangement.ts';
export { bitRates, segmentsOf, type BitRates, type Segment } from './segments.ts';
export { breakCells, scheduleBreaks, type PlannedBreak, type ScheduledBreak } from './break-schedule.ts';
export { dateRangesOf, type DateRange } from './date-ranges.ts';
export {
  iFramePlaylist,
  mediaPlaylist,
  renderMediaPlaylist,
  subtitlePlaylist,
  type MediaPlaylist,
} from './media-playlist.ts';
export { renderMultivariant } from './multivariant-playlist.ts';
export { presentationTimeline, renderAssetList, renderCaptions, renderChapters } from './companions.ts';
