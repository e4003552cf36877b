import { expect, test } from '@jest/globals';
import type { AdContext } from '../projection/break-table.ts';
import type { PlayableEpisode } from '../projection/content-table.ts';
import { decideRequest } from './decide-request.ts';

const episode: PlayableEpisode = {
  ...{ workspaceId: 'ws_1', podcastId: 'pod_1', episodeId: 'ep_1', publishedAt: new Date(1_000), fileName: 'x' },
  ...{ title: 'One', podcastTitle: 'Tides', author: 'Ana' },
  playsEndBefore: undefined,
  withoutAds: false,
  rights: undefined,
  rendition: { digest: 'c'.repeat(64), sizeBytes: 3_840, durationMs: 240 },
};
const context: AdContext = {
  ...{ plan: undefined, markers: [], silences: [], loudness: undefined, language: undefined },
  ...{ explicit: false, categories: [], bounds: [], hlsAudio: false, hlsVideo: false },
};
const key = 'ab'.repeat(32);
const ask = (
  listener: { previousKey?: string; country: string; region: string },
  client: Parameters<typeof decideRequest>[4],
  more: Partial<AdContext> = {},
) =>
  decideRequest(
    'dec_1',
    episode,
    { ...context, ...more },
    { key, previousKey: undefined, ...listener },
    client,
    new Date(2_000),
  );

const nobody = { app: 'unknown', platform: 'unknown', operatingSystem: 'unknown' };

test('unknown fields are empty or zero', () => {
  expect(ask({ country: 'unknown', region: 'unknown' }, nobody)).toEqual({
    ...{ decisionId: 'dec_1', workspaceId: 'ws_1', podcastId: 'pod_1', episodeId: 'ep_1' },
    ...{
      country: '',
      region: '',
      device: '',
      operatingSystem: '',
      app: '',
      language: '',
      explicit: false,
      contentCategories: [],
    },
    ...{ surface: 'progressive', streamFormat: 'mp3/128000/48000/2', streamFormats: [] },
    ...{ atMs: 2_000n, publishedAtMs: 1_000n, loudnessCentilufs: 0, adLoadLimitMs: 0n },
    listenerBucket: Buffer.from('ab'.repeat(16), 'hex'),
    previousListenerBucket: Buffer.alloc(0),
    breaks: [{ key: 'pre', position: 'pre', maxSlots: 1, maxDurationMs: 90_000n, positionMs: 0n, slotRules: [] }],
  });
});

test('a region names its country, a language is its primary subtag, and a new month knows the bucket of the old one', () => {
  const listener = { country: 'US', region: 'CA', previousKey: 'cd'.repeat(32) };
  expect(
    ask(
      listener,
      { ...nobody, platform: 'smart_speaker', operatingSystem: 'Fire OS' },
      { language: 'pt-BR', loudness: -19.005 },
    ),
  ).toMatchObject({
    region: 'US-CA',
    language: 'pt',
    device: 'smart_speaker',
    operatingSystem: 'Fire OS',
    loudnessCentilufs: -1900,
    previousListenerBucket: Buffer.from('cd'.repeat(16), 'hex'),
  });
  expect(ask({ country: 'unknown', region: 'CA' }, nobody).region).toBe('');
});

test.each([
  ['the tighter bound in milliseconds', undefined, [{ max_added_ms: 90 }, { max_added_ms: 60 }], 60n],
  ['whole frames of a bound in bytes', undefined, [{ max_added_bytes: 3 * 384 + 383 }], 72n],
  ['the part of the content', undefined, [{ max_added_pct: 25 }], 60n],
  ['the limit of the break plan, where it is tighter', 50, [{ max_added_pct: 100, max_added_ms: 90 }], 50n],
  ['no ad rather than any, where not even a frame is left', undefined, [{ max_added_bytes: 1 }], 1n],
])('ads are limited to %s', (_, limitMs, bounds, expected) => {
  const plan =
    limitMs === undefined
      ? undefined
      : { inventory_unit_ids: [], breaks: [], min_gap_ms: 0, ad_load_limit_ms: limitMs };
  expect(ask({ country: '', region: '' }, nobody, { plan, bounds }).adLoadLimitMs).toBe(expected);
});

test('an ad must have the tracks of HLS that the show plays: sound, and pictures with sound', () => {
  const formatsOf = (context: Parameters<typeof ask>[2]) =>
    ask({ country: '', region: '' }, nobody, context).streamFormats;
  const sound = ['mp3/128000/48000/2', 'hls-aac-192'];
  expect(formatsOf({})).toEqual([]);
  expect(formatsOf({ hlsAudio: true })).toEqual(sound);
  expect(formatsOf({ hlsVideo: true })).toEqual([...sound, 'hls-avc']);
  expect(formatsOf({ hlsAudio: true, hlsVideo: true })).toEqual([...sound, 'hls-avc']);
});
