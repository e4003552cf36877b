import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { tryParseFrameHeader } from './frame-header.ts';
import { readSideInfo, sideInfoBytes } from './side-info.ts';

const read = (hex: string) => {
  const bytes = Buffer.from(hex, 'hex');
  return readSideInfo(bytes, 0, tryParseFrameHeader(bytes)!);
};

test('main_data_begin has 9 bits in version 1 and 8 in version 2, after the CRC if there is one', () => {
  expect(read('fffb9064ff80ffff').mainDataBegin).toBe(511);
  expect(read('fffa90640000ff80').mainDataBegin).toBe(511);
  expect(read('fff384c4ff800000').mainDataBegin).toBe(255);
});

test('lengths are found where the fields of the standard put them', () => {
  const kinds = [
    // Version 1 stereo and mono, version 2 stereo and mono: the fields before the first granule, granules, bits of one.
    { word: 'fffb9044', begin: 9, others: 3 + 4 + 4, granules: 4, granuleBits: 59 },
    { word: 'fffb90c4', begin: 9, others: 5 + 4, granules: 2, granuleBits: 59 },
    { word: 'fff38444', begin: 8, others: 2, granules: 2, granuleBits: 63 },
    { word: 'fff384c4', begin: 8, others: 1, granules: 1, granuleBits: 63 },
  ];
  const length = fc.integer({ min: 0, max: 4095 });
  const four = fc.tuple(length, length, length, length);
  fc.assert(
    fc.property(
      fc.constantFrom(...kinds),
      fc.nat(511),
      four,
      fc.constantFrom('0', '1'),
      (kind, begin, lengths, rest) => {
        const bits = (value: number, count: number) => value.toString(2).padStart(count, '0').slice(-count);
        const used = lengths.slice(0, kind.granules);
        const fields = [
          bits(begin, kind.begin),
          rest.repeat(kind.others),
          ...used.map((each) => bits(each, 12) + rest.repeat(kind.granuleBits - 12)),
        ].join('');
        const header = Buffer.from(kind.word, 'hex');
        const parsed = tryParseFrameHeader(header)!;
        expect(fields).toHaveLength(sideInfoBytes(parsed) * 8);
        const side = Buffer.from(fields.match(/.{8}/g)!.map((byte) => Number.parseInt(byte, 2)));
        expect(readSideInfo(Buffer.concat([header, side]), 0, parsed)).toEqual({
          mainDataBegin: begin % 2 ** kind.begin,
          mainDataBits: used.reduce((sum, each) => sum + each, 0),
        });
      },
    ),
  );
});
