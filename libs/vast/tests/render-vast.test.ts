import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { renderVast, type AnsweredAd } from '../src/index.ts';
import { answerOf, anyAnswer, audioAd, videoAd } from './_answers.ts';

const golden = (name: string) => readFileSync(path.join(import.meta.dirname, 'golden', name), 'utf8');

test('an ad of sound, and a pod with a video, are the golden documents, byte by byte', () => {
  expect(renderVast(answerOf(audioAd))).toBe(golden('audio-ad.xml'));
  expect(renderVast(answerOf(audioAd, videoAd))).toBe(golden('pod.xml'));
});

test('docs/vast.md shows the golden document', () => {
  const page = readFileSync(path.join(import.meta.dirname, '../../../docs/vast.md'), 'utf8');
  expect(page).toContain(`\`\`\`xml\n${golden('audio-ad.xml')}\`\`\``);
});

test('no ad is one empty element', () => {
  expect(renderVast(answerOf())).toBe('<VAST xmlns="http://www.iab.com/VAST" version="4.2"/>');
});

test('equal answers give equal bytes, and no document names a price, a category, an advertiser or an extension', () => {
  fc.assert(
    fc.property(anyAnswer, (answer) => {
      const document = renderVast(answer);
      expect(renderVast(structuredClone(answer))).toBe(document);
      expect(document).not.toMatch(/<(?:Pricing|Category|Advertiser|Extensions?|Survey|Wrapper)[\s/>]/);
    }),
  );
});

const urlFields = ['impressionUrl', 'errorUrl', 'clickThroughUrl'] as const;
const withUrl = (url: string): readonly AnsweredAd[] => [
  ...urlFields.map((field) => ({ ...audioAd, [field]: url })),
  { ...audioAd, mediaFiles: [{ kind: 'mp3', url, kbps: 128 }] },
  { ...audioAd, mediaFiles: [{ kind: 'hls', url, minKbps: 1, maxKbps: 2 }] },
  { ...audioAd, trackingUrls: [{ event: 'start', url }] },
];

test.each([
  ...['', '/delivery/v1/ad.mp3', '//media.example/ad.mp3', 'media.example/ad.mp3', 'ftp://media.example/ad.mp3'],
  ...['javascript:alert(1)', 'data:,a', 'https://', 'https:///ad.mp3', 'https://a b/', ' https://media.example/'],
  ...['https://media.example/?e=[ERRORCODE]', 'https://media.example/%%ERRORCODE%%', 'https://[ERRORCODE]/'],
  ...['https://media.example/]]>', 'https://media.example/<', 'https://media.example/ü', 'https://media.example/%zz'],
  ...['https://name:word@media.example/', `https://media.example/${'a'.repeat(2_000)}`, 'https://media.example/\n'],
])('%j is refused wherever an address stands', (url) => {
  for (const ad of withUrl(url)) expect(() => renderVast(answerOf(ad))).toThrow(RangeError);
});

test.each([
  'http://localhost:3000/v1/ad.mp3?a=b&c=%5B',
  'http://[::1]:3000/ad.mp3',
  "https://a.example/~(x)!*';:@,#part",
])('%j is written wherever an address stands', (url) => {
  for (const ad of withUrl(url)) expect(renderVast(answerOf(ad))).toContain(`<![CDATA[${url}]]>`);
});

test.each<[string, Partial<AnsweredAd>]>([
  ['no media file', { mediaFiles: [] }],
  ['four media files', { mediaFiles: Array.from({ length: 4 }, () => audioAd.mediaFiles[0]!) }],
  ['25 tracking addresses', { trackingUrls: Array.from({ length: 25 }, () => audioAd.trackingUrls[0]!) }],
  ['an unknown event', { trackingUrls: [{ event: 'nap' as 'start', url: audioAd.errorUrl }] }],
  ['an empty title', { title: ' ' }],
  ['a title of characters that XML forbids', { title: '\u0000\u0001' }],
  ['a long title', { title: 'a'.repeat(256) }],
  ['an empty creative id', { creativeId: '' }],
  ['no duration', { durationMs: 0 }],
  ['a part of a millisecond', { durationMs: 1.5 }],
  ['a day', { durationMs: 86_400_000 }],
  ['no bit rate', { mediaFiles: [{ kind: 'mp3', url: audioAd.errorUrl, kbps: Number.NaN }] }],
])('an ad with %s is refused', (_, change) => {
  expect(() => renderVast(answerOf({ ...audioAd, ...change }))).toThrow(RangeError);
});

test('nine ads, an expiry of more than a day and more than 64 KiB are refused', () => {
  expect(() => renderVast(answerOf(...Array.from({ length: 9 }, () => audioAd)))).toThrow(RangeError);
  expect(() => renderVast({ ...answerOf(audioAd), expiresSeconds: 86_401 })).toThrow(RangeError);
  const url = `https://media.example/${'a'.repeat(1_900)}`;
  const large = { ...audioAd, trackingUrls: Array.from({ length: 24 }, () => ({ event: 'start' as const, url })) };
  expect(() => renderVast(answerOf(large, large))).toThrow('larger than 65536 bytes');
});
