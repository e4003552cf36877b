import { expect, test } from '@jest/globals';
import { renderId3 } from './id3.ts';
import { audioExtent, id3v2TagBytes, stripTags, tryParseVbrHeader } from './tags.ts';
import { tryParseFrameHeader } from './frame-header.ts';

const frame = (fill: number) => {
  const bytes = Buffer.alloc(384, fill);
  bytes.writeUInt32BE(0xfffb9444);
  return bytes;
};
const sound = Buffer.concat([frame(1), frame(2)]);
const id3v1 = Buffer.concat([Buffer.from('TAG'), Buffer.alloc(125)]);

function ape(hasHeader: boolean): Buffer {
  const items = Buffer.alloc(20, 7);
  const footer = Buffer.alloc(32);
  footer.write('APETAGEX');
  footer.writeUInt32LE(2000, 8);
  footer.writeUInt32LE(items.length + 32, 12);
  footer.writeUInt32LE(hasHeader ? 0x8000_0000 : 0, 20);
  return Buffer.concat([...(hasHeader ? [Buffer.alloc(32, 5)] : []), items, footer]);
}

function xing(kind: string): Buffer {
  const bytes = frame(0);
  const at = 4 + 32;
  bytes.write(kind, at);
  bytes.writeUInt32BE(15, at + 4);
  bytes.writeUInt32BE(2, at + 8);
  bytes.writeUInt32BE(1152, at + 12);
  bytes.write('LAME3.100', at + 120);
  bytes.writeUIntBE((1105 << 12) | 700, at + 120 + 21, 3);
  return bytes;
}

const id3 = renderId3({ title: 'a', album: 'b', artist: 'c', lengthMs: 1 }, 200);

test.each([
  ['nothing', Buffer.alloc(0), Buffer.alloc(0)],
  ['ID3v2 and ID3v1', id3, id3v1],
  ['two ID3v2 tags', Buffer.concat([id3, id3]), Buffer.alloc(0)],
  ['APE without header, then ID3v1', Buffer.alloc(0), Buffer.concat([ape(false), id3v1])],
  ['APE with header', id3, ape(true)],
  ['Xing frame after ID3v2', Buffer.concat([id3, xing('Xing')]), id3v1],
  ['Info frame', xing('Info'), Buffer.alloc(0)],
])('%s around the sound is taken away', (_, before, after) => {
  expect(Buffer.from(stripTags(Buffer.concat([before, sound, after])))).toEqual(sound);
});

test('the header frame tells frames, bytes, delay and padding', () => {
  const bytes = xing('Info');
  expect(tryParseVbrHeader(bytes, 0, tryParseFrameHeader(bytes)!)).toEqual({
    kind: 'Info',
    frames: 2,
    sizeBytes: 1152,
    encoderDelay: 1105,
    encoderPadding: 700,
  });
  const vbri = frame(0);
  vbri.write('VBRI', 36);
  vbri.writeUInt32BE(5000, 46);
  vbri.writeUInt32BE(12, 50);
  expect(tryParseVbrHeader(vbri, 0, tryParseFrameHeader(vbri)!)).toEqual({ kind: 'VBRI', frames: 12, sizeBytes: 5000 });
  expect(tryParseVbrHeader(frame(0), 0, tryParseFrameHeader(frame(0))!)).toBeUndefined();
});

test('an ID3v2 size that is not sync-safe is no tag, and a tag longer than the file leaves nothing', () => {
  expect(id3v2TagBytes(Buffer.from('ID3\x03\0\0\0\0\0\xff', 'latin1'))).toBe(0);
  expect(audioExtent(Buffer.from('ID3\x03\0\0\x01\0\0\0abc', 'latin1'))).toEqual({ from: 13, to: 13 });
});
