import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { legalText } from '@longwave/xml';
import fc from 'fast-check';
import { chooseMediaFile, parseVast, renderVast, type MediaFile } from '../src/index.ts';
import { anyAnswer } from './_answers.ts';

const read = (name: string) => parseVast(readFileSync(path.join(import.meta.dirname, 'documents', name)));
const parse = (text: string) => parseVast(Buffer.from(text));
const oneLine = (text: string) => legalText(text).replace(/\s+/g, ' ').trim();

test('VAST 2.0: what is asked for is read, and the rest is skipped', () => {
  expect(read('vast-2.0-inline.xml')).toEqual({
    kind: 'inline',
    version: '2.0',
    ads: [
      {
        ...{ id: 'ad-20', adType: 'video', system: 'Example Ads', title: 'Northwind Tea', creativeId: 'crt-20' },
        ...{ categories: [], universalAdIds: [], durationMs: 30_000, clickThroughUrl: 'https://tea.example/' },
        mediaFiles: [
          {
            ...{ url: 'https://cdn.example/tea.mp3', delivery: 'progressive', type: 'audio/mp3', isVideo: false },
            ...{ kbps: 128, width: 0, height: 0 },
          },
        ],
        trackers: [
          { event: 'impression', url: 'https://ads.example/impression?cb=[CACHEBUSTING]' },
          { event: 'start', url: 'https://ads.example/start' },
          { event: 'complete', url: 'https://ads.example/complete' },
          { event: 'click', url: 'https://ads.example/click' },
          { event: 'error', url: 'https://ads.example/error?code=[ERRORCODE]' },
        ],
        unusableUrls: 1,
      },
    ],
    refusedAds: [],
    skippedWrappers: 0,
  });
});

test('VAST 3.0: a pod is read, and an ad of it that cannot be used is named with its error address', () => {
  const document = read('vast-3.0-pod.xml');
  expect(document).toMatchObject({
    kind: 'inline',
    ads: [
      { id: 'second', sequence: 2, title: 'Second & last', durationMs: 15_500 },
      { id: 'first', sequence: 1, durationMs: 20_000, mediaFiles: [{ kbps: 64 }, { kbps: 192, codec: 'mp3' }] },
    ],
    refusedAds: [
      {
        ...{ id: 'broken', code: 101, reason: 'The ad has no Duration of the form HH:MM:SS or HH:MM:SS.mmm.' },
        errorUrls: ['https://ads.example/error/3?code=[ERRORCODE]'],
      },
    ],
  });
});

test('VAST 4.0: a prefix, another namespace and an id in an attribute are read as what they are', () => {
  expect(read('vast-4.0-inline.xml')).toMatchObject({
    kind: 'inline',
    ads: [
      {
        title: 'Prefixed',
        creativeId: 'ad-id-40',
        categories: ['IAB8-5', 'AB 1'],
        universalAdIds: [{ registry: 'ad-id.org', value: 'CNPA0484000H' }],
        mediaFiles: [{ type: 'video/mp4', isVideo: true, width: 640, height: 360 }],
        trackers: [{ event: 'impression', url: 'https://ads.example/impression' }],
      },
    ],
  });
});

test('VAST 4.2: a wrapper says where to go on, under which rules, and whom to call', () => {
  expect(read('vast-4.2-wrapper.xml')).toEqual({
    kind: 'wrapper',
    version: '4.2',
    wrapper: {
      id: 'outer',
      tagUrl: 'https://demand.example/vast?cb=[CACHEBUSTING]&ip=[DEVICEIP]',
      followAdditionalWrappers: false,
      allowMultipleAds: true,
      trackers: [
        { event: 'impression', url: 'https://exchange.example/impression' },
        { event: 'midpoint', url: 'https://exchange.example/midpoint' },
        { event: 'click', url: 'https://exchange.example/click' },
        { event: 'error', url: 'https://exchange.example/error?code=[ERRORCODE]' },
      ],
      unusableUrls: 0,
    },
    refusedAds: [],
    skippedWrappers: 0,
  });
});

