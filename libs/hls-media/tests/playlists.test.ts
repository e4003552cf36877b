import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import hls from 'hls-parser';
import { Parser } from 'm3u8-parser';
import {
  cellIndexSchema,
  dateRangesOf,
  durationTicks,
  iFramePlaylist,
  mediaPlaylist,
  presentationTimeline,
  renderAssetList,
  renderCaptions,
  renderChapters,
  renderMediaPlaylist,
  renderMultivariant,
  scheduleBreaks,
  subtitlePlaylist,
  type BitRates,
  type CellIndex,
} from '../src/index.ts';

hls.setOptions({ strictMode: true });

const golden = (name: string) => readFileSync(new URL(`../cases/${name}`, import.meta.url), 'utf8');

const audio = cellIndexSchema.parse(JSON.parse(golden('audio-index.json')));
const schedule = scheduleBreaks(audio, 0, [
  { key: 'pre', position: 'pre', contentMs: 0 },
  { key: 'mid-1', position: 'mid', contentMs: 60_312 },
  { key: 'post', position: 'post', contentMs: 275_520 },
]);
const dateRanges = dateRangesOf(schedule, ({ key }) => `https://media.example.com/delivery/v1/al/t1.${key}`);
const pictures: CellIndex = {
  timescale: 30_000,
  init: 735,
  bytes: 18_087,
  cells: [
    [735, 8640, 0, 15_000],
    [9375, 8712, 15_000, 15_000],
  ],
};

const soundRates = { peak: 184_373, average: 175_094 };
const withSound = (peak: number, average: number): BitRates => ({
  peak: peak - soundRates.peak,
  average: average - soundRates.average,
});
const english = { name: 'English', language: 'en' };
const small = { codec: 'avc1.4d401e', width: 640, height: 360 };
const video = renderMultivariant({
  chaptersUri: 'chapters.json',
  audio: { ...english, uri: 'a192/media.m3u8', rates: soundRates },
  captions: [{ ...english, uri: 'subs-en/media.m3u8' }],
  pictures: [
    { ...small, uri: '360p/media.m3u8', frameRate: 30, rates: withSound(929_737, 895_952) },
    {
      uri: '720p/media.m3u8',
      codec: 'avc1.64001f',
      width: 1280,
      height: 720,
      frameRate: 30,
      rates: withSound(2_811_405, 2_766_396),
    },
    {
      uri: '1080p/media.m3u8',
      codec: 'avc1.640028',
      width: 1920,
      height: 1080,
      frameRate: 30,
      rates: withSound(5_492_292, 5_458_928),
    },
  ],
  iFrames: { ...small, uri: 'iframe/media.m3u8', rates: { peak: 183_808, average: 170_480 } },
});
const media = renderMediaPlaylist(mediaPlaylist('../s/86101ed1/m.mp4', audio, schedule), dateRanges);
const subtitles = renderMediaPlaylist(subtitlePlaylist(audio, schedule), dateRanges);
const iFrames = renderMediaPlaylist(iFramePlaylist('../s/0b5ff1/m.mp4', pictures), dateRanges);

test.each([
  ['video.m3u8', video],
  [
    'ad.m3u8',
    renderMultivariant({
      audio: { ...english, uri: 'a192/media.m3u8', rates: { peak: 182_855, average: 171_526 } },
    }),
  ],
  ['audio-media.m3u8', media],
  ['iframe-media.m3u8', iFrames],
  ['subtitles-media.m3u8', subtitles],
  [
    'asset-list.json',
    renderAssetList([
      { uri: 'https://media.example.com/delivery/v1/ad/t1.one/main.m3u8', ticks: 518 * 1024, timescale: 48_000 },
      { uri: 'https://media.example.com/delivery/v1/ad/t1.two/main.m3u8', ticks: 507 * 1024, timescale: 48_000 },
    ]),
  ],
])('%s is the golden file, byte for byte', (name, text) => {
  expect(text).toBe(golden(name));
});

test('an asset list without ads is empty, which is an answer too', () => {
  expect(renderAssetList([])).toBe('{"ASSETS":[]}');
});

test('another parser reads the multivariant playlist as it is meant', () => {
  const playlist = hls.parse(video);
  if (!('variants' in playlist)) throw new Error('no multivariant playlist');
  const [first, , , sound, seeking] = playlist.variants;
  expect(playlist.variants.map(({ uri }) => uri)).toEqual([
    '360p/media.m3u8',
    '720p/media.m3u8',
    '1080p/media.m3u8',
    'a192/media.m3u8',
    'iframe/media.m3u8',
  ]);
  expect(first).toMatchObject({ bandwidth: 929_737, averageBandwidth: 895_952, frameRate: 30 });
  expect(first!.resolution).toEqual({ width: 640, height: 360 });
  expect(first!.audio[0]).toMatchObject({ uri: 'a192/media.m3u8', language: 'en', isDefault: true, channels: '2' });
  expect(sound!.codecs).toBe('mp4a.40.2');
  expect(seeking!.isIFrameOnly).toBe(true);
  expect(playlist.sessionDataList[0]).toMatchObject({ id: 'com.apple.hls.chapters', uri: 'chapters.json' });
});

