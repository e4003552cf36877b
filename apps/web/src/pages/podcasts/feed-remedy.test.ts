import { expect, test } from '@jest/globals';
import { remedyOf } from './feed-remedy.ts';

test.each([
  ['category_unknown', '“Quays” is not a category of Apple Podcasts.', 'settings'],
  ['artwork_square', 'The artwork is square, not 1400 × 1200 pixels.', 'settings'],
  ['artwork_range', 'The artwork answers a byte range with 200; directories need 206.', 'host'],
  ['description_too_long', 'The description of the channel has more than 4000 bytes.', 'settings'],
  ['description_too_long', 'The description of “Fog” has more than 4000 bytes.', 'episodes'],
  ['item_title_missing', 'Item 3 has no <title>.', 'episodes'],
  ['enclosure_head', 'https://media.example/1.mp3 answers HEAD with 500; directories need 200.', 'host'],
  ['address_not_https', '1 address in the feed begins with http instead of https.', 'host'],
  ['a_code_of_later', 'Something new.', 'host'],
] as const)('%s (%s) is mended at: %s', (code, text, place) => {
  expect(remedyOf({ code, text })).toBe(place);
});
