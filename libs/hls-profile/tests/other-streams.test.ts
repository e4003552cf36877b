import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { ffmpeg, type HlsFiles } from '@longwave/test-kit';
import { edit, golden, judge, readerOf } from './_golden.ts';

/** What ffmpeg's own packager makes of 20 s with a keyframe every 8 s, audio and video apart unless `streams` says otherwise. */
function packaged(streams: string, ...args: readonly string[]): HlsFiles {
  const folder = mkdtempSync(path.join(tmpdir(), 'longwave-hls-packaged-'));
  ffmpeg(
    ...['-f', 'lavfi', '-i', 'testsrc=size=160x90:rate=5:duration=20', '-f', 'lavfi', '-i', 'sine=440:duration=20'],
    ...['-map', '0:v', '-map', '1:a', '-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p', '-g', '40'],
    ...['-c:a', 'aac', '-ar', '48000', '-ac', '2', '-f', 'hls', '-hls_time', '6', '-hls_playlist_type', 'vod'],
    ...['-master_pl_name', 'main.m3u8', '-var_stream_map', streams, ...args, path.join(folder, 'v%v.m3u8')],
  );
  const files = new Map(readdirSync(folder).map((name) => [name, readFileSync(path.join(folder, name))]));
  rmSync(folder, { recursive: true });
  return files;
}

test('a stream of ffmpeg’s packager with a file for each segment: its media is read, and what is wrong in it is found', async () => {
  const files = packaged(
    'v:0,agroup:aud a:0,agroup:aud,language:en',
    '-hls_segment_type',
    'fmp4',
    '-hls_fmp4_init_filename',
    'init%v.mp4',
  );
  const { found, notes } = await judge(readerOf(files), 'apple');
  const of = (rule: string) =>
    found.filter((finding) => finding.rule === rule).map(({ where, message }) => `${where}: ${message}`);
  expect(notes).toEqual([]);
  // It does judge the media: no segment is cut wrongly, and pictures are 8 s apart.
  expect(['reachable', 'syntax', 'whole-fragments', 'one-track', 'segment-times'].flatMap(of)).toEqual([]);
  expect(of('A12')).toEqual([
    'v0.m3u8, line 8: Keyframes are 8 s apart. Put one every 2 to 6 s.',
    'v0.m3u8, line 10: Keyframes are 8 s apart. Put one every 2 to 6 s.',
  ]);
  expect(of('no-edit-list')).toEqual([
    'v0.m3u8: An edit list moves the media, and some players ignore it. Write the media without one.',
  ]);
  expect(new Set(found.map(({ rule }) => rule))).toEqual(
    new Set(['A2', 'A4', 'A5', 'A11', 'A12', 'equal-targets', 'media-type', 'no-edit-list', 'peak-rate']),
  );
});

test('a stream of MPEG transport streams is judged by its playlists, and said not to be by its media', async () => {
  const { found, notes } = await judge(readerOf(packaged('v:0,a:0')), 'general', 'sample');
  expect(notes).toEqual([
    'The segments of v0.m3u8 are no fMP4 (EXT-X-MAP is absent), so nothing inside them was judged.',
    'The segments of v0.m3u8 are files, of which not all were read, so no rate was judged.',
  ]);
  expect(found.filter(({ level }) => level === 'failure')).toEqual([]);
  expect(found).toContainEqual({
    ...{ rule: 'A2', level: 'warning', where: 'multivariant playlist, line 3' },
    message: expect.stringMatching(/^The variant has audio and video in one file\./),
  });
});

test('encrypted segments and addresses with variables are named as not judged', async () => {
  const files = golden('audio');
  edit(files, /^audio/, (text) => text.replace('#EXT-X-MAP', '#EXT-X-KEY:METHOD=SAMPLE-AES,URI="key"\n#EXT-X-MAP'));
  edit(files, /^main/, (text) => text.replace('#EXT-X-IND', '#EXT-X-DEFINE:NAME="host",VALUE="a"\n#EXT-X-IND'));
  expect((await judge(readerOf(files), 'general')).notes).toEqual([
    'Addresses with variables (EXT-X-DEFINE) were taken as they stand, without the values.',
    'The segments of audio/media.m3u8 are encrypted, so nothing inside them was judged.',
  ]);
});

test('after a discontinuity, with an initialization section of its own, times begin anew', async () => {
  const files = golden('audio');
  const file = files.get('s/audio.mp4')!;
  const later = Buffer.from(file);
  // The second half begins at 100 s by its own media.
  const begin = Number(/RANGE:\d+@(\d+)/.exec(files.get('audio/media.m3u8')!.toString().split('EXTINF')[3]!)![1]);
  for (let at = later.indexOf('tfdt', begin); at >= 0; at = later.indexOf('tfdt', at + 4))
    later.writeBigUInt64BE(later.readBigUInt64BE(at + 8) + 4_800_000n, at + 8);
  files.set('s/audio.mp4', later);
  expect((await judge(readerOf(files), 'general')).rules).toEqual(['segment-times']);
  edit(files, /^audio/, (text) => {
    const [map] = /#EXT-X-MAP.*\n/.exec(text)!;
    let segment = 0;
    return text.replaceAll('#EXTINF', (tag) => ((segment += 1) === 3 ? `#EXT-X-DISCONTINUITY\n${map}${tag}` : tag));
  });
  expect((await judge(readerOf(files), 'general')).found).toEqual([]);
});
