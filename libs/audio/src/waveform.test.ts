import { expect, test } from '@jest/globals';
import { createWaveform } from './waveform.ts';

test('golden peaks: minimum and maximum of each pixel, eight bits, the last pixel short', () => {
  const builder = createWaveform(48000, 2);
  builder.push(Int16Array.of(0, 32767, -32768, -256, 255));
  expect(builder.finish()).toEqual({
    version: 2,
    channels: 1,
    sample_rate: 48000,
    samples_per_pixel: 2,
    bits: 8,
    length: 3,
    data: [0, 127, -128, -1, 0, 0],
  });
});

test('a pixel holds the peaks of both channels, wherever the samples are cut', () => {
  const builder = createWaveform(48000, 2, 2);
  builder.push(Int16Array.of(256, -512, 768));
  builder.push(Int16Array.of(1024, 0, 0));
  expect(builder.finish()).toMatchObject({ samples_per_pixel: 2, length: 2, data: [-2, 4, 0, 0] });
});