test('a document without an ad is empty, and names whom to tell', () => {
  expect(read('vast-3.0-empty.xml')).toEqual({
    kind: 'empty',
    version: '3.0',
    errorUrls: ['https://ads.example/no-ad?code=[ERRORCODE]'],
  });
  expect(parse(renderVast({ system: { name: 'a', version: '1' }, expiresSeconds: 1, ads: [] }))).toMatchObject({
    kind: 'empty',
  });
});

test('any answer that is rendered is parsed to the same facts', () => {
  fc.assert(
    fc.property(anyAnswer, (answer) => {
      const document = parse(renderVast(answer));
      if (answer.ads.length === 0) {
        expect(document).toEqual({ kind: 'empty', version: '4.2', errorUrls: [] });
        return;
      }
      expect(document).toEqual({
        ...{ kind: 'inline', version: '4.2', refusedAds: [], skippedWrappers: 0 },
        ads: answer.ads.map((ad, index) => ({
          id: oneLine(ad.servingId),
          sequence: index + 1,
          adType: ad.adType,
          system: oneLine(answer.system.name),
          title: oneLine(ad.title),
          servingId: oneLine(ad.servingId),
          creativeId: oneLine(ad.creativeId),
          categories: [],
          universalAdIds: [{ registry: 'unknown', value: oneLine(ad.creativeId) }],
          durationMs: ad.durationMs,
          mediaFiles: ad.mediaFiles.map((file) => ({
            ...{ url: file.url, isVideo: false, width: 0, height: 0 },
            ...(file.kind === 'mp3'
              ? { delivery: 'progressive', type: 'audio/mpeg', codec: 'mp3', kbps: file.kbps }
              : { delivery: 'streaming', type: 'application/vnd.apple.mpegurl' }),
          })),
          trackers: [
            { event: 'impression', url: ad.impressionUrl },
            ...ad.trackingUrls,
            { event: 'error', url: ad.errorUrl },
          ],
          clickThroughUrl: ad.clickThroughUrl,
          expiresSeconds: answer.expiresSeconds,
          unusableUrls: 0,
        })),
      });
    }),
  );
});

const inline = (content: string, version = '4.2') =>
  `<VAST version="${version}"><Ad><InLine><Error>https://a.example/e</Error><Creatives><Creative><Linear>${content}</Linear></Creative></Creatives></InLine></Ad></VAST>`;
const duration = '<Duration>00:00:10</Duration>';
const mediaFile = (url: string) => `<MediaFiles><MediaFile type="audio/mpeg">${url}</MediaFile></MediaFiles>`;
const ad = `${duration}${mediaFile('https://cdn.example/a.mp3')}`;

test.each<[string, string, number, string]>([
  ['no XML', 'no ad today', 100, 'no XML that is read here'],
  ['an empty body', '', 100, 'must contain a root element.'],
  ['another document', '<rss version="2.0"/>', 101, 'outermost element of the document is not VAST'],
  ['DAAST', '<DAAST version="1.0"/>', 101, 'outermost element of the document is not VAST'],
  ['VAST 1', '<VideoAdServingTemplate/>', 102, 'VAST 1'],
  ['no version', '<VAST/>', 102, 'the version ""'],
  ['version 1.0', '<VAST version="1.0"/>', 102, 'the version "1.0"'],
  ['version 4.3', inline(ad, '4.3'), 102, 'the version "4.3"'],
  ['an ad without a body', '<VAST version="3.0"><Ad/></VAST>', 101, 'one InLine or one Wrapper'],
  ['a banner', '<VAST version="3.0"><Ad><InLine/></Ad></VAST>', 403, 'no Linear creative'],
  ['no duration', inline(mediaFile('https://cdn.example/a.mp3')), 101, 'no Duration'],
  ['a duration of 61 minutes', inline(`<Duration>00:61:00</Duration>`), 101, 'no Duration'],
  ['a duration of nothing', inline(`<Duration>00:00:00</Duration>`), 101, 'no Duration'],
  ['no media file', inline(duration), 401, 'no media file with an https address'],
  ['a media file by http', inline(`${duration}${mediaFile('http://cdn.example/a.mp3')}`), 401, 'no media file'],
  [
    'a wrapper to nowhere',
    '<VAST version="3.0"><Ad><Wrapper/></Ad></VAST>',
    101,
    'VASTAdTagURI of the wrapper is miss',
  ],
  [
    'a wrapper to http',
    '<VAST version="3.0"><Ad><Wrapper><VASTAdTagURI>http://a.example/</VASTAdTagURI></Wrapper></Ad></VAST>',
    ...([101, 'is no https address'] as const),
  ],
  ['nine ads', `<VAST version="3.0">${'<Ad/>'.repeat(9)}</VAST>`, 900, '9 ads; 8 are read at most'],
  [
    '101 trackers',
    inline(
      `${ad}<TrackingEvents>${'<Tracking event="start">https://a.example/</Tracking>'.repeat(101)}</TrackingEvents>`,
    ),
    900,
    'more than 100 trackers',
  ],
  [
    '51 media files',
    inline(`${duration}<MediaFiles>${'<MediaFile/>'.repeat(51)}</MediaFiles>`),
    900,
    'more than 50 media files',
  ],
])('%s is refused with the code and in words', (_, document, code, words) => {
  expect(parse(document)).toMatchObject({ kind: 'refused', code, reason: expect.stringContaining(words) });
});

