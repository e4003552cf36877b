import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { readSamples } from './pcm.ts';

test('samples are the same in chunks of any sizes, wherever those lie in memory', async () => {
  const sizes = fc.array(fc.integer({ min: 0, max: 7 }), { minLength: 1, maxLength: 60 });
  await fc.assert(
    fc.asyncProperty(fc.int16Array({ maxLength: 100 }), sizes, fc.boolean(), async (samples, cuts, half) => {
      // One byte in front: no chunk is sure to begin at an even byte.
      const memory = Buffer.concat([
        Buffer.from([7]),
        Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength),
      ]);
      const bytes = Buffer.concat([memory, Buffer.from(half ? [9] : [])]).subarray(1);
      const chunks: Uint8Array[] = [];
      let at = 0;
      for (const size of cuts) chunks.push(bytes.subarray(at, (at += size)));
      chunks.push(bytes.subarray(at));
      const read: number[] = [];
      for await (const part of readSamples(chunks)) read.push(...part);
      expect(read).toEqual([...samples]);
    }),
  );
});
