/** Frames of a track against its time: 30000 frames in 1001 seconds, or 30 in 1. */
export interface FrameRate {
  readonly frames: number;
  readonly seconds: number;
}

/** The one format of sound in HLS: AAC-LC in stereo. A track's timescale is its sample rate. */
export const aacTrack = Object.freeze({
  codec: 'mp4a.40.2',
  sampleRate: 48_000,
  channels: 2,
  /** Samples per channel in one frame. */
  frameSamples: 1024,
});

export const aacFrameRate: FrameRate = { frames: aacTrack.sampleRate, seconds: aacTrack.frameSamples };

/** Frames that hold `samples` samples per channel, the last one filled up with silence. */
export const aacFramesOfSamples = (samples: number): number => Math.ceil(samples / aacTrack.frameSamples);
