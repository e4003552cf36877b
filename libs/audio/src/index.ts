export { tryParseFrameHeader, type FrameHeader } from './frame-header.ts';
export { framesOfChunks } from './frames-of-chunks.ts';
export { holdsItsData } from './side-info.ts';
export { walkFrameChunks, walkFrames } from './walk-frames.ts';
export { audioExtent, id3v2TagBytes, stripTags, tryParseVbrHeader } from './tags.ts';
export {
  byteOffsetAtTime,
  bytesOfFrames,
  canonicalFormat,
  canonicalViolation,
  checkCanonical,
  durationMsOfFrames,
  frameAtTime,
  framesOfSamples,
} from './canonical.ts';
export { cutPoint } from './cut-point.ts';
export { fadeFrames } from './fade.ts';
export { id3SizeBytes, renderId3, type Id3Chapter } from './id3.ts';
export { renderInfoFrame } from './info-frame.ts';
export { readSamples } from './pcm.ts';
export { createSilenceFinder, type Silence } from './silence.ts';
export { slicesOf, type Extent } from './slices-of.ts';
export { createWaveform, type Waveform } from './waveform.ts';
