import { expect, test } from '@jest/globals';
import { checkHlsInFeed, createPodcast, missingForFeed, podcastGuid, subdomainOf } from './podcast.ts';

test('the podcast guid matches the published vectors of the Podcasting 2.0 namespace', () => {
  expect(podcastGuid('https://podnews.net/rss')).toBe('9b024349-ccf0-5f69-a609-6b82873eab3c');
  expect(podcastGuid('http://mp3s.nashownotes.com/pc20rss.xml/')).toBe('917393e3-1b1e-5cef-ace4-edaa54e1f810');
});

test('any title gives a DNS label', () => {
  expect(subdomainOf('Crème Brûlée & Friends!')).toBe('cre-me-bru-le-e-friends');
  expect(subdomainOf('日本語')).toBe('show');
  expect(subdomainOf('x'.repeat(200))).toHaveLength(48);
});

test('every attribute that directories require and a draft lacks is named', () => {
  const podcast = createPodcast({ title: 'A', language: 'en' }, 'pod_01234567890123456789012345', 'http://m');
  expect(missingForFeed(podcast).map(({ words }) => words)).toEqual([
    'a description',
    'an author',
    'artwork',
    'a category',
  ]);
  expect(
    missingForFeed({ ...podcast, description: 'd', author: 'x', artwork_url: 'http://m/a.jpg', categories: ['Arts'] }),
  ).toEqual([]);
});

test('a feed begins to name HLS only where episodes have it, and a podcast that has both may switch HLS off', () => {
  const none = createPodcast({ title: 'A', language: 'en' }, 'pod_01234567890123456789012345', 'http://m');
  const named = { ...none, hls_in_feed: true };
  const both = { ...named, hls_audio: true };
  for (const before of [undefined, none])
    expect(() => checkHlsInFeed(named, before)).toThrow('Switch hls_audio or hls_video on too.');
  expect(() => checkHlsInFeed(both)).not.toThrow();
  expect(() => checkHlsInFeed(both, none)).not.toThrow();
  expect(() => checkHlsInFeed({ ...named, hls_video: true }, none)).not.toThrow();
  expect(() => checkHlsInFeed({ ...both, hls_audio: false }, both)).not.toThrow();
  expect(() => checkHlsInFeed({ ...named, title: 'B' }, named)).not.toThrow();
});
