import { describe, expect, test } from '@jest/globals';
import { formatsOf, looksLikeMedia, typeFits } from './audio-format.ts';

const bytes = (text: string) => Buffer.from(text.padEnd(64, '\0'), 'latin1');

describe('the first bytes tell the format', () => {
  test.each([
    ['an ID3 tag', 'ID3\x04', ['mp3', 'aac', 'flac']],
    ['an MPEG-1 layer III frame', '\xff\xfb\x90\x64', ['mp3']],
    ['an MPEG-2 layer III frame', '\xff\xf3\x40\xc4', ['mp3']],
    ['an ADTS frame', '\xff\xf1\x50\x80', ['aac']],
    ['FLAC', 'fLaC\0', ['flac']],
    ['Ogg with Vorbis', `OggS${'\0'.repeat(24)}\x01vorbis`, ['ogg']],
    ['Ogg with Opus', `OggS${'\0'.repeat(24)}OpusHead`, ['ogg', 'opus']],
    ['WAVE', 'RIFF\x10\0\0\0WAVEfmt ', ['wav']],
    ['WAVE above 4 GB', 'RF64\xff\xff\xff\xffWAVEds64', ['wav']],
    ['MP4', '\0\0\0\x18ftypM4A ', ['m4a']],
    ['QuickTime without a brand', '\0\0\0\x08wide', ['m4a']],
    ['AVI', 'RIFF\x10\0\0\0AVI LIST', []],
    ['an MPEG layer II frame', '\xff\xfd\x90\x04', []],
    ['PNG', '\x89PNG\r\n\x1a\n', []],
    ['text', 'Hello', []],
  ])('%s', (_name, start, formats) => {
    expect(formatsOf(bytes(start))).toEqual(formats);
  });

  test('a file of a few bytes has no known format', () => {
    for (const length of [0, 1, 2, 3]) expect(formatsOf(Buffer.alloc(length, 0xff))).toEqual([]);
  });
});

test('a type that says nothing fits every format, another format’s type fits none', () => {
  for (const type of [undefined, 'application/octet-stream', 'audio/mpeg; charset=x', 'AUDIO/MPEG', 'audio/x-private'])
    expect(typeFits(type, 'mp3')).toBe(true);
  for (const type of ['text/html', 'audio/flac', 'video/webm', 'constructor'])
    expect(typeFits(type, 'mp3')).toBe(false);
  expect(typeFits('application/ogg', 'opus')).toBe(true);
});

test('known bytes outrank the type; unknown bytes need an audio or video type; markup is neither', () => {
  expect(looksLikeMedia(bytes('ID3'), 'text/plain')).toBe(true);
  expect(looksLikeMedia(bytes('??'), 'video/x-matroska')).toBe(true);
  expect(looksLikeMedia(bytes('??'), 'application/octet-stream')).toBe(false);
  expect(looksLikeMedia(bytes(' <html>'), 'audio/mpeg')).toBe(false);
  expect(looksLikeMedia(bytes('{"error":1}'), 'audio/mpeg')).toBe(false);
});
