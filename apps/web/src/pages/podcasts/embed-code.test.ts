import { expect, test } from '@jest/globals';
import { embedCode } from './embed-code.ts';
import { followLinks } from './follow-links.ts';

test('the code for a page holds the title as text, whatever it is', () => {
  expect(embedCode('https://media.test/site/tides/ep_1', '"><script>&')).toBe(
    '<iframe src="https://media.test/site/tides/ep_1/embed" title="&quot;&gt;&lt;script&gt;&amp;" width="640" height="120" loading="lazy" style="border:0"></iframe>',
  );
});

test('each app gets the address of the feed in its own way', () => {
  const addresses = followLinks({ feed_url: 'https://media.test/feeds/tides.xml', title: 'Ebb & flow' }).map(
    ([, address]) => address,
  );
  expect(addresses).toEqual([
    'podcast://media.test/feeds/tides.xml',
    'overcast://x-callback-url/add?url=https%3A%2F%2Fmedia.test%2Ffeeds%2Ftides.xml',
    'pktc://subscribe/media.test/feeds/tides.xml',
    'https://antennapod.org/deeplink/subscribe?url=https%3A%2F%2Fmedia.test%2Ffeeds%2Ftides.xml&title=Ebb%20%26%20flow',
    'https://media.test/feeds/tides.xml',
  ]);
});
