import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  bitRates,
  cellIndexSchema,
  FragmentError,
  indexFragments,
  indexIFrames,
  pictureArguments,
  pictureLadder,
} from '../src/index.ts';

let folder: string;
/** Two cells of three pictures each. */
let whole: Buffer;
let moov: Buffer;

beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'longwave-hls-damaged-'));
  const file = path.join(folder, 'whole.mp4');
  const source = 'testsrc=size=64x36:rate=3:duration=2';
  const rung = { ...pictureLadder[0]!, width: 64, height: 36, maxRate: 100 };
  const args = pictureArguments(rung, { frames: 3, seconds: 1 }, [0, 3], { offsetSeconds: 0, pictures: 6 }, file);
  execFileSync('ffmpeg', ['-nostdin', '-v', 'error', '-y', '-f', 'lavfi', '-i', source, ...args]);
  whole = readFileSync(file);
  const { init, cells } = (await index(whole)).index;
  expect(cells.length).toBe(2);
  moov = whole.subarray(whole.indexOf('moov') - 4, init);
});
afterAll(() => rmSync(folder, { recursive: true }));

const reading = (bytes: Buffer) => [(from: number, to: number) => bytes.subarray(from, to), bytes.length] as const;
const index = (bytes: Buffer) => indexFragments(...reading(bytes));

/** Position of the only box of a type in `moov`, or in the second `moof`: no gap in time may come of damage to the last cell. */
const find = (type: string) => {
  const inMovie = moov.indexOf(type);
  return (inMovie < 0 ? whole.indexOf(type, whole.lastIndexOf('moof')) : whole.indexOf('moov') - 4 + inMovie) - 4;
};

/** The file with a number of 32 bits written at a place of the contents of a box. */
function patched(type: string, at: number, value: number, bytes: Buffer = Buffer.from(whole)): Buffer {
  bytes.writeUInt32BE(value, find(type) + 8 + at);
  return bytes;
}

/** The boxes that hold each other, from the outermost to the type. */
const pathsTo: Readonly<Record<string, readonly string[]>> = {
  mdhd: ['moov', 'trak', 'mdia', 'mdhd'],
  trex: ['moov', 'mvex', 'trex'],
  avc1: ['moov', 'trak', 'mdia', 'minf', 'stbl', 'stsd', 'avc1'],
  avcC: ['moov', 'trak', 'mdia', 'minf', 'stbl', 'stsd', 'avc1', 'avcC'],
  tfhd: ['moof', 'traf', 'tfhd'],
  tfdt: ['moof', 'traf', 'tfdt'],
  trun: ['moof', 'traf', 'trun'],
};

/** The file with a box cut to some bytes of contents, and all that hold it made shorter by as much. */
function shortened(type: string, length: number): Buffer {
  const at = find(type);
  const size = whole.readUInt32BE(at);
  const lost = size - 8 - length;
  const bytes = Buffer.concat([whole.subarray(0, at + 8 + length), whole.subarray(at + size)]);
  for (const holder of pathsTo[type]!) {
    const head = find(holder);
    bytes.writeUInt32BE(whole.readUInt32BE(head) - lost, head);
  }
  return bytes;
}

test.each<[string, () => Buffer]>([
  ['without a timescale', () => patched('mdhd', 12, 0)],
  ['with a cell without pictures', () => patched('trun', 4, 0)],
  ['with more pictures than fit into the box that lists them', () => patched('trun', 4, 4)],
  ['with the most pictures that a number can say', () => patched('trun', 4, 2 ** 32 - 1)],
  ['with more pictures than bytes of them', () => patched('trun', 4, 2 ** 32 - 1, patched('trun', 0, 0))],
  // Neither the fragment nor its pictures say how long they last, and the default is 0.
  ['with a cell without time', () => patched('trex', 12, 0, patched('tfhd', 0, 0x02_0000, patched('trun', 0, 0)))],
  ['with a second description behind the first', () => Buffer.concat([whole, moov])],
  [
    'with a second description before the second cell',
    () => {
      const second = whole.lastIndexOf('moof') - 4;
      return Buffer.concat([whole.subarray(0, second), moov, whole.subarray(second)]);
    },
  ],
])('a file %s is refused', async (_, damage) => {
  await expect(index(damage())).rejects.toThrow(FragmentError);
});

test.each(Object.keys(pathsTo))(
  'a file whose "%s" is cut at any byte is refused, or read without what is lost',
  async (type) => {
    const size = whole.readUInt32BE(find(type));
    for (let length = 0; length < size - 8; length++) await expectResultOrRefusal(shortened(type, length));
    await expect(index(shortened(type, 2))).rejects.toThrow(FragmentError);
  },
);

/** Either an index that playlists can be made of, or a `FragmentError`. */
async function expectResultOrRefusal(bytes: Buffer): Promise<void> {
  for (const indexFile of [indexFragments, indexIFrames])
    try {
      const { index: found, maxPictures } = await indexFile(...reading(bytes));
      expect(cellIndexSchema.parse(found)).toEqual(found);
      const { peak, average } = bitRates(found);
      expect([peak, average, maxPictures].every((each) => Number.isFinite(each) && each > 0)).toBe(true);
      expect(maxPictures).toBeLessThan(bytes.length);
    } catch (error) {
      expect(error).toBeInstanceOf(FragmentError);
    }
}

test('a file with any damage is refused by a FragmentError or gives a valid index, each in less than a second of CPU time', async () => {
  // Most damage is done to the numbers and names of boxes, not to pictures.
  const heads = Array.from({ length: whole.length }, (_, at) => at).filter((at) => {
    const mdat = whole.indexOf('mdat', whole.lastIndexOf('moof', at));
    return at < whole.indexOf('moof') || at < mdat + 4;
  });
  const place = fc.constantFrom(...heads);
  const damage = fc.oneof(
    { weight: 4, arbitrary: fc.tuple(fc.constant('byte'), place, fc.constantFrom(0, 1, 8, 0x7f, 0x80, 0xff)) },
    { weight: 4, arbitrary: fc.tuple(fc.constant('word'), place, fc.constantFrom(0, 1, 8, 2 ** 31, 2 ** 32 - 1)) },
    fc.tuple(fc.constant('loss'), fc.nat(whole.length), fc.nat(64)),
    fc.tuple(fc.constant('repeat'), fc.nat(whole.length), fc.nat(64)),
    fc.tuple(fc.constant('cut'), fc.nat(whole.length), fc.constant(0)),
  );
  const apply = (bytes: Buffer, [kind, at, value]: readonly [string, number, number]): Buffer => {
    if (kind === 'cut') return bytes.subarray(0, at);
    if (kind === 'loss') return Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + value)]);
    if (kind === 'repeat') return Buffer.concat([bytes.subarray(0, at + value), bytes.subarray(at)]);
    const copy = Buffer.from(bytes);
    if (kind === 'byte' && at < copy.length) copy[at] = value;
    if (kind === 'word' && at + 4 <= copy.length) copy.writeUInt32BE(value, at);
    return copy;
  };
  await fc.assert(
    fc.asyncProperty(fc.array(damage, { minLength: 1, maxLength: 3 }), async (damages) => {
      const before = process.cpuUsage();
      await expectResultOrRefusal(damages.reduce(apply, whole));
      expect(process.cpuUsage(before).user).toBeLessThan(1e6);
    }),
    { numRuns: 3000 },
  );
});
