import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
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

test('a tag of any content has exactly the requested size and can be read back', () => {
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

test('golden tag with a chapter and a picture', () => {
  const content = {
    title: '',
    album: '',
    artist: '',
    lengthMs: 0,
    chapters: [{ startMs: 1, endMs: 258, title: 'A' }],
    picture: { contentType: 'image/png' as const, bytes: Buffer.from([0xff, 0xfb]) },
  };
  expect(
    renderId3(content, id3SizeBytes(content))
      .subarray(10 + 3 * 13 + 12)
      .toString('hex'),
  ).toBe(
    '43544f430000000b0000' +
      '746f6300' + // toc
      '0301' +
      '6368703000' + // chp0
      '43484150000000240000' +
      '6368703000' +
      '00000001' +
      '00000102' +
      'ffffffffffffffff' +
      '54495432000000050000' +
      '01fffe4100' +
      '41504943000000' +
      '0f0000' +
      '00' +
      '696d6167652f706e6700' + // image/png
      '03' +
      '00' +
      'fffb',
  );
});

describe('ffprobe reads back', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'longwave-id3-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const run = (program: string, ...args: string[]) =>
    execFileSync(program, ['-v', 'error', ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  /** A tag in front of bare frames, as ffprobe sees it. */
  function read(tag: Buffer): {
    format: { tags: Record<string, string> };
    streams: { codec_name: string; width?: number; disposition: { attached_pic: number } }[];
    chapters: { start: number; end: number; time_base: string; tags: { title: string } }[];
  } {
    const silence = ['-f', 'lavfi', '-i', 'anullsrc=r=48000:cl=stereo', '-t', '1', '-b:a', '128k'];
    const bare = ['-write_xing', '0', '-id3v2_version', '0', '-f', 'mp3', 'pipe:1'];
    const file = path.join(folder, 'tagged.mp3');
    writeFileSync(file, Buffer.concat([tag, run('ffmpeg', ...silence, ...bare)]));
    const shown = ['-show_format', '-show_streams', '-show_chapters', '-of', 'json', file];
    return JSON.parse(run('ffprobe', ...shown).toString()) as ReturnType<typeof read>;
  }

  test('titles of every script, chapters and the front cover', () => {
    const image = ['-f', 'lavfi', '-i', 'testsrc=s=600x600', '-frames:v', '1', '-f', 'image2pipe', '-c:v', 'mjpeg'];
    const picture = { contentType: 'image/jpeg' as const, bytes: run('ffmpeg', ...image, 'pipe:1') };
    const titles = ['Übergröße', '長い話', 'مقدمة', '🎙 end'];
    const chapters = titles.map((title, i) => ({ startMs: i * 250, endMs: (i + 1) * 250, title }));
    const content = { title: 'Épisode 1', album: 'Подкаст', artist: 'Ann & Bob', lengthMs: 1008, chapters, picture };
    const found = read(renderId3(content, id3SizeBytes(content) + 1000));
    expect(found.format.tags).toMatchObject({
      title: 'Épisode 1',
      album: 'Подкаст',
      artist: 'Ann & Bob',
      TLEN: '1008',
    });
    expect(found.chapters.map(({ start, end, time_base, tags }) => [start, end, time_base, tags.title])).toEqual(
      chapters.map(({ startMs, endMs, title }) => [startMs, endMs, '1/1000', title]),
    );
    expect(found.streams.map(({ codec_name }) => codec_name)).toEqual(['mp3', 'mjpeg']);
    expect(found.streams[1]).toMatchObject({ width: 600, disposition: { attached_pic: 1 } });
  });

  test('a thousand chapters', () => {
    const chapters = Array.from({ length: 1000 }, (_, i) => ({ startMs: i, endMs: i + 1, title: `chapter ${i}` }));
    const content = { title: 'a', album: 'b', artist: 'c', lengthMs: 1008, chapters };
    const found = read(renderId3(content, id3SizeBytes(content)));
    expect(found.chapters.map(({ tags }) => tags.title)).toEqual(chapters.map(({ title }) => title));
  });
});

test('a table of contents lists at most 255 entries; more are listed by tables below it', () => {
  const chapters = Array.from({ length: 1000 }, (_, i) => ({ startMs: i, endMs: i + 1, title: '' }));
  const content = { title: 'a', album: 'b', artist: 'c', lengthMs: 1, chapters };
  const tables = readFrames(renderId3(content, id3SizeBytes(content)))
    .filter(([id]) => id === 'CTOC')
    .map(([, body]) => {
      const at = body.indexOf(0);
      const entries = body
        .toString('latin1', at + 3)
        .split('\0')
        .slice(0, -1);
      return { id: body.toString('latin1', 0, at), flags: body[at + 1], count: body[at + 2], entries };
    });
  expect(tables.map(({ id, flags, count }) => [id, flags, count])).toEqual([
    ['toc', 3, 4],
    ['toc0', 1, 255],
    ['toc1', 1, 255],
    ['toc2', 1, 255],
    ['toc3', 1, 235],
  ]);
  expect(tables[0]!.entries).toEqual(['toc0', 'toc1', 'toc2', 'toc3']);
  expect(tables.slice(1).flatMap(({ entries }) => entries)).toEqual(chapters.map((_, i) => `chp${i}`));
});

test('content that does not fit is refused', () => {
  const content = { title: 'a', album: 'b', artist: 'c', lengthMs: 1 };
  expect(() => renderId3(content, id3SizeBytes(content) - 1)).toThrow(RangeError);
});

test('genre, number, date, time and page come between the names and the length', () => {
  const content = {
    ...{ title: '', album: '', artist: '', lengthMs: 0, genre: 'Podcast', track: 12 },
    ...{ publishedAt: new Date('2026-03-09T05:07:59Z'), page: 'https://grün.example/ä b' },
  };
  const found = readFrames(renderId3(content, id3SizeBytes(content)));
  expect(found.map(([id]) => id).slice(3)).toEqual(['TCON', 'TRCK', 'TYER', 'TDAT', 'TIME', 'WOAF', 'TLEN']);
  expect(text(found[3]![1])).toBe('Podcast');
  expect(found.slice(4, 9).map(([, body]) => body.toString('latin1'))).toEqual([
    ...['\x0012', '\x002026', '\x000903', '\x000507'],
    'https://xn--grn-ioa.example/%C3%A4%20b',
  ]);
});
