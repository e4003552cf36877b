import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { id3SizeBytes, renderId3 } from './id3.ts';
import { id3v2TagBytes } from './tags.ts';

/** Frames of a tag in order, as id → body. */
function readFrames(tag: Buffer, from = 10): [string, Buffer][] {
  const frames: [string, Buffer][] = [];
  for (let at = from; at + 10 <= tag.length && tag[at] !== 0;) {
    const size = tag.readUInt32BE(at + 4);
    frames.push([tag.toString('latin1', at, at + 4), tag.subarray(at + 10, at + 10 + size)]);
    at += 10 + size;
  }
  return frames;
}
const text = (body: Buffer) => body.subarray(3).toString('utf16le');

test('golden tag', () => {
  expect(renderId3({ title: 'Ü', album: 'B', artist: 'C', lengthMs: 24 }, 80).toString('hex')).toBe(
    '49443303000000000046' +
      '54495432000000050000' +
      '01fffedc00' +
      '54414c42000000050000' +
      '01fffe4200' +
      '54504531000000050000' +
      '01fffe4300' +
      '544c454e000000030000' +
      '003234' +
      '00'.repeat(12),
  );
});

test('whatever it says, a tag has exactly the size asked for and can be read back', () => {
  const name = fc.string({ unit: 'grapheme', maxLength: 60 }).map((value) => value.replaceAll('\0', '').toWellFormed());
  fc.assert(
    fc.property(
      name,
      name,
      name,
      fc.nat(1e9),
      fc.array(name, { maxLength: 20 }),
      fc.nat(5000),
      (title, album, artist, lengthMs, names, spare) => {
        const chapters = names.map((chapter, i) => ({ startMs: i * 1000, endMs: (i + 1) * 1000, title: chapter }));
        const content = { title, album, artist, lengthMs, chapters };
        const size = id3SizeBytes(content) + spare;
        const tag = renderId3(content, size);
        expect(tag.length).toBe(size);
        expect(id3v2TagBytes(tag)).toBe(size);
        const frames = readFrames(tag);
        expect(frames.map(([id]) => id)).toEqual([
          'TIT2',
          'TALB',
          'TPE1',
          'TLEN',
          ...(names.length ? ['CTOC'] : []),
          ...names.map(() => 'CHAP'),
        ]);
        expect(frames.slice(0, 3).map(([, body]) => text(body))).toEqual([title, album, artist]);
        expect(frames[3]![1].toString('latin1')).toBe(`\0${lengthMs}`);
        frames.slice(5).forEach(([, body], i) => {
          const at = body.indexOf(0) + 1;
          expect(body.toString('latin1', 0, at)).toBe(`chp${i}\0`);
          expect([body.readUInt32BE(at), body.readUInt32BE(at + 4)]).toEqual([i * 1000, (i + 1) * 1000]);
          expect(text(readFrames(body, at + 16)[0]![1])).toBe(names[i]);
        });
      },
    ),
    { numRuns: 100 },
  );
});

test('content that does not fit is refused', () => {
  const content = { title: 'a', album: 'b', artist: 'c', lengthMs: 1 };
  expect(() => renderId3(content, id3SizeBytes(content) - 1)).toThrow(RangeError);
  expect(() =>
    id3SizeBytes({ ...content, chapters: Array.from({ length: 256 }, () => ({ startMs: 0, endMs: 1, title: '' })) }),
  ).toThrow(RangeError);
});
