import { describe, expect, test } from '@jest/globals';
import {
  dateRangesOf,
  mediaPlaylist,
  renderAssetList,
  renderMediaPlaylist,
  renderMultivariant,
} from '@longwave/hls-media';
import { parseAssetList, parseMedia, parseMultivariant } from './playlists.ts';

const base = 'http://media.test/delivery/v1/hp/t1.x/main.m3u8';
const rates = { peak: 182_855, average: 171_526 };
const audio = { name: 'English', language: 'en', uri: 'a192/media.m3u8', rates };
const picture = { uri: 'v360/media.m3u8', codec: 'avc1.64001f', width: 640, height: 360, rates, frameRate: 30 };

describe('playlists as they are written here', () => {
  test.each([
    ['sound alone', {}],
    ['pictures too', { pictures: [picture], iFrames: picture }],
  ])('of %s: the variant of the sound', (_, more) => {
    expect(parseMultivariant(renderMultivariant({ audio, ...more }), base)).toEqual({
      url: 'http://media.test/delivery/v1/hp/t1.x/a192/media.m3u8',
      codecs: 'mp4a.40.2',
    });
  });

  test('every segment has its bytes and times, and every break its place and list', () => {
    const timescale = 48_000;
    const cells = [
      [605, 100, 0, 144_000],
      [705, 200, 144_000, 144_000],
      [905, 300, 288_000, 96_000],
    ] satisfies [number, number, number, number][];
    const index = { timescale, init: 605, bytes: 1205, cells };
    const schedule = [
      { key: 'pre', position: 'pre', startMs: 0 },
      { key: 'm1', position: 'mid', startMs: 6_000 },
      { key: 'end', position: 'post', startMs: 5_500 },
    ] as Parameters<typeof dateRangesOf>[0];
    const ranges = dateRangesOf(schedule, ({ key }) => `http://media.test/delivery/v1/al/${key}`);
    const text = renderMediaPlaylist(mediaPlaylist('../s/d/m.mp4', index, schedule), ranges);
    const url = 'http://media.test/delivery/v1/hp/t1.x/s/d/m.mp4';
    expect(parseMedia(text, 'http://media.test/delivery/v1/hp/t1.x/a192/media.m3u8')).toEqual({
      init: { url, offset: 0, length: 605 },
      segments: [
        { url, offset: 605, length: 300, start: 0, end: 6 },
        { url, offset: 905, length: 300, start: 6, end: 8 },
      ],
      breaks: [
        { at: 0, listUrl: 'http://media.test/delivery/v1/al/pre?_HLS_interstitial_id=pre' },
        { at: 6, listUrl: 'http://media.test/delivery/v1/al/m1?_HLS_interstitial_id=m1' },
        { at: Infinity, listUrl: 'http://media.test/delivery/v1/al/end?_HLS_interstitial_id=end' },
      ],
    });
  });

  test('the ads of a list', () => {
    const list = renderAssetList([{ uri: 'http://media.test/a/main.m3u8', ticks: 240_000, timescale: 48_000 }]);
    expect(parseAssetList(list, base)).toEqual([{ url: 'http://media.test/a/main.m3u8', seconds: 5 }]);
    expect(parseAssetList(renderAssetList([]), base)).toEqual([]);
  });
});

test('what is no playlist is refused, and of a list only ads are taken, twenty at most', () => {
  for (const text of ['', '<html>', '#EXTM3U\n#EXTINF:4,\nx.mp4\n']) {
    expect(() => parseMultivariant(text, base)).toThrow('no sound');
    expect(() => parseMedia(text, base)).toThrow('no segments');
  }
  const odd = [null, 1, {}, { URI: 1, DURATION: 1 }, { URI: 'a', DURATION: '1' }];
  for (const text of ['null', '[]', '{"ASSETS":1}', JSON.stringify({ ASSETS: odd })])
    expect(parseAssetList(text, base)).toEqual([]);
  const many = Array.from({ length: 30 }, () => ({ URI: 'a', DURATION: 1 }));
  expect(parseAssetList(JSON.stringify({ ASSETS: many }), base)).toHaveLength(20);
});
