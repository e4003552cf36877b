import { expect, test } from '@jest/globals';
import type { HlsFiles } from '@longwave/test-kit';
import hls from 'hls-parser';
import { numberOf, quotedOf } from '../src/attributes.ts';
import { parsePlaylist } from '../src/parse-playlist.ts';
import { golden, judge, readerOf } from './_golden.ts';
import { mutations } from './_mutations.ts';

const accepted = golden('video');

test('a presentation that Apple Podcasts takes has neither failures nor warnings, in both profiles', async () => {
  for (const profile of ['apple', 'general'] as const)
    for (const extent of ['sample', 'all'] as const)
      expect(await judge(readerOf(accepted), profile, extent)).toEqual({ found: [], notes: [], rules: [] });
});

test('a presentation of audio has nothing against it but that Apple Podcasts wants video (A2) and I-frames (A4)', async () => {
  const read = readerOf(golden('audio'));
  expect((await judge(read, 'general')).found).toEqual([]);
  expect((await judge(read, 'apple')).rules).toEqual(['A2', 'A4']);
});

test('another reader, hls-parser, finds the same in its playlists', () => {
  hls.setOptions({ strictMode: true });
  for (const [name, bytes] of accepted) {
    if (!name.endsWith('.m3u8')) continue;
    const [theirs, ours] = [hls.parse(bytes.toString()), parsePlaylist(bytes.toString())];
    expect([name, theirs.version]).toEqual([name, ours.version]);
    if (theirs instanceof hls.types.MasterPlaylist && ours.kind === 'multivariant') {
      const all = [...ours.variants, ...ours.iframes].map(({ attributes }) =>
        numberOf(attributes, 'AVERAGE-BANDWIDTH'),
      );
      expect(theirs.variants.map(({ averageBandwidth }) => averageBandwidth)).toEqual(all);
    } else if (theirs instanceof hls.types.MediaPlaylist && ours.kind === 'media') {
      expect(
        theirs.segments.map(({ uri, duration, byterange, map }) => ({
          ...{ uri, duration, range: byterange ?? undefined, map: map ? [map.uri, map.byterange] : undefined },
        })),
      ).toEqual(
        ours.segments.map(({ uri, durationSeconds: duration, range, map }) => ({
          ...{ uri, duration, range, map: map && [map.uri, map.range] },
        })),
      );
      // Of several date ranges before a segment it keeps the last, which is one reason for a reader of our own.
      const last = ours.dateRanges.at(-1);
      expect(theirs.segments[0]!.dateRange?.id).toBe(last && quotedOf(last.attributes, 'ID'));
      expect(theirs.segments[0]!.programDateTime?.getTime()).toBe(ours.startsAt);
    } else throw new Error(`${name} is of another kind for the other reader.`);
  }
});

test.each(mutations)('$name: found by $rules and by no other rule', async ({ change, rules }) => {
  const files = new Map(accepted);
  change(files);
  const { found, rules: by } = await judge(readerOf(files), 'apple');
  expect({ by, found }).toEqual({ by: rules, found: expect.any(Array) });
});

/** What is found when the bytes of a track are changed. */
async function judgeBytes(name: string, change: (bytes: Buffer) => void) {
  const files: HlsFiles = new Map(accepted);
  const bytes = Buffer.from(files.get(`s/${name}.mp4`)!);
  change(bytes);
  files.set(`s/${name}.mp4`, bytes);
  return judge(readerOf(files), 'apple');
}

test('audio that is not stereo, not of 48 kHz or no AAC-LC is found', async () => {
  const entry = (bytes: Buffer) => bytes.indexOf('mp4a') + 4;
  const mono = await judgeBytes('audio', (bytes) => void bytes.writeUInt16BE(1, entry(bytes) + 16));
  const slow = await judgeBytes('audio', (bytes) => void bytes.writeUInt16BE(44_100, entry(bytes) + 24));
  // AudioSpecificConfig: the upper five bits are the object type, 5 for HE-AAC.
  const he = await judgeBytes('audio', (bytes) => {
    const config = bytes.indexOf(Buffer.from([0x05, 0x80, 0x80, 0x80]), entry(bytes)) + 5;
    bytes[config] = (5 << 3) | (bytes[config]! & 7);
  });
  expect([mono.rules, slow.rules, he.rules]).toEqual([['A12'], ['A12'], ['A12', 'A2']]);
  expect(he.found).toContainEqual({
    ...{ rule: 'A12', level: 'failure', where: 'audio/media.m3u8' },
    message: 'The audio is mp4a.40.5. Encode AAC-LC (mp4a.40.2).',
  });
});

test('a segment that begins with no keyframe is found', async () => {
  const { found } = await judgeBytes('720p', (bytes) => {
    // tfhd without, trun with the flags of the first sample: ffmpeg writes them behind the data offset.
    const trun = bytes.indexOf('trun') + 4;
    expect(bytes.readUInt32BE(trun) & 0x5).toBe(0x5);
    bytes.writeUInt32BE(0x0101_0000, trun + 12);
  });
  expect(found.map(({ rule, where }) => [rule, where])).toEqual([
    ['A12', expect.stringMatching(/^720p\/media\.m3u8, line \d+$/)],
    ['A12', expect.stringMatching(/^break “pre”, ad 1: 720p\/media\.m3u8, line \d+$/)],
  ]);
});

test('a picture of another size than declared is found', async () => {
  const { found } = await judgeBytes('720p', (bytes) => void bytes.writeUInt16BE(1278, bytes.indexOf('avc1') + 28));
  expect(found.map(({ rule, level, message }) => [rule, level, message])).toContainEqual([
    ...['A2', 'warning', 'RESOLUTION is not that of the file. Write 1278x720.'],
  ]);
});

test('media that begins later than the playlist says is found at each segment', async () => {
  const { found, rules } = await judgeBytes('360p', (bytes) => {
    for (let at = bytes.indexOf('tfdt'); at >= 0; at = bytes.indexOf('tfdt', at + 4))
      bytes.writeBigUInt64BE(bytes.readBigUInt64BE(at + 8) + 3_000n, at + 8);
  });
  expect([rules, found.length, found[0]!.message]).toEqual([
    ['segment-times'],
    4,
    'The media of the segment begins 0.1 s after the time of the playlist. Write the real durations into EXTINF.',
  ]);
});