test('another parser finds all bytes and all time of the track in the media playlist, and the three breaks', () => {
  const playlist = hls.parse(media);
  if (!('segments' in playlist)) throw new Error('no media playlist');
  const { segments } = playlist;
  expect(playlist).toMatchObject({ version: 7, targetDuration: 6, endlist: true, playlistType: 'VOD' });
  let end = 605;
  for (const { byterange } of segments) {
    expect(byterange.offset).toBe(end);
    end += byterange.length;
  }
  expect(end).toBe(audio.bytes);
  const seconds = segments.reduce((sum, { duration }) => sum + duration, 0);
  expect(seconds).toBeCloseTo(durationTicks(audio) / 48_000, 3);
  expect(segments[0]!.map).toMatchObject({ byterange: { length: 605, offset: 0 } });
  expect(segments[0]!.programDateTime).toEqual(new Date('2020-01-01T00:00:00.000Z'));
  const found = [...media.matchAll(/START-DATE="([^"]*)"/g)].map(([, date]) => Date.parse(date!));
  expect(found).toEqual(schedule.map(({ startMs }) => Date.UTC(2020, 0, 1) + startMs));
});

test('another parser reads the pictures for seeking and the captions', () => {
  const seeking = hls.parse(iFrames);
  const captions = hls.parse(subtitles);
  if (!('segments' in seeking) || !('segments' in captions)) throw new Error('no media playlists');
  expect(seeking.isIFrame).toBe(true);
  expect(seeking.segments.map(({ byterange }) => byterange)).toEqual([
    { length: 8640, offset: 735 },
    { length: 8712, offset: 9375 },
  ]);
  expect(captions.segments.map(({ uri }) => uri)).toEqual(captions.segments.map((_, i) => `${i + 1}.vtt`));
});

/** What m3u8-parser, which players of video.js have inside, reads and what it has to say. */
function readAsVideoJs(text: string) {
  const warnings: string[] = [];
  const parser = new Parser();
  parser.on('warn', ({ message }) => warnings.push(message));
  parser.push(text);
  parser.end();
  return { manifest: parser.manifest, warnings };
}

test('a third parser reads the variants, the seeking pictures, the ranges and the breaks, and warns of nothing', () => {
  const main = readAsVideoJs(video);
  const sound = readAsVideoJs(media);
  const seeking = readAsVideoJs(iFrames);
  expect([main, sound, seeking].flatMap(({ warnings }) => warnings)).toEqual([]);
  expect(main.manifest.playlists?.map(({ uri }) => uri)).toEqual([
    ...['360p/media.m3u8', '720p/media.m3u8', '1080p/media.m3u8', 'a192/media.m3u8'],
  ]);
  expect(main.manifest.iFramePlaylists.map(({ uri }) => uri)).toEqual(['iframe/media.m3u8']);
  const ends = sound.manifest.segments.map(({ byterange }) => byterange!.offset + byterange!.length);
  expect(ends.at(-1)).toBe(audio.bytes);
  expect(sound.manifest.dateRanges).toHaveLength(schedule.length);
  expect(seeking.manifest.segments.map(({ byterange }) => byterange)).toEqual([
    { length: 8640, offset: 735 },
    { length: 8712, offset: 9375 },
  ]);
});

test('every playlist of a play has the same date ranges, byte for byte, and without a play it has none', () => {
  const tags = (text: string) => text.split('\n').filter((line) => line.startsWith('#EXT-X-DATERANGE'));
  expect(tags(media).length).toBe(3);
  expect(tags(iFrames)).toEqual(tags(media));
  expect(tags(subtitles)).toEqual(tags(media));
  expect(tags(renderMediaPlaylist(mediaPlaylist('m.mp4', audio)))).toEqual([]);
});

test('names that people write cannot break out of their attribute', () => {
  const text = renderMultivariant({
    audio: { name: 'A "B"\n\0\u0085#EXTM3U', language: 'en', uri: 'a.m3u8', rates: soundRates },
  });
  expect(text).toContain(`NAME="A 'B' #EXTM3U",LANGUAGE="en"`);
});

