/** Peaks for drawing, in the JSON form of audiowaveform, version 2 (github.com/bbc/audiowaveform, DataFormat.md). */
export interface Waveform {
  readonly version: 2;
  readonly channels: 1;
  readonly sample_rate: number;
  readonly samples_per_pixel: number;
  readonly bits: 8;
  /** Number of pixels. */
  readonly length: number;
  /** Minimum and maximum of each pixel in turn, −128 … 127. */
  readonly data: readonly number[];
}

export interface WaveformBuilder {
  /** Takes mono signed 16-bit little-endian samples; a chunk may end inside a sample. */
  push(chunk: Uint8Array): void;
  finish(): Waveform;
}

/** Collects peaks from PCM. A last pixel of fewer samples is kept. */
export function createWaveform(sampleRate: number, samplesPerPixel: number): WaveformBuilder {
  if (!Number.isInteger(samplesPerPixel) || samplesPerPixel < 1)
    throw new RangeError('samplesPerPixel is a positive whole number');
  const data: number[] = [];
  let [min, max, count] = [32767, -32768, 0];
  let half: number | undefined;
  const add = (sample: number) => {
    if (sample < min) min = sample;
    if (sample > max) max = sample;
    if (++count === samplesPerPixel) close();
  };
  const close = () => {
    data.push(min >> 8, max >> 8);
    [min, max, count] = [32767, -32768, 0];
  };
  return {
    push: (chunk) => {
      let at = 0;
      if (half !== undefined && chunk.length) {
        add(((half | (chunk[0]! << 8)) << 16) >> 16);
        half = undefined;
        at = 1;
      }
      for (; at + 1 < chunk.length; at += 2) add(((chunk[at]! | (chunk[at + 1]! << 8)) << 16) >> 16);
      if (at < chunk.length) half = chunk[at];
    },
    finish: () => {
      if (count) close();
      return {
        version: 2,
        channels: 1,
        sample_rate: sampleRate,
        samples_per_pixel: samplesPerPixel,
        bits: 8,
        length: data.length / 2,
        data,
      };
    },
  };
}
