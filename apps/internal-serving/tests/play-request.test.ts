import { expect, test } from '@jest/globals';
import { jcsDigest } from '@longwave/idempotency';
import { newId } from '@longwave/ids';
import type { DecideRequest } from '@longwave/rpc/serving';
import fc from 'fast-check';
import { parsePlayRequest } from '../src/decisions/play-request.ts';

/** Texts of a request: never with a lone surrogate, which no gRPC message can carry. */
const label = fc.string({ unit: 'binary', maxLength: 20 }).filter((text) => !text.includes('\0'));
const word = label.filter((text) => text !== '');
const id = (prefix: string) => fc.constant(0).map(() => newId(prefix as 'dec'));
const ms = (min: number, max: number) => fc.integer({ min, max }).map(BigInt);
const bucket = fc
  .constantFrom(0, 16)
  .chain((length) => fc.uint8Array({ minLength: length, maxLength: length }).map((bytes) => Buffer.from(bytes)));
const slotRule = fc.record({
  slot: fc.nat({ max: 15 }),
  maxDurationMs: ms(0, 60_000),
  lineItemTypes: fc.subarray(['exclusive', 'house']),
  productions: fc.subarray(['host_read', 'produced']),
});
const adBreak = fc.record({
  key: word,
  position: fc.constantFrom('pre', 'mid', 'post'),
  maxSlots: fc.integer({ min: 1, max: 16 }),
  maxDurationMs: ms(1, 3_600_000),
  positionMs: ms(0, 2 ** 40),
  slotRules: fc.array(slotRule, { maxLength: 3 }),
});
const fields = fc.record({
  ...{ decisionId: id('dec'), workspaceId: id('ws'), podcastId: id('pod'), episodeId: id('ep') },
  ...{ listenerBucket: bucket, previousListenerBucket: bucket },
  breaks: fc.uniqueArray(adBreak, { maxLength: 4, selector: ({ key }) => key }),
  ...{ streamFormat: word, surface: word, device: label, operatingSystem: label, app: label, language: label },
  country: fc.constantFrom('', 'DE'),
  region: fc.constantFrom('', 'DE-BE'),
  explicit: fc.boolean(),
  contentCategories: fc.array(label, { maxLength: 3 }),
  ...{ atMs: ms(1, 2 ** 41), publishedAtMs: ms(0, 2 ** 41), adLoadLimitMs: ms(0, 600_000) },
  loudnessCentilufs: fc.integer({ min: -10_000, max: 0 }),
  more: fc.constantFrom(undefined, [], ['hls-aac-192']),
});
const request: fc.Arbitrary<DecideRequest> = fields.map(({ more, ...asked }) => ({
  ...asked,
  streamFormats: more ? [asked.streamFormat, ...more] : [],
}));

/** Every field of a request as JSON has it. */
const plain = (value: unknown): unknown => {
  if (typeof value === 'bigint') return Number(value);
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex');
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, plain(one)]));
};

test('the digest of any request is the one of its canonical form, with every field; an unknown operating system and no stream formats are left out', () => {
  fc.assert(
    fc.property(request, (asked) => {
      const { operatingSystem, streamFormats, ...rest } = plain(asked) as Record<string, unknown>;
      const expected = {
        ...rest,
        ...(operatingSystem !== '' && { operatingSystem }),
        ...(asked.streamFormats.length > 0 && { streamFormats }),
      };
      expect(parsePlayRequest(asked).digest).toBe(jcsDigest(expected));
    }),
  );
});

test('stream formats without that of the file are refused', () => {
  const [asked] = fc.sample(request, 1);
  expect(() => parsePlayRequest({ ...asked!, streamFormats: ['hls-aac-192'] })).toThrow(
    expect.objectContaining({ code: 'validation_failed' }),
  );
});
