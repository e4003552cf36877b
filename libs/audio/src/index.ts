export { tryParseFrameHeader, type FrameHeader } from './frame-header.ts';
export { holdsItsData, readSideInfo, type SideInfo } from './side-info.ts';
export { FrameError, walkFrameChunks, walkFrames, type Frame } from './walk-frames.ts';
export { audioExtent, id3v2TagBytes, stripTags, tryParseVbrHeader, type VbrHeader } from './tags.ts';
export {
  byteOffsetAtTime,
  bytesOfFrames,
  canonicalFormat,
  canonicalViolation,
  checkCanonical,
  checkCanonicalChunks,
  durationMsOfBytes,
  durationMsOfFrames,
  frameAtTime,
  framesOfBytes,
  framesOfSamples,
  nearestFrameBoundary,
  timeMsAtByte,
  type CanonicalCheck,
  type CanonicalViolation,
} from './canonical.ts';
export { cutPoint } from './cut-point.ts';
export { fadeFrames } from './fade.ts';
export { id3SizeBytes, renderId3, type Id3Chapter, type Id3Content, type Id3Picture } from './id3.ts';
export { renderInfoFrame } from './info-frame.ts';
export { readSamples } from './pcm.ts';
export { createSilenceFinder, silencesMax, type Silence, type SilenceFinder } from './silence.ts';
export { createWaveform, type Waveform, type WaveformBuilder } from './waveform.ts';
