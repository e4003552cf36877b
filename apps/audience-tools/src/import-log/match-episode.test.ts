import { describe, expect, test } from '@jest/globals';
import { matchByEnclosure, matchByPattern, parseEpisodes } from './match-episode.ts';

const episodes = `url,podcast_id,episode_id
https://cdn.example/audio/1.mp3,pod_1,ep_1
"https://cdn.example/get?id=2,x",pod_1,ep_2
http://other.example/audio/1.mp3,pod_2,ep_3
https://cdn.example/audio/4.mp3,pod_1,ep_4
`;
const match = matchByEnclosure(parseEpisodes(episodes, undefined));

describe('a logged URL is of the episode whose enclosure it ends with', () => {
  test.each([
    ['https://cdn.example/audio/1.mp3', 'ep_1'],
    ['http://CDN.example/audio/1.mp3?utm=feed#t=10', 'ep_1'],
    ['https://prefix.example/e/cdn.example/audio/1.mp3', 'ep_1'],
    ['/redirect.mp3/https://cdn.example/audio/1.mp3', 'ep_1'],
    ['https://a.example/x/b.example/y/cdn.example/audio/1.mp3', 'ep_1'],
    ['https://prefix.example/e/cdn.example/get?id=2,x', 'ep_2'],
    ['https://prefix.example/e/cdn.example/get?id=3', undefined],
    ['https://prefix.example/e/other.example/audio/1.mp3', 'ep_3'],
    ['https://evilcdn.example/audio/4.mp3', undefined],
    ['/audio/4.mp3?a=b', 'ep_4'],
    ['/audio/1.mp3', undefined],
    ['https://third.example/audio/4.mp3', undefined],
    ['', undefined],
  ])('%s', (url, episode) => expect(match(url)?.episodeId).toBe(episode));
});

describe('a logged URL is matched by a pattern', () => {
  const byPattern = matchByPattern('/audio/{podcast}/*/{episode}.mp3', undefined);
  test.each([
    ['https://cdn.example/audio/harbour/2025/ep-1.mp3?x=1', { podcastId: 'harbour', episodeId: 'ep-1' }],
    ['/p/cdn.example/audio/harbour/2025/ep.1.mp3', { podcastId: 'harbour', episodeId: 'ep.1' }],
    ['/audio/harbour/2025/10/ep-1.mp3', undefined],
    ['/audio/harbour/2025/ep-1.mp4', undefined],
    ['/xaudio/harbour/2025/ep-1.mp3', undefined],
  ])('%s', (url, episode) => expect(byPattern(url)).toEqual(episode));

  test('that must name an episode and a podcast', () => {
    expect(() => matchByPattern('/audio/{podcast}.mp3', undefined)).toThrow(/must contain \{episode\}/);
    expect(() => matchByPattern('/audio/{episode}.mp3', undefined)).toThrow(/--podcast/);
    expect(matchByPattern('{episode}.mp3', 'pod_1')('/a/ep_1.mp3')).toEqual({ podcastId: 'pod_1', episodeId: 'ep_1' });
  });
});

test('a malformed table of episodes is refused with the number of its line', () => {
  expect(() => parseEpisodes('url,episode_id\nhttps://a.example/1.mp3,ep_1\n', undefined)).toThrow(
    /Line 2.*podcast_id/,
  );
  expect(() => parseEpisodes('url,episode_id,podcast_id\nhttps://a.example/1.mp3,"ep 1",p\n', undefined)).toThrow(
    /Line 2.*episode_id/,
  );
});
