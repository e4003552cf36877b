import { randomBytes } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { dissect } from './check-delivery.ts';
import { sha256 } from './sha256.ts';

const header = Buffer.concat([Buffer.from('ID3'), randomBytes(40)]);
const ad = randomBytes(1_000);
const content = randomBytes(5_000);
const describe = (bytes: Buffer) => ({ sha256: sha256(bytes), size_bytes: bytes.length, duration_ms: 1_000 });
const streams = [{ ...describe(ad), loudness_lufs: -16 }] as unknown as Parameters<typeof dissect>[1];
const dissected = (...parts: Buffer[]) => dissect(Buffer.concat(parts), streams, describe(content));

test('header, ad and content are found in the bytes of a file', () => {
  expect(dissected(header, ad, content).parts.map(({ kind, bytes }) => [kind, bytes])).toEqual([
    ['header', header.length],
    ['ad', ad.length],
    ['content', content.length],
  ]);
});

test('a file without an ad, with another one or with other content is refused with its reason', () => {
  expect(() => dissected(header, content)).toThrow('the file has no ad: the ad decision came too late');
  expect(() => dissected(header, randomBytes(1_000), content)).toThrow('the ad is not stitched byte for byte');
  expect(() => dissected(header, ad, randomBytes(5_000))).toThrow('the content is not stitched byte for byte');
  expect(() => dissected(header, randomBytes(100))).toThrow('no ID3 header before the audio');
});
