import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { AdtsError, cellIndexSchema, muxAac } from '../src/index.ts';
import { adtsOf, payloads } from './_adts.ts';
import { encodeAac, muxed } from './_sound.ts';

/** Any number of frames in any cells. */
const grids = fc
  .tuple(fc.integer({ min: 1, max: 200 }), fc.array(fc.nat(199), { maxLength: 20 }))
  .map(([frames, inside]) => ({
    frames,
    starts: [...new Set([0, ...inside.filter((start) => start < frames)])].sort((a, b) => a - b),
  }));

test('each cell has its number and time at fixed places, and holds exactly its own frames, without the first of the encoder', async () => {
  await fc.assert(
    fc.asyncProperty(grids, fc.nat(3), async ({ frames, starts }, tooMany) => {
      const made = payloads(1 + frames + tooMany);
      const { index, bytes } = await muxed(adtsOf(made), starts, frames);
      expect(cellIndexSchema.parse(JSON.parse(JSON.stringify(index)))).toEqual(index);
      expect(index).toMatchObject({ timescale: 48_000, init: 605, bytes: bytes.length });
      expect(index.cells.length).toBe(starts.length);
      let end = 605;
      for (const [i, [offset, length, start, duration]] of index.cells.entries()) {
        const inCell = made.slice(1, 1 + frames).slice(starts[i], starts[i + 1]);
        expect([offset, start, duration]).toEqual([end, starts[i]! * 1024, inCell.length * 1024]);
        expect(bytes.toString('latin1', offset + 4, offset + 8)).toBe('moof');
        expect(bytes.readUInt32BE(offset + 20)).toBe(i + 1);
        expect(Number(bytes.readBigUInt64BE(offset + 60))).toBe(start);
        // default-base-is-moof, which players with Media Source Extensions ask for.
        expect(bytes.readUInt32BE(offset + 40)).toBe(0x02_0000);
        const sound = Buffer.concat(inCell);
        const moof = bytes.readUInt32BE(offset);
        expect(bytes.toString('latin1', offset + moof + 4, offset + moof + 8)).toBe('mdat');
        expect(bytes.subarray(offset + moof + 8, offset + length)).toEqual(sound);
        const sizes = inCell.map((_, frame) => bytes.readUInt32BE(offset + 88 + 4 * frame));
        expect(sizes).toEqual(inCell.map((frame) => frame.length));
        end = offset + length;
      }
      expect(end).toBe(bytes.length);
    }),
    { numRuns: 50 },
  );
});

test('the bytes do not depend on how the stream is cut into chunks', async () => {
  const stream = adtsOf(payloads(41));
  const { bytes } = await muxed(stream, [0, 13, 14], 40);
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(stream.length), { maxLength: 60 }), async (cuts) => {
      const at = [0, ...cuts.toSorted((a, b) => a - b), stream.length];
      const chunks = at.slice(1).map((to, i) => stream.subarray(at[i], to));
      const written: Buffer[] = [];
      await muxAac(chunks, [0, 13, 14], 40, (some) => void written.push(some));
      expect(Buffer.concat(written)).toEqual(bytes);
    }),
    { numRuns: 50 },
  );
});

test('a cell is written before the next one is read, so an episode of any length takes the memory of one cell', async () => {
  const perCell = 100;
  const stream = adtsOf(payloads(perCell));
  let read = 0;
  let most = 0;
  let written = 0;
  function* chunks() {
    yield adtsOf(payloads(1));
    for (let cell = 0; cell < 200; cell++) {
      read++;
      most = Math.max(most, read - written);
      yield stream;
    }
  }
  const starts = Array.from({ length: 200 }, (_, cell) => cell * perCell);
  await muxAac(chunks(), starts, 200 * perCell, async () => {
    await Promise.resolve();
    // The first write is the initialization section.
    written = read;
  });
  expect(most).toBe(1);
});

test('two encodes of one sound give equal bytes', () => {
  const pcm = Buffer.from(Float32Array.from({ length: 96_000 }, (_, n) => Math.sin(n / 7 + n * n * 1e-7) / 3).buffer);
  expect(encodeAac(pcm).equals(encodeAac(pcm))).toBe(true);
});

const altered = (at: number, value: number) => {
  const stream = adtsOf([new Uint8Array(10), new Uint8Array(20)]);
  stream[at] = value;
  return stream;
};

test.each([
  ['bytes that are no frame', altered(17, 0xfe), 'not_a_frame', 17],
  ['another sampling rate', altered(19, (1 << 6) | (4 << 2)), 'other_parameters', 17],
  ['mono', altered(20, 1 << 6), 'other_parameters', 17],
  ['another profile', altered(19, 3 << 2), 'other_parameters', 17],
  ['several blocks in a frame', altered(23, 0xfd), 'other_parameters', 17],
  ['a frame of no length', altered(21, 0), 'not_a_frame', 17],
  ['a cut frame', altered(0, 0xff).subarray(0, 40), 'cut_frame', 17],
  ['a cut header', altered(0, 0xff).subarray(0, 20), 'cut_frame', 17],
])('%s are refused, with their place', async (_, stream, reason, offset) => {
  const refused = muxAac([stream], [0], 1, () => undefined);
  await expect(refused).rejects.toThrow(AdtsError);
  await expect(refused).rejects.toMatchObject({ reason, offset });
});

test('an encoder that made too few frames is a failure', async () => {
  await expect(muxAac([adtsOf(payloads(10))], [0], 10, () => undefined)).rejects.toThrow('made 9 frames of 10');
  await expect(muxAac([], [0], 10, () => undefined)).rejects.toThrow('made 0 frames of 10');
});

test.each([[[1, 2]], [[0, 2, 2]], [[0, 10]], [[]]])('cells that begin at %j are refused', async (starts) => {
  await expect(muxAac([adtsOf(payloads(11))], starts, 10, () => undefined)).rejects.toThrow(RangeError);
});
