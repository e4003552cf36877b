import { expect, test } from '@jest/globals';
import type { HlsFiles } from '@longwave/test-kit';
import hls from 'hls-parser';
import { numberOf, quotedOf } from '../src/attributes.ts';
import { parsePlaylist } from '../src/parse-playlist.ts';
import { addBox, edit, editListBox, golden, judge, readerOf, trakOf } from './_golden.ts';

const media = /^[^/]+\/media\.m3u8$/;
const everyPlaylist = /\.m3u8$/;
const main = /^main\.m3u8$/;
const lists = /^al\//;

/** Removes a variant with its address. */
const withoutVariant = (address: string) => (text: string) =>
  text.replace(new RegExp(`#EXT-X-STREAM-INF[^\n]*\n${address}/media.m3u8\n`), '');

const replace = (files: HlsFiles, names: RegExp, from: string | RegExp, to: string) =>
  edit(files, names, (text) => text.replaceAll(from instanceof RegExp ? new RegExp(from, 'g') : from, to));

interface Mutation {
  readonly name: string;
  readonly rules: readonly string[];
  readonly change: (files: HlsFiles) => void;
}

/** What people do wrong, each found by its rule and by no other. */
const mutations: readonly Mutation[] = [
  { name: 'no resume offset', rules: ['A7'], change: (files) => replace(files, media, ',X-RESUME-OFFSET=0', '') },
  {
    name: 'a break with CUE="PRE"',
    rules: ['A7'],
    change: (files) => replace(files, media, /(ID="pre".*),X-SNAP="OUT,IN"/, '$1,CUE="PRE"'),
  },
  {
    name: 'a break that forbids skipping',
    rules: ['A7'],
    change: (files) => replace(files, media, 'X-SNAP', 'X-RESTRICT="SKIP,JUMP",X-SNAP'),
  },
  {
    name: 'a break that is a point of the timeline',
    rules: ['A7'],
    change: (files) => replace(files, media, '="RANGE"', '="POINT"'),
  },
  {
    name: 'the year 1970',
    rules: ['A6'],
    change: (files) => replace(files, everyPlaylist, '2020-01-01', '1970-01-01'),
  },
  {
    name: 'no date of the first segment',
    rules: ['A6'],
    change: (files) => replace(files, media, /#EXT-X-PROGRAM.*\n/, ''),
  },
  {
    name: 'a target duration of 12 s',
    rules: ['A5'],
    change: (files) => replace(files, everyPlaylist, 'TARGETDURATION:6', 'TARGETDURATION:12'),
  },
  { name: 'version 6', rules: ['A1'], change: (files) => replace(files, media, 'VERSION:7', 'VERSION:6') },
  { name: 'no end', rules: ['A1'], change: (files) => replace(files, media, '#EXT-X-ENDLIST\n', '') },
  {
    name: 'nothing about closed captions',
    rules: ['A11'],
    change: (files) => replace(files, main, ',CLOSED-CAPTIONS=NONE', ''),
  },
  {
    name: 'no average rate',
    rules: ['A2'],
    change: (files) => replace(files, main, /(STREAM-INF.*),AVERAGE-BANDWIDTH=\d+/, '$1'),
  },
  { name: 'no 720p', rules: ['A2'], change: (files) => edit(files, main, withoutVariant('720p')) },
  { name: 'no language', rules: ['A3'], change: (files) => replace(files, main, ',LANGUAGE="en"', '') },
  { name: 'no I-frames', rules: ['A4'], change: (files) => replace(files, main, /#EXT-X-I-FRAME-STREAM-INF.*\n/, '') },
  {
    name: 'the duration of an ad 21 % too long',
    rules: ['A8'],
    change: (files) => replace(files, lists, '"DURATION":6.016', '"DURATION":7.279'),
  },
  {
    name: 'the duration of an ad as text',
    rules: ['A8'],
    change: (files) => replace(files, lists, /"DURATION":([\d.]+)/, '"DURATION":"$1"'),
  },
  {
    name: 'a break after the content at its very end',
    rules: ['A9'],
    change: (files) => replace(files, media, '00:00:21.500Z', '00:00:24.000Z'),
  },
  {
    name: 'a break that ends after the content',
    rules: ['A9'],
    change: (files) => replace(files, media, /(ID="mid-1")/, '$1,DURATION=30'),
  },
  { name: 'no variant of audio only', rules: ['A2'], change: (files) => edit(files, main, withoutVariant('audio')) },
  {
    name: 'a wrong average rate',
    rules: ['average-rate'],
    change: (files) => replace(files, main, /(,AVERAGE-BANDWIDTH)=(\d+)/, '$1=9$2'),
  },

  {
    name: 'the same in an ad: nothing about closed captions',
    rules: ['A11'],
    change: (files) => replace(files, /^ad\/main/, ',CLOSED-CAPTIONS=NONE', ''),
  },
  {
    name: 'the same in an ad: no end',
    rules: ['A1'],
    change: (files) => replace(files, /^ad\/.*media/, '#EXT-X-ENDLIST\n', ''),
  },
  {
    name: 'a format that is not declared',
    rules: ['A2'],
    change: (files) => replace(files, main, /avc1\.[^",]+(?=.*1920)/, 'avc1.640099'),
  },
  {
    name: 'a group of audio that is not there',
    rules: ['A2', 'A3'],
    change: (files) => replace(files, main, ',AUDIO="aud"', ',AUDIO="other"'),
  },
  {
    name: 'a break without class',
    rules: ['A7'],
    change: (files) => replace(files, media, ',CLASS="com.apple.hls.interstitial"', ''),
  },
  {
    name: 'a break with two kinds of address',
    rules: ['A7'],
    change: (files) =>
      replace(files, media, /(ID="mid-1")/, '$1,X-ASSET-URI="https://media.example.com/show/ad/main.m3u8"'),
  },
  {
    name: 'an ad by its address, without a duration',
    rules: ['A8'],
    change: (files) => replace(files, media, /X-ASSET-LIST="[^"]*mid-1"/, 'X-ASSET-URI="../ad/main.m3u8"'),
  },
  { name: 'an ad without video', rules: ['A10'], change: (files) => edit(files, /^ad\/main/, withoutVariant('720p')) },
  {
    name: 'an ad without audio only',
    rules: ['A10'],
    change: (files) => edit(files, /^ad\/main/, withoutVariant('audio')),
  },
  {
    name: 'a break of one playlist alone',
    rules: ['equal-date-ranges'],
    change: (files) => replace(files, /^subs-en\/media/, /#EXT-X-DATERANGE:ID="mid.*\n/, ''),
  },
  {
    name: 'breaks in another order',
    rules: ['equal-date-ranges'],
    change: (files) => replace(files, /^720p/, /(#EXT-X-DATERANGE:ID="pre.*\n)(#EXT.*\n)/, '$2$1'),
  },
  {
    name: 'two breaks of one ID',
    rules: ['equal-date-ranges'],
    change: (files) => replace(files, media, 'ID="post"', 'ID="pre"'),
  },
  {
    name: 'a break in the middle of a segment',
    rules: ['break-at-segment'],
    change: (files) => replace(files, media, '00:00:12.032Z', '00:00:13.032Z'),
  },
  {
    name: 'a rendition that is shorter',
    rules: ['equal-lengths'],
    change: (files) => replace(files, /^720p/, /#EXTINF.*\n.*\n.*\n#EXT-X-ENDLIST/, '#EXT-X-ENDLIST'),
  },
  {
    name: 'a rendition of another target duration',
    rules: ['A5', 'equal-targets'],
    change: (files) => replace(files, /^720p/, 'TARGETDURATION:6', 'TARGETDURATION:7'),
  },
  {
    name: 'segments longer than the target duration',
    rules: ['A5', 'segment-lengths'],
    change: (files) => replace(files, everyPlaylist, 'TARGETDURATION:6', 'TARGETDURATION:5'),
  },
  {
    name: 'a segment without its last byte',
    rules: ['whole-fragments'],
    change: (files) => replace(files, /^360p/, /(RANGE:)(\d+)(?=@774\n)/, '$18'),
  },
  {
    name: 'an I-frame without its last bytes',
    rules: ['whole-fragments'],
    change: (files) => replace(files, /^iframes/, /(RANGE:\d)\d+(?=@773\n)/, '$1000'),
  },
  {
    name: 'segments whose durations are not those of the media',
    rules: ['segment-times'],
    change: (files) =>
      edit(files, /^360p/, (text) =>
        text.replace(/6\.00000(,\n.*\n.*\n#EXTINF:)6\.00000(?=,\n.*\n.*\n#EXT-X-END)/, '5.51000$16.49000'),
      ),
  },
  { name: 'two tracks in one file', rules: ['one-track'], change: (files) => addBox(files, '1080p', 'moov', trakOf) },
  {
    name: 'an edit list',
    rules: ['no-edit-list'],
    change: (files) => addBox(files, '1080p', 'trak', () => editListBox(1024)),
  },
  {
    name: 'a peak rate below the real one',
    rules: ['peak-rate'],
    change: (files) => replace(files, main, /(STREAM-INF:BANDWIDTH)=\d+/, '$1=90'),
  },
  { name: 'a list that is no JSON', rules: ['asset-list'], change: (files) => replace(files, /^al\/post/, '{', '') },
  {
    name: 'a list without ads',
    rules: ['asset-list'],
    change: (files) => replace(files, /^al\/post/, 'ASSETS', 'Assets'),
  },
  {
    name: 'a relative address in a list',
    rules: ['asset-list'],
    change: (files) => replace(files, lists, 'https://media.example.com/show/', '../'),
  },
  {
    name: 'captions that are no WebVTT',
    rules: ['captions'],
    change: (files) => replace(files, /\.vtt$/, 'WEBVTT', '1'),
  },
  {
    name: 'captions after the end',
    rules: ['captions'],
    change: (files) => replace(files, /\.vtt$/, '00:01.000', '00:31.000'),
  },
  {
    name: 'chapters with times as text',
    rules: ['chapters'],
    change: (files) => replace(files, /^chapters/, '"start-time":0', '"start-time":"0:00"'),
  },
  { name: 'a segment that is not there', rules: ['reachable'], change: (files) => void files.delete('subs-en/1.vtt') },
  { name: 'an ad that is not there', rules: ['reachable'], change: (files) => void files.delete('ad/main.m3u8') },
  {
    name: 'typographic quotation marks',
    rules: ['syntax'],
    change: (files) => replace(files, main, 'NAME="English"', 'NAME=“English”'),
  },
];

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
