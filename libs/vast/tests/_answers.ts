import fc from 'fast-check';
import type { AnsweredAd, TrackingEvent, VastAnswer } from '../src/index.ts';

const media = 'https://media.example.com/delivery/v1';
const event = (kind: string) => `${media}/ev/t1.AbC-_9?e=${kind}`;

export const audioAd: AnsweredAd = {
  servingId: 'srv_01JY7Q2K9M4T8V6W3X5Z0A1B2C',
  title: 'Northwind Tea 2',
  creativeId: 'crt_9f2b',
  adType: 'audio',
  durationMs: 10_816,
  mediaFiles: [
    { kind: 'mp3', url: `${media}/ad/t1.AbC-_9/ad.mp3`, kbps: 128 },
    { kind: 'hls', url: `${media}/ad/t1.AbC-_9/main.m3u8`, minKbps: 171, maxKbps: 183 },
  ],
  impressionUrl: event('impression'),
  errorUrl: event('error'),
  trackingUrls: [
    { event: 'start', url: event('start') },
    { event: 'complete', url: event('complete') },
  ],
  clickThroughUrl: `${media}/k/t1.AbC-_9`,
};

export const videoAd: AnsweredAd = {
  servingId: 'srv_01JY7Q2K9M4T8V6W3X5Z0A1B2D',
  title: 'Bread & <Butter> ]]> "now"',
  creativeId: 'crt_77aa',
  adType: 'video',
  durationMs: 3_600_005,
  mediaFiles: [
    {
      ...{ kind: 'hls', url: `${media}/ad/t1.zZz/main.m3u8`, minKbps: 640, maxKbps: 5_459 },
      picture: { width: 1920, height: 1080 },
    },
  ],
  impressionUrl: event('impression'),
  errorUrl: event('error'),
  trackingUrls: [],
};

export const answerOf = (...ads: readonly AnsweredAd[]): VastAnswer => ({
  system: { name: 'Longwave', version: '1.3.1' },
  expiresSeconds: 86_400,
  ads,
});

const url = fc.webUrl({ validSchemes: ['https'], withQueryParameters: true });
const text = fc.string({ unit: 'binary', minLength: 1, maxLength: 60 }).filter((some) => /[a-z]/i.test(some));
const kbps = fc.integer({ min: 1, max: 100_000 });
const events: readonly TrackingEvent[] = ['start', 'firstQuartile', 'midpoint', 'thirdQuartile', 'complete'];

const ad: fc.Arbitrary<AnsweredAd> = fc.record(
  {
    servingId: text,
    title: text,
    creativeId: text,
    adType: fc.constantFrom('audio', 'video'),
    durationMs: fc.integer({ min: 1, max: 86_399_999 }),
    mediaFiles: fc.array(
      fc.oneof(
        fc.record({ kind: fc.constant('mp3' as const), url, kbps }),
        fc.record({ kind: fc.constant('hls' as const), url, minKbps: kbps, maxKbps: kbps }),
      ),
      { minLength: 1, maxLength: 3 },
    ),
    impressionUrl: url,
    errorUrl: url,
    trackingUrls: fc.array(fc.record({ event: fc.constantFrom(...events), url }), { maxLength: 24 }),
    clickThroughUrl: url,
  },
  {
    requiredKeys: [
      ...(['servingId', 'title', 'creativeId', 'adType', 'durationMs'] as const),
      ...(['mediaFiles', 'impressionUrl', 'errorUrl', 'trackingUrls'] as const),
    ],
  },
);

/** Any answer that is within the bounds, with https addresses. */
export const anyAnswer: fc.Arbitrary<VastAnswer> = fc.record({
  system: fc.record({ name: text, version: text }),
  expiresSeconds: fc.integer({ min: 1, max: 86_400 }),
  ads: fc.array(ad, { maxLength: 4 }),
});
