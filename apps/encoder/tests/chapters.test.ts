import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { id3SizeBytes, renderId3, stripTags } from '@longwave/audio';
import { ffmpeg } from '@longwave/test-kit';
import { listChapters, type ListedChapter } from '../src/media/list-chapters.ts';
import { measureSource } from '../src/media/measure-source.ts';
import { speech, temporaryFolder } from './_media.ts';

let folder: string;
let remove: () => void;
beforeAll(() => {
  const temporary = temporaryFolder();
  folder = temporary.path;
  remove = () => temporary[Symbol.dispose]();
});
afterAll(() => remove());

async function chaptersOf(inputPath: string): Promise<ListedChapter[]> {
  const { info, durationMs } = await measureSource(inputPath, () => undefined, new AbortController().signal);
  return listChapters(info.chapters, durationMs);
}

const metadata = `;FFMETADATA1
[CHAPTER]
TIMEBASE=1/1000
START=0
END=1500
title=Introduction
[CHAPTER]
TIMEBASE=1/1000
START=1500
END=4000
title=Zweiter Teil: 長い 🎙
[CHAPTER]
TIMEBASE=1/1000
START=4000
END=6000
title=Fin
`;
const wanted = [
  { start_ms: 0, title: 'Introduction' },
  { start_ms: 1500, title: 'Zweiter Teil: 長い 🎙' },
  { start_ms: 4000, title: 'Fin' },
];
const film = ['-f', 'lavfi', '-i', 'testsrc=s=160x90:r=25:d=6', '-c:v', 'libx264', '-preset', 'ultrafast'];

test.each([
  ['v3.mp3', ['-id3v2_version', '3']],
  ['v4.mp3', ['-id3v2_version', '4']],
  ['book.m4a', []],
  ['quicktime.m4a', ['-movflags', 'disable_chpl']],
  ['film.mp4', film],
  ['film.mov', film],
  ['film.m4v', [...film, '-f', 'mp4']],
  ['sound.mka', ['-c:a', 'libopus']],
])('chapters of %s are found', async (name, args) => {
  const [list, file] = [path.join(folder, 'chapters.txt'), path.join(folder, name)];
  writeFileSync(list, metadata);
  const inputs = ['-f', 'ffmetadata', '-i', list, '-f', 'lavfi', '-i', speech(6)];
  ffmpeg(...inputs, ...args, '-map_metadata', '0', '-map_chapters', '0', file);
  expect(await chaptersOf(file)).toEqual(wanted);
});

test.each([
  ['vorbis.ogg', 'libvorbis'],
  ['opus.opus', 'libopus'],
  ['flac.flac', 'flac'],
  ['flac.ogg', 'flac'],
])('Vorbis comments of %s are read as chapters', async (name, codec) => {
  const comments = [
    'CHAPTER001=00:00:00.000',
    'CHAPTER001NAME=Introduction',
    'CHAPTER001URL=https://example.com/',
    'CHAPTER002=00:00:01.500',
    'CHAPTER002NAME=Zweiter Teil: 長い 🎙',
    'CHAPTER003=00:00:04.000',
    'CHAPTER003NAME=Fin',
  ].flatMap((comment) => ['-metadata', comment]);
  const file = path.join(folder, name);
  ffmpeg('-f', 'lavfi', '-i', speech(6), '-c:a', codec, ...comments, file);
  expect(await chaptersOf(file)).toEqual(wanted);
});

test('chapters of our own ID3 tag are read back; a pause ends a chapter, and chapters after the end are left out', async () => {
  const plain = path.join(folder, 'plain.mp3');
  ffmpeg('-f', 'lavfi', '-i', speech(6), plain);
  const chapters = [
    { startMs: 0, endMs: 1500, title: 'Introduction' },
    { startMs: 2000, endMs: 9000, title: 'Zweiter Teil: 長い 🎙' },
    { startMs: 7000, endMs: 9000, title: 'later' },
  ];
  const content = { title: 'a', album: 'b', artist: 'c', lengthMs: 6000, chapters };
  const file = path.join(folder, 'own.mp3');
  writeFileSync(file, Buffer.concat([renderId3(content, id3SizeBytes(content)), stripTags(readFileSync(plain))]));
  expect(await chaptersOf(file)).toEqual([
    { start_ms: 0, title: 'Introduction', end_ms: 1500 },
    { start_ms: 2000, title: 'Zweiter Teil: 長い 🎙' },
  ]);
});

test('chapters of a film whose sound begins late are placed by the sound', async () => {
  const [list, file] = [path.join(folder, 'late.txt'), path.join(folder, 'late.mkv')];
  writeFileSync(list, metadata);
  const sound = ['-itsoffset', '1', '-f', 'lavfi', '-i', speech(5)];
  const pcm = ['-c:a', 'pcm_s16le'];
  ffmpeg(
    '-f',
    'ffmetadata',
    '-i',
    list,
    ...sound,
    ...film,
    ...pcm,
    '-map',
    '1:a',
    '-map',
    '2:v',
    '-map_chapters',
    '0',
    file,
  );
  expect(await chaptersOf(file)).toEqual([
    { start_ms: 0, title: 'Introduction' },
    { start_ms: 500, title: 'Zweiter Teil: 長い 🎙' },
    { start_ms: 3000, title: 'Fin' },
  ]);
});

test('a file without chapters has none', async () => {
  const file = path.join(folder, 'none.flac');
  ffmpeg('-f', 'lavfi', '-i', speech(1), file);
  expect(await chaptersOf(file)).toEqual([]);
});
