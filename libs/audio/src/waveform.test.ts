import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createWaveform } from './waveform.ts';

const pcm = (samples: readonly number[]) => Buffer.from(Int16Array.from(samples).buffer);

test('golden peaks: minimum and maximum of each pixel, eight bits, the last pixel short', () => {
  const builder = createWaveform(48000, 2);
  builder.push(pcm([0, 32767, -32768, -256, 255]));
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

test('chunks that end inside a sample change nothing', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: -32768, max: 32767 }), { maxLength: 200 }),
      fc.integer({ min: 1, max: 9 }),
      fc.integer({ min: 1, max: 7 }),
      (samples, perPixel, size) => {
        const whole = createWaveform(8000, perPixel);
        whole.push(pcm(samples));
        const chunked = createWaveform(8000, perPixel);
        const bytes = pcm(samples);
        for (let at = 0; at < bytes.length; at += size) chunked.push(bytes.subarray(at, at + size));
        expect(chunked.finish()).toEqual(whole.finish());
      },
    ),
  );
});