const rendition = { ...english, uri: 'a.m3u8', rates: soundRates };
const picture = { ...small, frameRate: 30, rates: soundRates };

test.each<[string, (uri: string) => unknown]>([
  ['a track', (uri) => mediaPlaylist(uri, audio)],
  ['pictures for seeking', (uri) => iFramePlaylist(uri, pictures)],
  ['an asset list', (uri) => dateRangesOf(schedule, () => uri)],
  ['a variant of sound', (uri) => renderMultivariant({ audio: { ...rendition, uri } })],
  ['captions', (uri) => renderMultivariant({ audio: rendition, captions: [{ ...english, uri }] })],
  ['a variant of pictures', (uri) => renderMultivariant({ audio: rendition, pictures: [{ ...picture, uri }] })],
  ['a variant for seeking', (uri) => renderMultivariant({ audio: rendition, iFrames: { ...picture, uri } })],
  ['chapters', (uri) => renderMultivariant({ audio: rendition, chaptersUri: uri })],
])('an address of %s that would be another line or attribute is refused', (_, render) => {
  expect(() => render('a/b.mp4?c=d#e')).not.toThrow();
  for (const uri of [
    'a.m3u8\n#EXT-X-KEY:METHOD=NONE',
    '#EXT-X-ENDLIST',
    '',
    'a"b.mp4',
    'a b.mp4',
    'a\u0085.mp4',
    'a\0.mp4',
    'a\u2028.mp4',
  ])
    expect(() => render(uri)).toThrow(RangeError);
});

test('the timeline has the content between the breaks, and the date ranges as objects', () => {
  const durationMs = (durationTicks(audio) * 1000) / audio.timescale;
  const timeline = presentationTimeline(durationMs, schedule, dateRanges);
  expect(timeline).toMatchObject({
    version: 1,
    duration_ms: 275_541,
    primary: [
      { start_ms: 0, duration_ms: 60_309 },
      { start_ms: 60_309, duration_ms: 215_232 },
    ],
  });
  expect(timeline.DATERANGES.map(({ ID, CUE, 'X-RESUME-OFFSET': resume }) => [ID, CUE, resume])).toEqual([
    ['pre', undefined, 0],
    ['mid-1', undefined, 0],
    ['post', 'POST', 0],
  ]);
  expect(timeline.DATERANGES[0]).toEqual({
    ID: 'pre',
    CLASS: 'com.apple.hls.interstitial',
    'START-DATE': '2020-01-01T00:00:00.000Z',
    'X-ASSET-LIST': 'https://media.example.com/delivery/v1/al/t1.pre?_HLS_interstitial_id=pre',
    'X-RESUME-OFFSET': 0,
    'X-SNAP': 'OUT,IN',
    'X-TIMELINE-OCCUPIES': 'RANGE',
    'X-TIMELINE-STYLE': 'PRIMARY',
    'X-CONTENT-MAY-VARY': 'YES',
  });
});

const transcript = {
  version: 1,
  cues: [
    { start_ms: 500, end_ms: 2500, speaker: 'Ada', text: 'One & two.' },
    { start_ms: 2500, end_ms: 5200, text: 'Three.' },
  ],
} as const;
const captionHead = 'WEBVTT\nX-TIMESTAMP-MAP=LOCAL:00:00:00.000,MPEGTS:0\n';

test('a file of captions has the cues that are shown in its time, after the intro; a cue across two files stands in both', () => {
  const three = '\n00:00:10.500 --> 00:00:13.200\nThree.\n';
  expect(renderCaptions(transcript, 8000, 6000, 12_000)).toBe(
    `${captionHead}\n00:00:08.500 --> 00:00:10.500\n<v Ada>One &amp; two.\n${three}`,
  );
  expect(renderCaptions(transcript, 8000, 12_000, 18_000)).toBe(captionHead + three);
  expect(renderCaptions(transcript, 8000, 0, 6000)).toBe(captionHead);
  expect(renderCaptions(transcript, 8000, 13_200, 19_000)).toBe(captionHead);
});

test('chapters begin after the intro; one that is not listed is left out', () => {
  const chapters = [
    { start_ms: 0, title: 'Hello' },
    { start_ms: 30_500, end_ms: 40_000, title: 'Hidden', toc: false },
    { start_ms: 60_250, end_ms: 70_000, title: 'Weather' },
  ];
  expect(JSON.parse(renderChapters(chapters, 'en', 8000))).toEqual([
    { chapter: 1, 'start-time': 8, titles: [{ language: 'en', title: 'Hello' }] },
    { chapter: 2, 'start-time': 68.25, duration: 9.75, titles: [{ language: 'en', title: 'Weather' }] },
  ]);
});
