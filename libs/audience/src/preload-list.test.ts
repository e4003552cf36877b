import { expect, test } from '@jest/globals';
import { createPreloadList, parsePreloadEntries } from './preload-list.ts';

const isPreload = createPreloadList(
  parsePreloadEntries('# pages\nPlayer.example.org\nnews.example/embed/,Chrome\n-,Safari # sends none\n'),
);

test.each([
  ['https://player.example.org/', 'Chrome', true],
  ['https://a.player.example.org/x?y', undefined, true],
  ['https://notplayer.example.org/', 'Chrome', false],
  ['https://example.org/', 'Chrome', false],
  ['https://news.example/embed/7', 'Chrome', true],
  ['https://news.example/embed/7', 'Firefox', false],
  ['https://news.example/story', 'Chrome', false],
  [undefined, 'Safari', true],
  [undefined, 'Chrome', false],
  [undefined, undefined, false],
  ['https://other.example/', 'Safari', false],
  ['player.example.org', 'Chrome', false],
])('a request with referrer %p of %p is a preload: %p', (referrer, browser, expected) => {
  expect(isPreload(referrer, browser)).toBe(expected);
});

test('an empty list finds no preload', () => {
  expect(createPreloadList(parsePreloadEntries('# none\n'))(undefined, 'Safari')).toBe(false);
});

test.each(['-', '-,', 'https://a.example/', 'a b,Chrome', ',Chrome'])('the line %p is refused', (line) => {
  expect(() => parsePreloadEntries(line)).toThrow(RangeError);
});