test('a refusal names the error addresses of what was refused', () => {
  expect(parse(inline(duration))).toMatchObject({ errorUrls: ['https://a.example/e'] });
  expect(parse(`<VAST version="3.0"><Error>https://a.example/r</Error>${'<Ad/>'.repeat(9)}</VAST>`)).toMatchObject({
    errorUrls: ['https://a.example/r'],
  });
});

test('a mark of the byte order, white space before the declaration and a minor version are read', () => {
  expect(parse(`\ufeff${inline(ad)}`)).toMatchObject({ kind: 'inline' });
  expect(parse(`\n\n <?xml version="1.0"?>\n${inline(ad, '2.0.1')}`)).toMatchObject({
    kind: 'inline',
    version: '2.0.1',
  });
});

test('wrappers beside an ad are left out, and further wrappers beside the first', () => {
  const wrapper = '<Ad><Wrapper><VASTAdTagURI>https://a.example/v</VASTAdTagURI></Wrapper></Ad>';
  expect(parse(inline(ad).replace('<Ad>', `${wrapper}<Ad>`))).toMatchObject({ kind: 'inline', skippedWrappers: 1 });
  expect(parse(`<VAST version="3.0">${wrapper}${wrapper}</VAST>`)).toMatchObject({
    kind: 'wrapper',
    skippedWrappers: 1,
  });
});

const file = (type: string, kbps?: number, more: Partial<MediaFile> = {}): MediaFile => ({
  ...{ url: `https://cdn.example/${kbps}`, delivery: 'progressive', type, isVideo: false, codec: undefined, kbps },
  ...{ width: 0, height: 0 },
  ...more,
});

test('the file of sound with the highest bit rate is chosen, of equal ones the first', () => {
  const files = [
    file('video/mp4', 900, { isVideo: true }),
    file('audio/mpeg', 128),
    file('audio/x-wav', 1_411),
    file('audio/wav', 1_411),
  ];
  expect(chooseMediaFile(files)).toEqual({ kind: 'chosen', file: files[2], type: 'audio/wav' });
  expect(chooseMediaFile([file('audio/mp3'), file('audio/mpeg', 64)])).toMatchObject({ file: { kbps: 64 } });
});

test.each([
  ...[
    ['audio/mpeg', 'audio/mpeg'] as const,
    ['audio/mp3', 'audio/mpeg'] as const,
    ['audio/x-m4a', 'audio/mp4'] as const,
  ],
  ...[['audio/mp4', 'audio/mp4'] as const, ['audio/aacp', 'audio/aac'] as const, ['audio/ogg', 'audio/ogg'] as const],
])('%s is encoded as %s', (written, type) => {
  expect(chooseMediaFile([file(written, 1)])).toMatchObject({ kind: 'chosen', type });
});

test('video, streams and unknown types are refused with 403, and a video is flagged', () => {
  expect(chooseMediaFile([file('video/mp4', 900, { isVideo: true }), file('constructor')])).toEqual({
    ...{ kind: 'refused', code: 403, hasVideo: true },
    reason: 'The ad has no file of sound that can be downloaded and encoded; its files are video/mp4, constructor.',
  });
  expect(chooseMediaFile([file('audio/mpeg', 1, { delivery: 'streaming' }), file('')])).toMatchObject({
    hasVideo: false,
  });
});
