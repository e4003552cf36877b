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
  /** Takes 16-bit samples, channels interleaved. */
  push(samples: Int16Array): void;
  finish(): Waveform;
}

/** Collects the peaks of all channels together. A last pixel of fewer samples is kept. */
export function createWaveform(sampleRate: number, samplesPerPixel: number, channels = 1): WaveformBuilder {
  if (!Number.isInteger(samplesPerPixel) || samplesPerPixel < 1)
    throw new RangeError('samplesPerPixel is a positive whole number');
  const data: number[] = [];
  let [min, max, count] = [32767, -32768, 0];
  const close = () => {
    data.push(min >> 8, max >> 8);
    [min, max, count] = [32767, -32768, 0];
  };
  return {
    push: (samples) => {
      for (let i = 0; i < samples.length; i++) {
        const sample = samples[i]!;
        if (sample < min) min = sample;
        if (sample > max) max = sample;
        if (++count === samplesPerPixel * channels) close();
      }
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
