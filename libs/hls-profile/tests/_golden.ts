import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { answerHlsFile, makeHlsTracks, renderHlsPresentation, type HlsFiles, type HlsTracks } from '@longwave/test-kit';
import { checkPresentation, readPresentation, type Finding, type Profile, type ReadResource } from '../src/index.ts';

const base = 'https://media.example.com/show/';
function encode(kind: 'audio' | 'video'): HlsTracks {
  const folder = mkdtempSync(path.join(tmpdir(), 'longwave-hls-'));
  const tracks = makeHlsTracks(folder, kind);
  rmSync(folder, { recursive: true });
  return tracks;
}

const encoded = new Map<string, HlsTracks>();

/** Files of a presentation, with which a test may do what it likes. */
export function golden(kind: 'audio' | 'video'): HlsFiles {
  const tracks = encoded.get(kind) ?? encode(kind);
  encoded.set(kind, tracks);
  return renderHlsPresentation(tracks, base);
}

type Headers = Record<string, string>;

/** A reader of files, with a look at each answer. */
export const readerOf =
  (files: HlsFiles, alter: (headers: Headers, path: string) => void = () => undefined): ReadResource =>
  async ({ url, range }) => {
    const { pathname } = new URL(url);
    const text = range && `bytes=${range.offset}-${range.offset + range.length - 1}`;
    const answer = answerHlsFile(files, pathname.slice('/show/'.length), text);
    alter(answer.headers, pathname);
    return { url, ...answer };
  };

const checkedAt = Date.UTC(2026, 10, 1);

/** Everything that is found, and what was not judged. */
export async function judge(read: ReadResource, profile: Profile, extent: 'sample' | 'all' = 'all') {
  const { presentation, findings, notes } = await readPresentation(read, `${base}main.m3u8`, { extent });
  const found: readonly Finding[] = presentation ? checkPresentation(presentation, { profile, checkedAt }) : findings;
  return { found, notes, rules: [...new Set(found.map(({ rule }) => rule))].sort() };
}

/** Changes the files of these names. A change that changes nothing is an error of the test. */
export function edit(files: HlsFiles, names: RegExp, change: (text: string) => string): void {
  let changed = 0;
  for (const [name, bytes] of files) {
    if (!names.test(name)) continue;
    const text = bytes.toString();
    const after = change(text);
    if (after === text) continue;
    files.set(name, Buffer.from(after));
    changed += 1;
  }
  if (changed === 0) throw new Error(`No file ${names} was changed.`);
}

/** Where a box begins. */
const boxAt = (bytes: Buffer, type: string) => bytes.indexOf(type) - 4;

/** A track's initialization section with a box more in a box of it; appended to the file, to which its playlist then points. */
export function addBox(files: HlsFiles, name: string, within: 'moov' | 'trak', make: (init: Buffer) => Buffer): void {
  const file = files.get(`s/${name}.mp4`)!;
  const init = Buffer.from(file.subarray(0, boxAt(file, 'moof')));
  const box = make(init);
  const end = boxAt(init, within) + init.readUInt32BE(boxAt(init, within));
  for (const type of within === 'trak' ? ['moov', 'trak'] : ['moov'])
    init.writeUInt32BE(init.readUInt32BE(boxAt(init, type)) + box.length, boxAt(init, type));
  const longer = Buffer.concat([init.subarray(0, end), box, init.subarray(end)]);
  files.set(`s/${name}.mp4`, Buffer.concat([file, longer]));
  edit(files, new RegExp(`^(ad/)?${name}/`), (text) =>
    text.replace(/BYTERANGE="\d+@0"/, `BYTERANGE="${longer.length}@${file.length}"`),
  );
}

/** The `trak` of an initialization section. */
export const trakOf = (init: Buffer): Buffer =>
  init.subarray(boxAt(init, 'trak'), boxAt(init, 'trak') + init.readUInt32BE(boxAt(init, 'trak')));

/** An edit list that begins the media late by so many units. */
export function editListBox(mediaTime: number): Buffer {
  const box = Buffer.alloc(36);
  box.writeUInt32BE(36, 0);
  box.write('edts', 4);
  box.writeUInt32BE(28, 8);
  box.write('elst', 12);
  box.writeUInt32BE(1, 20);
  box.writeUInt32BE(mediaTime, 28);
  box.writeUInt32BE(0x1_0000, 32);
  return box;
}
